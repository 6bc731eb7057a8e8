package trace

import (
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// kernelEvents are the events of --with, and the processes that they are wanted of: those of
// -p, PROGRAM, and others from their first hit on.
type kernelEvents struct {
	processFilter // whose wanted are the processes that events are shown of
	opt           *Options
	session       *tracefs.Session // nil if no kernel events are needed
	all           []string         // that are recorded, as the session has them: first those of --with
	// told: events were lost on which the filter relies; toldSched: some of [pairing.SchedEvents]
	// were; toldMissing: those of a process are not recorded.
	told, toldSched, toldMissing bool
	followed                     map[int]bool // processes that events are recorded of
	delivered                    uint64       // those wanted
}

// start begins to record. It is done before the probes are armed: what is made last is
// hit first.
func (k *kernelEvents) start(fs *tracefs.FS) (err error) {
	hidden := k.names
	if k.opt.Sched {
		hidden = slices.Concat(hidden, pairing.SchedEvents)
	}
	names := slices.Clone(k.opt.With)
	for _, name := range hidden {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	k.session, err = tracefs.StartKernel(fs, names, k.opt.BufferKB, !k.learns())
	switch {
	case err != nil && k.learns():
		return fmt.Errorf("follow processes: %w", err)
	case err != nil:
		return err
	case k.learns():
		if err := k.begin(k.opt.PIDs, func(tid int) int { return k.session.Process(tid, 0) }); err != nil {
			return err
		}
		now, err := k.session.Mark(false)
		if err != nil {
			return fmt.Errorf("follow processes: %w", err)
		}
		k.looked = now.Ticks
	}
	k.all = k.session.Names()
	for _, pid := range k.opt.PIDs {
		if err := k.session.Follow(pid); err != nil {
			return err
		}
		k.followed[pid] = true
		if !k.learns() {
			k.wanted[pid] = true
		}
	}
	return nil
}

// followRunning records the events of processes that run a file already, since what their threads do is to be known from the
// first call on.
func (k *kernelEvents) followRunning(link string) {
	if !k.opt.Sched || len(k.opt.PIDs) > 0 {
		return
	}
	for _, pid := range procfs.Running(link) {
		if k.opt.Among == nil || k.opt.Among(pid) {
			k.follow(pid)
		}
	}
}

// take takes the next kernel event, and tells whether it is to be shown. What is outside of the
// window only tells which processes are wanted.
func (k *kernelEvents) take(ev *pairing.KernelEvent, within bool) (shown bool) {
	if name := k.all[ev.Format]; slices.Contains(k.names, name) {
		k.learn(ev)
	}
	hidden := ev.Format >= len(k.opt.With)
	if !within || !k.wants(ev.PID) || hidden && !k.opt.Sched {
		return false
	}
	k.delivered++
	return !hidden
}

// follow records the events of a process that a probe was hit in, where none was named.
func (k *kernelEvents) follow(pid int) {
	if k.session == nil || k.followed[pid] || pid == 0 || len(k.opt.PIDs) > 0 {
		return
	}
	k.followed[pid] = true
	if err := k.session.Follow(pid); err != nil && procfs.Alive(pid) && !k.toldMissing {
		k.toldMissing = true
		k.opt.Say("%v: its kernel events are missing", err)
	}
}

// forget drops what is known of a process that has ended: the number may be used again, and the
// kernel has struck it off its list.
func (k *kernelEvents) forget(pid int) {
	delete(k.followed, pid)
	if !k.learns() {
		delete(k.wanted, pid)
	}
}

// spawn starts a program.
func (k *kernelEvents) spawn(p *Command) error {
	if k.session == nil {
		return p.Start()
	}
	if err := k.session.Spawn(p.Start); err != nil {
		return err
	}
	k.started(p.Process.Pid)
	k.followed[p.Process.Pid] = true
	return nil
}

// audit is what became of the events.
func (k *kernelEvents) audit(unparsed uint64) (*stats.KernelEvents, error) {
	if k.session == nil {
		return nil, nil
	}
	lost, err := k.session.Overruns()
	if err != nil {
		return nil, fmt.Errorf("count kernel events: %w", err)
	}
	if missed := lost + unparsed; k.learns() && missed > 0 && !k.told {
		k.told = true
		k.opt.Say("the beginnings of up to %s were lost: calls of theirs may be missing, or of others be counted", printable.Plural(int(missed), "thread"))
	}
	if k.opt.Sched && lost > 0 && !k.toldSched {
		k.toldSched = true
		k.opt.Say("up to %s of threads were lost: some time without a CPU may be taken for running, or the reverse", printable.Plural(int(lost), "change"))
	}
	if len(k.opt.With) == 0 && !k.opt.Sched {
		return nil, nil
	}
	return &stats.KernelEvents{Names: k.opt.With, Delivered: k.delivered, Lost: lost, Unparsed: unparsed}, nil
}
