package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/compare"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Cover is the command cover: it writes which functions have run as a cover profile of Go, or adds up profiles.
type Cover struct {
	*Options
	profiles  []string // the profiles to add up; nil to trace
	against   string   // the profile to compare with, or ""
	failUnder *float64 // the least percentage of functions that have run; nil for none

	sources map[*offsets.Func]target.Source
	samples map[int]procfs.Samples // of the processes that run already
	unknown int                    // the number of functions that are not in the profile
}

// Define defines the flags of cover alone.
func (c *Cover) Define(fs *cli.Flags) {
	fs.StringVarP(&c.File, "output", "o", "", "write the profile to `FILE` instead of standard output, every minute")
	fs.StringVar(&c.against, "against", "", "list what has run only now, and only in the older profile `FILE`")
	cli.Define(fs, &c.Budget, "budget", "", "keep the cost of probes below `PERCENT` of the program's CPU time after the first minute (default 1)", percent)
	cli.Define(fs, &c.failUnder, "fail-under", "", "exit with status 6 if less than `PERCENT` of the functions have run", percent)
}

// ReadArgs reads BINARY FUNC... -- PROGRAM, or the names of profiles.
func (c *Cover) ReadArgs(command string, words, program []string) error {
	if len(words) > 0 && compare.IsCover(words[0]) {
		if c.profiles = words; program != nil || len(c.PIDs) > 0 {
			return cli.Usage("cover: %s is a profile: give only profiles, or BINARY", words[0])
		}
		return nil
	}
	c.OwnFuncs, c.Wrappers, c.Program = true, true, program // Sources leaves out wrappers
	if c.Budget == nil || *c.Budget == 0 {
		c.Budget = new(1.0) // percent: a run may take weeks
	}
	return c.Target.ReadArgs(command, words, false)
}

// Run traces until the run ends, or adds up profiles.
func (c *Cover) Run(ctx context.Context) (err error) {
	var sum, old compare.Cover
	if c.against != "" {
		old, err = compare.ReadCovers(c.against)
	}
	if c.profiles != nil && err == nil {
		if sum, err = compare.ReadCovers(c.profiles...); err == nil {
			err = c.show(sum, old)
		}
	}
	if c.profiles != nil || err != nil {
		return err
	}
	r := &run{Options: c.Options}
	if err = c.plan(r); err == nil {
		err = c.trace(ctx, r, old)
	}
	if t := r.request.Target; t != nil {
		t.Binary.Close()
	}
	return err
}

// maxSampled limits the processes of which samples are taken, because each of their threads needs memory.
const maxSampled = 10

// plan resolves the target and plans one probe for each function.
func (c *Cover) plan(r *run) (err error) {
	defer c.Progress("reading " + c.Binary)()
	if err := c.checkProcesses(); err != nil {
		return err
	}
	if r.program, err = c.newProgram(); err != nil {
		return err
	}
	q := &r.request
	c.Live = true
	if q.Target, err = c.resolve(); err != nil {
		return err
	}
	c.samples = make(map[int]procfs.Samples)
	for i, pid := range procfs.Running(q.Target.Binary.File().Link()) {
		if c.samples[pid] = nil; i < maxSampled {
			c.samples[pid] = procfs.StartSamples(pid)
		}
	}
	if n := len(c.samples); len(c.PIDs) > 0 && n > len(c.PIDs) {
		c.Say("%d processes execute %s: what any of them runs has run", n, c.Binary)
	}
	c.sources = q.Target.Sources()
	q.Target.Funcs = slices.DeleteFunc(q.Target.Funcs, func(f *offsets.Func) bool { return c.sources[f].Name == "" })
	if len(q.Target.Sites) > 0 || len(q.Target.Funcs) == 0 {
		return cli.Nothing("%s: FUNC must name functions in source files of Go", c.Binary)
	}
	if err := c.openTracefs(); err != nil {
		return err
	}
	q.Probes.Mode, q.Probes.Features = uprobe.Count, c.Adjust(c.FS.Features())
	if err := cmp.Or(r.checkKernel(tracefs.ThisMachine().Older(4, 0)), q.Target.Hold(c.Force)); err != nil {
		return err
	}
	q.Source.Budget, q.Source.PIDs = *c.Budget/100, c.PIDs
	q.Source.Recorder = tracefs.Options{TopLevel: c.Force, Features: &q.Probes.Features}
	if err := withPlanStatus(q.MakePlan()); err != nil {
		return err
	}
	return c.checkProbes(q.Plan.Probes(), q.Probes.Features, c.FS)
}

// executed returns the functions that run already, by their indexes in the plan: those on the stacks of goroutines, whose calls
// began before the probes, and those in the samples. Most of the functions that run often are among these. They need no probes,
// which would slow the program down until they are removed.
func (c *Cover) executed(plan *uprobe.Plan) map[int]bool {
	indexes, ran := make(map[*offsets.Func]int), make(map[int]bool)
	for i, f := range plan.Funcs {
		indexes[f.Func] = i
	}
	add := func(addr uint64) {
		f, _ := plan.Binary.FuncAt(addr) // nil if no function contains it
		if i, planned := indexes[f]; planned {
			ran[i] = true
		}
	}
	for pid, samples := range c.samples {
		addrs := samples.Stop()
		p, err := engine.OpenProcess(plan.Binary, pid)
		if err != nil { // it has ended, or executes another program
			continue
		}
		for addr := range addrs {
			add(addr - p.Bias)
		}
		for _, l := range engine.Executing(p) {
			add(l.Addr)
		}
		_ = p.Close()
	}
	return ran
}

