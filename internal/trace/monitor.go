package trace

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// findProcess implements Of of [pairing.Options]. It begins to record the kernel events of the process.
func (l *Live) findProcess(tid, printed int) (pid int, selected bool) {
	opt, k := &l.opt, l.kernel
	pid = l.orSole(l.session.Process(tid, printed))
	among := l.isAmong(pid)
	if among {
		k.follow(pid)
	}
	if k.learns {
		pid = k.processOf(tid, pid)
		return pid, k.selects(pid) && l.isAmong(pid)
	}
	selected = (len(opt.PIDs) == 0 || slices.Contains(opt.PIDs, pid)) && among
	if selected && k.session != nil {
		k.selected[pid] = true
	}
	return pid, selected
}

// orSole returns pid. The process of a thread that has ended is unknown, which is 0, if the kernel has not saved it (before
// Linux 4.14). Then orSole returns the PID of -p, if there is one without --fork, or while a program runs that ftgo has started,
// the only process that has been seen. With 0, ftgo would not find the begin of a call or of a pair on another thread.
func (l *Live) orSole(pid int) int {
	switch {
	case pid == 0 && len(l.opt.PIDs) == 1 && !l.opt.Fork:
		return l.opt.PIDs[0]
	case pid == 0 && l.program != nil:
		return max(l.sole, 0)
	case pid != 0 && l.sole == 0:
		l.sole = pid
	case pid != 0 && l.sole != pid:
		l.sole = -1 // several
	}
	return pid
}

// isAmong calls Filter.Among once for each process, and caches the result.
func (l *Live) isAmong(pid int) bool {
	if l.opt.Among == nil {
		return true
	}
	is, known := l.among[pid]
	if !known {
		is = pid != 0 && l.opt.Among(pid)
		l.among[pid] = is
	}
	return is
}

// life is the lifetime of a process: its start time, and when a check found that it had ended or that another process
// had its number.
type life struct {
	started uint64
	ended   time.Time
}

const (
	checkInterval = 200 * time.Millisecond
	maxChecked    = 500         // number of processes checked at once for whether they live
	maxForeign    = 1000        // number of remembered processes if it can't be found out whether they live
	drainTime     = time.Second // time after which the stream has sorted all recorded events
)

// updateUsed reads the CPU time that the processes have used.
func (l *Live) updateUsed() {
	if l.program != nil {
		if cpu, ended := l.program.Used(); ended {
			l.used = cpu // all of its time, since it started after its probes were in place
			return
		}
	}
	l.used, _ = l.cpu.Used(true)
}

// checkProcesses checks which processes run, and returns the last items of the processes that have ended. The error is
// errOver if all traced processes have ended.
func (l *Live) checkProcesses() (iter.Seq[*pairing.Item], error) {
	l.checkedAt = time.Now()
	if base, err := l.session.Timebase(); err == nil { // otherwise the last comparison is good enough
		l.clock.update(base)
	}
	// The stream does not report the end of processes that are not selected. Their numbers may be used again.
	maps.DeleteFunc(l.among, func(_ int, is bool) bool { return !is })
	l.waited = cmp.Or(l.cpu.Waited(), l.waited)
	l.reportReplaced()
	if !l.once.paused {
		l.reportVanished(sitesPerCheck)
	}
	ended := l.forgetEnded()
	if len(l.opt.PIDs) == 0 || slices.ContainsFunc(l.opt.PIDs, procfs.Alive) || l.kernel.anyAlive() {
		return ended, nil
	}
	l.opt.Say("the processes have ended")
	return ended, errOver
}

// forgetEnded drops the state of processes that have ended, once all their events were read. It returns their last
// items.
func (l *Live) forgetEnded() iter.Seq[*pairing.Item] {
	gone, now, left := make(map[int]bool), time.Now(), maxChecked
	if procfs.ForeignNumbers() { // /proc lists other numbers than the events have, so that no process can be checked
		left = 0
		for _, pid := range l.stream.Stalest(maxForeign) {
			gone[pid] = true
		}
		if len(gone) > 0 && !l.saidForeign {
			l.saidForeign = true
			l.opt.Say("more than %d processes of another PID namespace: those with the oldest calls are forgotten, and their open calls stay open", maxForeign)
		}
	}
	for _, pid := range l.stream.Processes() {
		of := l.lives[pid]
		if pid == 0 || !of.ended.IsZero() {
			continue
		}
		if left--; left < 0 {
			break
		}
		stat, alive := procfs.LiveStat(pid)
		if !alive || of.started != 0 && of.started != stat.Started {
			of.ended = now
		}
		of.started = stat.Started
		l.lives[pid] = of
	}
	read := l.clock.latest.Wall(l.stream.Latest())
	for pid, of := range l.lives {
		if !of.ended.IsZero() && (l.idleAt.Sub(of.ended) > drainTime || read.Sub(of.ended) > drainTime) {
			gone[pid] = true
		}
	}
	if len(gone) == 0 {
		return nil
	}
	l.session.Forget(gone)
	for pid := range gone {
		delete(l.among, pid)
		l.kernel.forget(pid)
		delete(l.lives, pid)
	}
	return l.stream.Forget(gone)
}

