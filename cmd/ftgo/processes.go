package main

import (
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/doctor"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// checkProcesses refuses processes that are not there, or whose numbers are not the kernel's.
func checkProcesses(o *options) error {
	if flag := o.numbered(); flag != "" && procfs.ForeignNumbers() {
		found := doctor.ProcessNumbers()
		return cli.WithStatus(cli.ExitKernel, fmt.Errorf("%s: pid namespace: %s (%s)", flag, found.Text, found.Fix))
	}
	return o.query().CheckProcesses()
}

// numbered is a flag that takes processes, or threads, to have the kernel's numbers, if there
// is one.
func (o *options) numbered() string {
	switch {
	case len(o.pids) > 0:
		return fmt.Sprint("-p ", o.pids[0])
	case o.dryRun:
		return ""
	case o.fork:
		return "--fork"
	case o.comm != "":
		return "--comm"
	case len(o.with) > 0:
		return "--with"
	case o.sched:
		return "--sched"
	case o.inKernel:
		return "--in-kernel"
	}
	return ""
}

// processes are what the stream asks about processes.
type processes struct {
	opt    *options
	find   func(tid, printed int) int
	bias   *uprobe.Biases
	kernel *kernelEvents
	say    func(string, ...any)
}

// Of finds the process of a thread, whose kernel events are recorded from now on.
func (p *processes) Of(tid, printed int) int {
	pid := p.find(tid, printed)
	p.kernel.follow(pid, p.opt, p.say)
	return pid
}

// Wanted tells the processes asked for from others.
func (p *processes) Wanted(pid int) bool {
	k := p.kernel
	if k != nil && k.following != nil {
		return k.following.wanted[pid]
	}
	wanted := len(p.opt.pids) == 0 || slices.Contains(p.opt.pids, pid)
	if wanted && k != nil {
		k.wanted[pid] = true
	}
	return wanted
}

func (p *processes) Bias(pid int, addr uint64) (uint64, bool) { return p.bias.Of(pid, addr) }

// processOf returns how to find the process of a thread. One that is gone and that the
// kernel did not name belongs to the only process there can be, if that is so.
func processOf(s *tracefs.Session, o *options) func(tid, printed int) int {
	if len(o.pids) != 1 || o.fork {
		return s.Process
	}
	pids := o.pids
	return func(tid, printed int) int {
		if pid := s.Process(tid, printed); pid != 0 {
			return pid
		}
		return pids[0]
	}
}

// checkTargets looks after the processes, and ends the run when all processes of -p are gone.
func (t *tracing) checkTargets() error {
	t.noticeReplaced()
	t.noticeVanished(glance)
	t.forgetEnded()
	if len(t.opt.pids) == 0 {
		return nil
	}
	for _, pid := range t.opt.pids {
		if procfs.Alive(pid) {
			return nil
		}
	}
	if t.kernel.anyAlive() {
		return nil
	}
	if len(t.opt.pids) == 1 {
		t.env.Say("process %d has ended", t.opt.pids[0])
	} else {
		t.env.Say("the processes have ended")
	}
	return errEnough
}