// trace runs a plan. It shows the profile even if something fails after the probes were placed.
func (c *Cover) trace(ctx context.Context, r *run, old compare.Cover) (err error) {
	began, placed := time.Now(), c.Progress("placing the probes")
	live, err := trace.StartCoverage(ctx, c.FS, r.request.Plan, c.executed(r.request.Plan), r.request.Source)
	placed()
	closed := sync.OnceValue(live.Close)
	defer func() {
		r.program.End()
		err = errors.Join(err, closed())
	}()
	if ctx.Err() != nil {
		return cli.EndedBeforeStart(ctx)
	} else if err != nil {
		return err
	}
	c.Say("probing %s of %s, armed in %.1f s, %s", printable.Plural(len(r.request.Plan.Funcs), "function"), c.Binary, time.Since(began).Seconds(), r.until())
	if err := writeReady(c.Ready); err != nil {
		return err
	}
	if r.program != nil {
		if err := r.program.Start(); err != nil {
			return err
		}
	}
	written, followed := c.follow(ctx, r, live)
	err = errors.Join(followed, closed())
	r.program.End()
	if err := errors.Join(c.show(c.profile(r.request.Plan, live.Ran), old), err); err != nil || r.program == nil && !written {
		return err
	} else if written {
		return r.request.Target.WrittenTo()
	}
	return programStatus(r.program)
}

// writePause is the time between two writes of the profile while the run goes on.
const writePause = time.Minute

// follow runs the steps of the coverage until the run ends. It writes the profile now and then, so that a killed run has
// one. written is true if the run ends because a process writes to the binary.
func (c *Cover) follow(ctx context.Context, r *run, live *trace.Coverage) (written bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if r.program != nil {
		defer context.AfterFunc(r.program.Ended(), cancel)()
	}
	if c.Duration > 0 {
		defer time.AfterFunc(c.Duration, cancel).Stop()
	}
	ran, again := 0, time.Now().Add(writePause)
	for ended := false; !ended && !written && ctx.Err() == nil; {
		next, err := live.Step(ctx)
		if err != nil && ctx.Err() == nil {
			return false, err
		}
		if c.File != "" && len(live.Ran) > ran && time.Now().After(again) {
			ran, again = len(live.Ran), time.Now().Add(writePause)
			_ = c.Write(c.Env, []string{c.Binary}, c.profile(r.request.Plan, live.Ran).Write) // the write at the end returns the error
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(time.Until(next), time.Second)):
			ended, written = live.Over()
		}
	}
	_, err = live.Read()
	return written, err
}

// profile returns the profile if the functions with these indexes in the plan have run.
func (c *Cover) profile(plan *uprobe.Plan, ran map[int]bool) compare.Cover {
	probed, did := make(map[*offsets.Func]bool), make(map[*offsets.Func]bool)
	c.unknown = len(plan.Skipped)
	for i, f := range plan.Funcs {
		probed[f.Func], did[f.Func] = true, ran[i]
		if !ran[i] && c.sources[f.Func].Inlinable {
			c.unknown++
		}
	}
	var funcs []compare.CoverFunc
	for f, s := range c.sources {
		funcs = append(funcs, compare.CoverFunc{Source: s, Ran: did[f], Known: probed[f] && !s.Inlinable})
	}
	return compare.NewCover(funcs)
}

// show writes the profile, its share and its changes, and returns the error of --fail-under.
func (c *Cover) show(sum, old compare.Cover) error {
	if c.File != "" || old == nil {
		if err := c.Write(c.Env, []string{c.Binary}, sum.Write); err != nil {
			return err
		}
	}
	ran, all := sum.Share()
	percent, unknown := 100*float64(ran)/float64(max(all, 1)), ""
	if c.unknown > 0 {
		unknown = fmt.Sprintf(", %d more are unknown: inlined, or not probed", c.unknown)
	}
	c.Say("%d of %s ran (%.1f%%)%s", ran, printable.Plural(all, "function"), percent, unknown)
	if old != nil {
		names := make(map[string]string)
		for _, s := range c.sources {
			names[fmt.Sprintf("%s:%d", s.File, s.First)] = s.Name
		}
		lines, elsewhere := sum.Against(old, names)
		if elsewhere > 0 {
			c.Say("%s only in one of the profiles: unknown in the other one, or other code", printable.Plural(elsewhere, "function"))
		}
		for _, line := range lines {
			if _, err := fmt.Fprintln(c.Stdout, printable.Text(line)); err != nil {
				return err
			}
		}
	}
	if c.failUnder != nil && percent < *c.failUnder {
		return cli.WithStatus(cli.ExitFailIf, fmt.Errorf("%.1f%% of the functions ran (--fail-under %v)", percent, *c.failUnder))
	}
	return nil
}
