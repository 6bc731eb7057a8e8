package trace

import (
	"os"
	"slices"

	"github.com/ftgo/ftgo/internal/biases"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/tracefs"
)

// processes are what the stream asks about processes.
type processes struct {
	opt     *Options
	session *tracefs.Session
	bias    *biases.Biases
	kernel  *kernelEvents
}

// Of finds the process of a thread, whose kernel events are recorded from now on. One that is
// gone and that the kernel did not name belongs to the only process there can be, if that is so.
func (p *processes) Of(tid, printed int) int {
	pid := p.session.Process(tid, printed)
	if pid == 0 && len(p.opt.PIDs) == 1 && !p.opt.Fork {
		pid = p.opt.PIDs[0]
	}
	p.kernel.follow(pid, p.opt)
	return pid
}

// Wanted tells the processes asked for from others.
func (p *processes) Wanted(tid, pid int) (process int, wanted bool) {
	k := p.kernel
	if k != nil && k.filter != nil {
		pid = k.filter.of(tid, pid)
		return pid, k.filter.wants(pid)
	}
	wanted = len(p.opt.PIDs) == 0 || slices.Contains(p.opt.PIDs, pid)
	if wanted && k != nil {
		k.wanted[pid] = true
	}
	return pid, wanted
}

// Bias is [biases.Biases.Of].
func (p *processes) Bias(pid int, addr uint64) (uint64, bool) { return p.bias.Of(pid, addr) }

// gone tells whether all processes of -p have ended, and those that are followed.
func gone(o *Options, k *kernelEvents) bool {
	if len(o.PIDs) == 0 || slices.ContainsFunc(o.PIDs, procfs.Alive) || k.anyAlive() {
		return false
	}
	if len(o.PIDs) == 1 {
		o.Say("process %d has ended", o.PIDs[0])
	} else {
		o.Say("the processes have ended")
	}
	return true
}

// executed tells whether a process runs the file.
func executed(path string) bool {
	file, err := os.Stat(path)
	return err == nil && len(procfs.Running(file)) > 0
}
