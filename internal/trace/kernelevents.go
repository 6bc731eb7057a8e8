package trace

import (
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/internal/parse"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/tracefs"
)

// kernelEvents are the events of --with, and the processes that they are wanted of: those of
// -p, PROGRAM, and others from their first hit on.
type kernelEvents struct {
	session *tracefs.KernelSession
	names   []string
	all     []string // that are recorded, as the session has them
	// filter tells which processes are wanted; nil if that is known. Its events come
	// after those of names, unless they are among them.
	filter *processFilter
	told   bool // that events were lost, on which filter relies
	// sched: parse.SchedEvents are recorded as well; toldSched: that some were lost.
	sched, toldSched bool
	// wanted are the processes whose events are shown, followed those that are recorded.
	wanted, followed map[int]bool
	// first is the first error of following a process that has turned up.
	first error
	// delivered is the number of those wanted.
	delivered uint64
}

// newKernelEvents is nil if no kernel events are needed.
func newKernelEvents(o *Options) *kernelEvents {
	filter := newProcessFilter(o)
	if len(o.With) == 0 && filter == nil && !o.Sched {
		return nil
	}
	return &kernelEvents{names: o.With, filter: filter, sched: o.Sched, wanted: make(map[int]bool), followed: make(map[int]bool)}
}

// recorded are the names of all events that are recorded.
func (k *kernelEvents) recorded() []string {
	all := slices.Clone(k.names)
	hidden := k.filter.events()
	if k.sched {
		hidden = slices.Concat(hidden, parse.SchedEvents)
	}
	for _, name := range hidden {
		if !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// start begins to record. It is done before the probes are armed: what is made last is
// hit first.
func (k *kernelEvents) start(fs *tracefs.FS, o *Options) (err error) {
	if k == nil {
		return nil
	}
	if k.filter != nil {
		if k.session, err = tracefs.StartKernelOfAll(fs, k.recorded(), o.BufferKB); err != nil {
			return fmt.Errorf("follow processes: %w", err)
		}
		if err := k.filter.begin(o.PIDs, k.session.Process); err != nil {
			return err
		}
		if k.filter.looked, err = k.session.Now(); err != nil {
			return fmt.Errorf("follow processes: %w", err)
		}
	} else if k.session, err = tracefs.StartKernel(fs, k.recorded(), o.BufferKB); err != nil {
		return err
	}
	k.all = k.session.Names()
	for _, pid := range o.PIDs {
		if err := k.session.Follow(pid); err != nil {
			return err
		}
		k.wanted[pid], k.followed[pid] = true, true
	}
	return nil
}

// take takes the next kernel event, and tells whether it is to be shown. What is outside of the window only tells
// which processes are wanted.
func (k *kernelEvents) take(ev *parse.KernelEvent, within bool) (shown bool) {
	if name := k.all[ev.Event]; k.filter != nil && slices.Contains(k.filter.names, name) {
		k.filter.take(name, ev)
	}
	hidden := ev.Event >= len(k.names)
	if !within || !k.wants(ev.PID) || hidden && !k.sched {
		return false
	}
	k.delivered++
	return !hidden
}

func (k *kernelEvents) wants(pid int) bool {
	if k.filter != nil {
		return k.filter.wants(pid)
	}
	return k.wanted[pid]
}

// follow records the events of a process that a probe was hit in, where none was named.
func (k *kernelEvents) follow(pid int, o *Options) {
	if k == nil || k.followed[pid] || pid == 0 || len(o.PIDs) > 0 {
		return
	}
	k.followed[pid] = true
	if err := k.session.Follow(pid); err != nil && procfs.Alive(pid) && k.first == nil {
		k.first = err
		o.Say("%v: its kernel events are missing", err)
	}
}

// forget drops what is known of a process that has ended: the number may be used again, and the
// kernel has struck it off its list.
func (k *kernelEvents) forget(pid int) {
	if k != nil {
		delete(k.wanted, pid)
		delete(k.followed, pid)
	}
}

// spawn starts a program.
func (k *kernelEvents) spawn(p Program) error {
	if k == nil {
		return p.Start()
	}
	if err := k.session.Spawn(p.Start); err != nil {
		return err
	}
	pid := p.PID()
	k.filter.started(pid)
	k.wanted[pid], k.followed[pid] = true, true
	return nil
}

func (k *kernelEvents) stop() error {
	if k == nil {
		return nil
	}
	return k.session.Stop()
}

func (k *kernelEvents) close() error {
	if k == nil || k.session == nil {
		return nil
	}
	return k.session.Close()
}

// audit is what became of the events.
func (k *kernelEvents) audit(unparsed uint64, talk Talk) (*stats.KernelEvents, error) {
	if k == nil {
		return nil, nil
	}
	lost, err := k.session.Overruns()
	if err != nil {
		return nil, fmt.Errorf("count kernel events: %w", err)
	}
	if missed := lost + unparsed; k.filter != nil && missed > 0 && !k.told {
		k.told = true
		talk.Say("the beginnings of up to %s were lost: calls of theirs may be missing, or of others be counted", units.Plural(int(missed), "thread"))
	}
	if k.sched && lost > 0 && !k.toldSched {
		k.toldSched = true
		talk.Say("up to %s of threads were lost: some time without a CPU may be taken for running, or the reverse", units.Plural(int(lost), "change"))
	}
	if len(k.names) == 0 && !k.sched {
		return nil, nil
	}
	return &stats.KernelEvents{Names: k.names, Delivered: k.delivered, Lost: lost, Unparsed: unparsed}, nil
}