// reportReplaced prints a message, once each, when a process of -p executes another program, and, without -p and
// Options.Successors, when another file has the binary's path.
func (l *Live) reportReplaced() {
	pids, path := l.opt.PIDs, l.plan.Binary.File().Path()
	if l.saidReplaced == nil {
		l.saidReplaced = make(map[int]bool)
		for _, pid := range pids {
			l.saidReplaced[pid] = l.isOtherFile(procfs.Exe(pid)) // true if the binary is a library of the process
		}
	}
	if len(pids) == 0 && !l.opt.Successors && !l.saidReplaced[0] && l.isOtherFile(path) {
		l.saidReplaced[0] = true
		l.opt.Say("%s was replaced on disk: processes started from now on run another file, which is not probed", path)
	}
	for _, pid := range pids {
		if !l.saidReplaced[pid] && l.isOtherFile(procfs.Exe(pid)) {
			l.saidReplaced[pid] = true
			name, _ := os.Readlink(procfs.Exe(pid))
			l.opt.Say("process %d runs another program now, %s, which is not probed", pid, printable.Text(name))
		}
	}
}

// reportOthers warns once if other processes run the file although Filter.OnlyUser is set: the kernel counts their calls,
// too.
func (l *Live) reportOthers() {
	if !l.opt.OnlyUser || l.saidOthers {
		return
	}
	for _, pid := range procfs.Running(l.plan.Binary.File().Path()) {
		if !slices.Contains(l.opt.PIDs, pid) {
			l.saidOthers = true
			l.opt.Warn(fmt.Sprintf("process %d runs the same file: its calls are counted, too", pid))
			return
		}
	}
}

// isOtherFile reports whether a file other than the probed one is at a path.
func (l *Live) isOtherFile(path string) bool {
	_, err := os.Stat(path)
	return err == nil && !procfs.SameFile(path, l.plan.Binary.File().Link())
}

// probeCheck checks whether the processes still have the probes in their memory, a few probes at a time. A process may
// overwrite a probe; the kernel does not report that, and counts no more calls.
type probeCheck struct {
	sites  []uint64     // of the probes that stay in place for the whole run
	next   int          // index of the next site to check
	warned map[int]bool // processes that a warning was printed for
}

const (
	sitesPerCheck     = 16  // number of sites per check: each takes 1 or 2 µs
	sitesAtEnd        = 512 // number of sites in the check at the end
	processesPerCheck = 16  // number of processes per check
)

func newProbeCheck(plan *uprobe.Plan) probeCheck {
	v := probeCheck{warned: make(map[int]bool)}
	for _, event := range plan.Events {
		for _, site := range event.Sites {
			v.sites = append(v.sites, site.Offset)
		}
	}
	return v
}

// exclude removes the sites of disarmed events from the check.
func (v *probeCheck) exclude(events []tracefs.Event) {
	gone := make(map[uint64]bool)
	for i := range events {
		for _, offset := range events[i].Sites {
			gone[offset] = true
		}
	}
	v.sites = slices.DeleteFunc(v.sites, func(offset uint64) bool { return gone[offset] })
	v.next = 0
}

// reportVanished warns once of each process that has lost probes. It checks the given number of sites in each process.
func (l *Live) reportVanished(sites int) {
	v, pids := &l.vanished, l.opt.PIDs
	if len(v.sites) == 0 || procfs.ForeignNumbers() {
		return
	}
	if len(pids) == 0 {
		pids = l.stream.Processes()
	}
	if l.program != nil {
		pids = append([]int{l.program.Process.Pid}, pids...)
	}
	some := make([]uint64, min(sites, len(v.sites)))
	for i := range some {
		some[i] = v.sites[(v.next+i)%len(v.sites)]
	}
	v.next += len(some)
	for _, pid := range pids[:min(len(pids), processesPerCheck)] {
		missing := func() bool {
			_, missing := procfs.Breakpoints(pid, l.plan.Binary.File().Inode(), some, l.plan.Processor.Machine().Breakpoints)
			return missing > 0
		}
		// Check twice: the process may change its mappings after they are read, and before its code is read.
		if !v.warned[pid] && missing() && missing() {
			v.warned[pid] = true
			l.opt.Warn(fmt.Sprintf("probes have vanished from process %d, which has changed its code or dropped it: its calls are not all counted", pid))
		}
	}
}
