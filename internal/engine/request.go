// Package engine plans the probes of a target, and makes the source of its calls: running processes, or a recording. The
// command and the toolkit use it.
package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Request describes a trace of a target.
type Request struct {
	Target *target.Target
	// Probes configures the plan. MakePlan sets its Points and Values.
	Probes uprobe.Options
	// Values returns the function that chooses the values to fetch. If Values is nil, no values are fetched.
	Values func(*target.Target, tracefs.Features) (Values, error)
	// Source configures the source. Live and Replay set its Recorder.Features.
	Source trace.Options
	Plan   *uprobe.Plan // set by MakePlan
}

// Values returns the values to fetch with a function's calls, see [uprobe.Options].
type Values func(*offsets.Func, *offsets.Sites) (uprobe.Values, error)

// ErrUnprobed: none of the functions can be probed.
var ErrUnprobed = errors.New("can't be probed")

// Recorded returns the request of a recording, with the recording's plan.
func Recorded(rec *recording.Recording) Request {
	if on, err := tracefs.FeaturesOf(rec.Facts["kernel"]); err == nil {
		// This ftgo knows best which kernels count exactly. The recorded plan does not depend on it.
		rec.Plan.Features.ExactHits = on.ExactHits
	}
	return Request{Target: &target.Target{}, Plan: rec.Plan, Probes: rec.Plan.Options}
}

// RecordCounts changes a request that counts calls by the kernel's counters: it records the calls instead, if the counters
// may miss calls, or if Source sets a budget, because a budget needs the time of each call. Recorded calls may get lost,
// but the number of lost calls is known.
func (r *Request) RecordCounts() {
	if r.Probes.Mode == uprobe.Count && (!r.Probes.Features.ExactHits || r.Source.Budget > 0) {
		r.Probes.Mode, r.Source.Recorder.Raw = uprobe.CountRecorded, true
	}
}

// MakePlan plans the probes. It does not touch the kernel.
func (r *Request) MakePlan() (err error) {
	r.Probes.Points, r.Probes.Values = r.Target.Sites, nil
	if r.Target.Pair != nil {
		r.Probes.To = r.Target.Pair.To()
	}
	if r.Values != nil {
		if r.Probes.Values, err = r.Values(r.Target, r.Probes.Features); err != nil {
			return err
		}
	}
	r.Plan, err = uprobe.New(r.Target.Binary, r.Target.Funcs, r.Probes)
	if err != nil {
		return err
	}
	for i := range r.Plan.Funcs {
		f := &r.Plan.Funcs[i]
		f.Role = r.Target.Roles[f.Func].Role
		f.Role.Named = f.Role.Named || f.Point
	}
	if len(r.Plan.Events) > 0 {
		return nil
	}
	first, more := r.Plan.Skipped[0], ""
	if n := len(r.Plan.Skipped) - 1; n > 0 {
		more = fmt.Sprintf("; nor can %d more", n)
	}
	return fmt.Errorf("%s: %w: %w%s", first.Name, ErrUnprobed, first.Err, more)
}

// Replan plans the probes of a recording again, because a recording lacks the types of values. t is the target that was
// resolved from the recorded binary. After Replan, the recording must adopt the plan.
func (r *Request) Replan(t *target.Target) error {
	r.Target.Binary.Close()
	r.Target = t
	return r.MakePlan()
}

// CountAlone makes Live place probes that only count calls in the traced processes only. Where calls are timed, these are the
// probes of sampled functions, and it helps nobody unless other processes run the program. CountAlone returns an error if this
// machine, the processes or the program do not allow that, and nil if the request is not of that kind. The kernel's counters
// are exact from Linux 6.12 on.
func (r *Request) CountAlone() error {
	s, pids := &r.Source, r.Source.PIDs
	s.Alone = false
	samples := r.Probes.Mode == uprobe.Latency && s.Budget > 0 && !r.Plan.Filtered()
	switch {
	case r.Probes.Mode != uprobe.CountRecorded && !samples || len(pids) == 0 || s.Once || s.Limit > 0:
		return nil
	case samples && len(procfs.Running(r.Plan.Binary.File().Link())) <= len(pids):
		return nil
	case samples && slices.ContainsFunc(r.Plan.Funcs, func(p uprobe.Probe) bool { return strings.HasPrefix(p.Name, "runtime.") }):
		return errors.New("the runtime's functions may have other probes at the same instructions")
	case s.Fork || s.Among != nil:
		return errors.New("processes that start later are traced, too")
	case !r.Probes.Features.ExactHits:
		return errors.New("the kernel is older than Linux 6.12")
	case len(pids) > maxAlone:
		return fmt.Errorf("%d processes are traced (at most %d)", len(pids), maxAlone)
	case procfs.ForeignNumbers():
		return errors.New("ftgo runs in a pid namespace")
	}
	for _, pid := range pids {
		if tids, _ := procfs.Threads(pid); len(tids) > maxAloneThreads { // an error shows at the next step
			return fmt.Errorf("process %d has %d threads (at most %d)", pid, len(tids), maxAloneThreads)
		}
		if err := procfs.TryPerf(procfs.LiveThread(pid)); err != nil {
			return err
		}
	}
	s.Alone = true
	return nil
}

// Limits for probes in single processes: of processes, and of threads in each. Each thread has a descriptor for each event.
// With 1000 threads and 3 events, a run took 1.2 s longer than with recorded calls, and with 300 threads as long.
const maxAlone, maxAloneThreads = 4, 300

// Live returns a source of running processes. It does not touch the kernel before Arm.
func (r *Request) Live(fs *tracefs.FS) *trace.Live {
	r.Source.Recorder.Features = &r.Probes.Features
	return trace.NewLive(fs, r.Plan, r.Source)
}

// Replay returns a source that reads a recording.
func (r *Request) Replay(rec *recording.Recording) (*trace.Recording, error) {
	r.Source.Recorder.Features = &r.Probes.Features
	return trace.NewRecording(rec, r.Plan, r.Source)
}
