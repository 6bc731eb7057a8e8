package trace

import (
	"fmt"
	"os"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
)

// replaced notices that what is run is no longer what is probed.
type replaced struct {
	file os.FileInfo
	// told are the processes, and 0 for the file, that it was said of.
	told map[int]bool
}

// noticeReplaced says, once of each, that a process of -p has executed another program, and
// that BINARY is another file now.
func (l *Live) noticeReplaced() {
	r := &l.look.replaced
	if r.told == nil {
		r.told = make(map[int]bool)
		r.file, _ = os.Stat(fmt.Sprintf("/proc/self/fd/%d", l.binary.File().Fd()))
		for _, pid := range l.opt.PIDs {
			if exe, err := os.Stat(procfs.Exe(pid)); err == nil && !os.SameFile(exe, r.file) {
				r.told[pid] = true // what is probed is a library
			}
		}
	}
	if len(l.opt.PIDs) == 0 {
		if now, err := os.Stat(l.binary.File().Path()); err == nil && !r.told[0] && !os.SameFile(now, r.file) {
			r.told[0] = true
			l.opt.Say("%s was replaced on disk: processes started from now on run another file, which is not probed", l.binary.File().Path())
		}
	}
	for _, pid := range l.opt.PIDs {
		now, err := os.Stat(procfs.Exe(pid))
		if err != nil || os.SameFile(now, r.file) || r.told[pid] {
			continue
		}
		r.told[pid] = true
		name, _ := os.Readlink(procfs.Exe(pid))
		l.opt.Say("process %d runs another program now, %s, which is not probed", pid, printable.Text(name))
	}
}

// noticeVanished looks at so many sites of the processes that are known.
func (l *Live) noticeVanished(sites int) {
	if l.rests.paused {
		return
	}
	pids := l.opt.PIDs
	if len(pids) == 0 {
		pids = l.stream.Processes()
	}
	l.look.vanished.notice(l.opt, pids, l.look.program, sites)
}
