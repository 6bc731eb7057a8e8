// Package engine plans the probes of a target, and makes the source of what happens there. The command and the toolkit
// have it for what runs now and for recordings.
package engine

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Request is what to trace of a target, and how.
type Request struct {
	Target *target.Target
	// Probes says how to probe it. MakePlan sets its Points and Values.
	Probes uprobe.Options
	// Values returns what to fetch of the calls of a target's functions. Nil fetches nothing.
	Values func(*target.Target, tracefs.Features) (Values, error)
	// Source says how to read what happens. Live and Replay set its Features and Named, and its Inside if MarkInside is set.
	Source     trace.Options
	MarkInside bool
	Plan       *uprobe.Plan // MakePlan makes it
}

// Values is [uprobe.Options].Values.
type Values func(*offsets.Func, *offsets.Sites) (uprobe.Values, error)

// ErrUnprobed: none of the functions can be probed.
var ErrUnprobed = errors.New("can't be probed")

// Recorded is the request that a recording was made for, with the recording's plan.
func Recorded(rec *recording.Recording) Request {
	was := &rec.About.Options
	r := Request{Target: target.Recorded(was, rec.Plan), Plan: rec.Plan}
	r.Probes = uprobe.Options{Mode: rec.Plan.Mode, Features: was.Features, Stack: was.Stack, Follow: rec.Plan.Follows, Regroups: rec.Plan.Regroups}
	if on, err := machine.FeaturesOf(rec.Facts["kernel"]); err == nil {
		r.Probes.Features.ExactHits = on.ExactHits // the plan does not depend on it
	}
	return r
}

// RecordCounts has calls recorded that the kernel would count, where it does not count all of them, and for a budget, which asks
// when calls were. What is lost of a recording is known.
func (r *Request) RecordCounts() {
	if r.Probes.Mode == uprobe.Count && (!r.Probes.Features.ExactHits || r.Source.Budget > 0) {
		r.Probes.Mode, r.Source.Raw = uprobe.CountRecorded, true
	}
}

// MakePlan plans the probes. The kernel is untouched.
func (r *Request) MakePlan() (err error) {
	r.Probes.Points, r.Probes.Values = r.Target.Sites, nil
	if r.Values != nil {
		if r.Probes.Values, err = r.Values(r.Target, r.Probes.Features); err != nil {
			return err
		}
	}
	r.Plan, err = uprobe.New(r.Target.Binary, r.Target.Funcs, r.Probes)
	if err != nil || len(r.Plan.Events) > 0 {
		return err
	}
	first, more := r.Plan.Skipped[0], ""
	if n := len(r.Plan.Skipped) - 1; n > 0 {
		more = fmt.Sprintf("; nor can %d more", n)
	}
	return fmt.Errorf("%s: %w: %w%s", first.Name, ErrUnprobed, first.Err, more)
}

// Replan plans what was recorded again, on a target that was resolved from the recorded binary: a recording does not say how to
// decode values. The recording has yet to adopt the plan.
func (r *Request) Replan(t *target.Target) error {
	r.Target.Binary.Close()
	r.Target = t
	return r.MakePlan()
}

// Live returns the source of what happens from now on. The kernel is untouched.
func (r *Request) Live(fs *tracefs.FS) *trace.Live { return trace.NewLive(fs, r.Plan, r.source()) }

// Replay returns the source of what was recorded.
func (r *Request) Replay(rec *recording.Recording) (*trace.Recording, error) {
	return trace.NewRecording(rec, r.Plan, r.source())
}

// source completes the options of a source by what the plan and the target say.
func (r *Request) source() trace.Options {
	opt := r.Source
	opt.Features, opt.Named = r.Probes.Features, make(map[int]bool)
	if r.MarkInside {
		opt.Inside = make(map[int]bool)
	}
	for i := range r.Plan.Funcs {
		f := &r.Plan.Funcs[i]
		role := r.Target.Roles[f.Func]
		opt.Named[i] = f.Point || role.Named
		if r.MarkInside && role.Inside {
			opt.Inside[i] = true
		}
	}
	return opt
}
