package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/compare"
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
	Profiles  []string // the profiles to add up; nil to trace
	Old       string   // the profile to compare with, or ""
	FailUnder *float64 // the least percentage of functions that have run; nil for none

	sources map[*offsets.Func]target.Source
	names   map[string]string // functions by their place, FILE:LINE
	unknown int               // the number of functions that are not in the profile
}

// Define defines the flags of cover alone.
func (c *Cover) Define(fs *cli.Flags) {
	fs.StringVarP(&c.File, "output", "o", "", "write the profile to `FILE` instead of standard output, every minute")
	fs.StringVar(&c.Old, "against", "", "list what has run only now, and only in the older profile `FILE`")
	cli.Define(fs, &c.FailUnder, "fail-under", "", "exit with status 6 if less than `PERCENT` of the functions have run", percent)
}

// coverBudget is the default budget in percent: a run may take weeks.
const coverBudget = 1

// ReadArgs reads BINARY FUNC... -- PROGRAM, or the names of profiles.
func (c *Cover) ReadArgs(command string, words, program []string) error {
	if len(words) > 0 && compare.IsCover(words[0]) {
		if c.Profiles = words; program != nil || len(c.PIDs) > 0 {
			return cli.Usage("cover: %s is a profile: give only profiles, or BINARY", words[0])
		}
		return nil
	}
	c.OwnFuncs, c.Wrappers = true, true // Sources leaves out wrappers
	if c.Budget == nil || *c.Budget == 0 {
		c.Budget = new(float64(coverBudget))
	}
	c.Program = program
	return c.Target.ReadArgs(command, words, false)
}

// Run traces until the run ends, or adds up profiles.
func (c *Cover) Run(ctx context.Context) error {
	var old compare.Cover
	var err error
	if c.Old != "" {
		if old, err = compare.ReadCovers(c.Old); err != nil {
			return err
		}
	}
	if c.Profiles != nil {
		sum, err := compare.ReadCovers(c.Profiles...)
		if err != nil {
			return err
		}
		return c.show(sum, old)
	}
	return c.trace(ctx, old)
}

// plan resolves the target and plans one probe for each function.
func (c *Cover) plan() (r *run, err error) {
	defer c.Progress("reading " + c.Binary)()
	if err := c.checkProcesses(); err != nil {
		return nil, err
	}
	r = &run{Options: c.Options}
	if r.program, err = c.newProgram(); err != nil {
		return nil, err
	}
	c.Live = !c.DryRun
	if r.request.Target, err = c.resolve(); err != nil {
		return nil, err
	}
	q, t := &r.request, r.request.Target
	c.sources = t.Sources()
	t.Funcs = slices.DeleteFunc(t.Funcs, func(f *offsets.Func) bool {
		_, ok := c.sources[f]
		return !ok
	})
	switch {
	case len(t.Sites) > 0:
		return r, cli.Usage("cover: FUNC must name functions, not instructions or lines")
	case len(t.Funcs) == 0:
		return r, cli.Nothing("%s: none of these functions is in a source file of Go", c.Binary)
	}
	q.Probes.Mode, q.Probes.Features = uprobe.Count, tracefs.Machine{}.Features()
	q.Source.Budget, q.Source.PIDs = *c.Budget/100, c.PIDs
	q.Source.Recorder = tracefs.Options{TopLevel: c.Force, Features: &q.Probes.Features}
	if !c.DryRun {
		if err := c.openTracefs(); err != nil {
			return r, err
		}
		q.Probes.Features = c.Adjust(c.FS.Features())
		if err := cmp.Or(r.checkKernel(tracefs.ThisMachine().Older(4, 0)), q.Target.Hold(c.Force)); err != nil {
			return r, err
		}
	}
	if err := withPlanStatus(q.MakePlan()); err != nil {
		return r, err
	}
	return r, c.checkProbes(q.Plan.Probes(), q.Probes.Features, c.FS)
}

func (c *Cover) trace(ctx context.Context, old compare.Cover) (err error) {
	r, err := c.plan()
	if r != nil && r.request.Target != nil {
		defer r.request.Target.Binary.Close()
	}
	if err != nil {
		return err
	}
	if c.DryRun {
		_, err := io.WriteString(c.Stdout, r.definitions())
		return err
	}
	profile := c.profiler(r)
	live := trace.NewCoverage(c.FS, r.request.Plan, r.request.Source)
	done := sync.OnceFunc(c.Progress("placing the probes"))
	defer done()
	closed := sync.OnceValue(live.Close)
	defer func() {
		r.program.End()
		err = errors.Join(err, closed())
	}()
	if err := live.Start(ctx); err != nil {
		if ctx.Err() != nil {
			return cli.EndedBeforeStart(ctx)
		}
		return err
	}
	done()
	c.Say("probing %s of %s, armed in %.1f s, %s", printable.Plural(len(r.request.Plan.Funcs), "function"), c.Binary, live.Armed.Seconds(), r.until())
	c.sayOthers()
	if err := writeReady(c.Ready); err != nil {
		return err
	}
	if r.program != nil {
		if err := r.program.Start(); err != nil {
			return err
		}
	}
	followed := c.follow(ctx, r, live, func() error { return c.write(profile(live.Ran)) })
	_, written := live.Over()
	sum := profile(live.Ran)
	err = errors.Join(followed, closed())
	r.program.End()
	if err := errors.Join(c.show(sum, old), err); err != nil {
		return err
	}
	switch {
	case written:
		return r.request.Target.WrittenTo()
	case r.program != nil:
		return programStatus(r.program)
	}
	return nil
}

// writePause is the time between two writes of the profile while the run goes on.
const writePause = time.Minute

// follow runs the steps of the coverage until the run ends. It writes the profile now and then, so that a killed run has
// one.
func (c *Cover) follow(ctx context.Context, r *run, live *trace.Coverage, write func() error) error {
	var expired, again <-chan time.Time
	if c.Duration > 0 {
		expired = time.After(c.Duration)
	}
	if c.File != "" {
		again = time.Tick(writePause)
	}
	for ran := 0; ; {
		next, err := live.Step(ctx)
		if ctx.Err() != nil {
			return live.Finish()
		} else if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return live.Finish()
		case <-r.program.Ended():
			return live.Finish()
		case <-expired:
			return live.Finish()
		case <-again:
			if len(live.Ran) == ran {
				continue
			}
			if ran = len(live.Ran); write() != nil {
				continue // the end of the run says why
			}
		case <-time.After(min(time.Until(next), time.Second)):
			if ended, written := live.Over(); ended || written {
				return live.Finish()
			}
		}
	}
}

// sayOthers says that other processes than those of -p count, too.
func (c *Cover) sayOthers() {
	if len(c.PIDs) == 0 {
		return
	}
	others := 0
	for _, pid := range procfs.Running(c.Binary) {
		if pid != c.PIDs[0] {
			others++
		}
	}
	if others -= len(c.PIDs) - 1; others > 0 {
		c.Say("%s the same file: their calls count, too", printable.Plural(others, "other process")+" run")
	}
}

// profiler returns a func that returns the profile of functions that have run, by their index in the plan.
func (c *Cover) profiler(r *run) func(ran map[int]bool) compare.Cover {
	t := r.request.Target
	index := make(map[uint64]int) // in funcs, by address
	inlinable := t.Inlinable()
	c.names = make(map[string]string)
	var funcs []compare.CoverFunc
	for f, s := range c.sources {
		index[f.Addr] = len(funcs)
		funcs = append(funcs, compare.CoverFunc{Source: s, Left: true, Known: true})
		c.names[fmt.Sprintf("%s:%d", s.File, s.First)] = s.Name
	}
	planned := make([]int, len(r.request.Plan.Funcs)) // the indexes in funcs; -1 for functions without a source
	for i, f := range r.request.Plan.Funcs {
		at, ok := index[f.Addr]
		if planned[i] = at; !ok {
			planned[i] = -1
			continue
		}
		funcs[at].Left, funcs[at].Known = false, !inlinable(f.Func)
	}
	for _, f := range r.request.Plan.Skipped {
		if at, ok := index[f.Addr]; ok {
			funcs[at].Left, funcs[at].Known = false, false
		}
	}
	return func(ran map[int]bool) compare.Cover {
		for i := range ran {
			if at := planned[i]; at >= 0 {
				funcs[at].Ran = true
			}
		}
		c.unknown = 0
		for i := range funcs {
			if f := &funcs[i]; !f.Left && !f.Ran && !f.Known {
				c.unknown++
			}
		}
		return compare.NewCover(funcs)
	}
}

// show writes the profile, its share and its changes, and returns the error of --fail-under.
func (c *Cover) show(sum, old compare.Cover) error {
	ran, all := sum.Share()
	percent := 100 * float64(ran) / float64(max(all, 1))
	if c.File != "" || old == nil {
		if err := c.write(sum); err != nil {
			return err
		}
	}
	unknown := ""
	if c.unknown > 0 {
		unknown = fmt.Sprintf(", %d more are unknown: inlined, or not probed", c.unknown)
	}
	c.Say("%d of %s ran (%.1f%%)%s", ran, printable.Plural(all, "function"), percent, unknown)
	if old != nil {
		if err := c.showChanges(sum.Against(old)); err != nil {
			return err
		}
	}
	if c.FailUnder != nil && percent < *c.FailUnder {
		return cli.WithStatus(cli.ExitFailIf, fmt.Errorf("%.1f%% of the functions ran (--fail-under %v)", percent, *c.FailUnder))
	}
	return nil
}

func (c *Cover) showChanges(changes []compare.CoverChange, elsewhere int) error {
	var text bytes.Buffer
	for _, ch := range changes {
		what, place := "new", fmt.Sprintf("%s:%d", ch.File, ch.Line)
		if ch.Gone {
			what = "gone"
		}
		if name := c.names[place]; name != "" { // profiles have no names
			place += "  " + name
		}
		fmt.Fprintf(&text, "%-4s  %s\n", what, printable.Text(place))
	}
	if elsewhere > 0 {
		c.Say("%s only in one of the profiles: unknown in the other one, or other code", printable.Plural(elsewhere, "function"))
	}
	_, err := c.Stdout.Write(text.Bytes())
	return err
}

// write writes a profile to its file. A new file replaces the old one, so that a reader never sees half of it.
func (c *Cover) write(sum compare.Cover) error {
	if c.File == "" {
		return sum.Write(c.Stdout)
	}
	if info, err := os.Stat(c.File); err == nil && !info.Mode().IsRegular() {
		f, err := os.OpenFile(c.File, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(sum.Write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(c.File), filepath.Base(c.File)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(sum.Write(f), f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), c.File)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
