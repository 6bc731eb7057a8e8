package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// errNotRecorded: what is wanted of a recording takes more than it has.
var errNotRecorded = errors.New("not in the recording")

// RecordingFile is the one argument of report.
func (o *Options) RecordingFile(words, program []string) error {
	if len(words) != 1 || program != nil {
		return cli.Usage("report: takes one FILE, or - for standard input (see ftgo report -h)")
	}
	o.Binary = words[0]
	return o.Target.Check("report")
}

// Report is report, once its arguments are read.
func Report(ctx context.Context, e *Env, o *Options) (err error) {
	input := o.Binary
	if input == "-" {
		input = "/dev/stdin"
	}
	file, size, err := openRecording(o.Binary)
	if err != nil {
		return err
	}
	defer file.Close()
	rec, err := recording.Open(file, size)
	if errors.Is(err, recording.ErrNone) {
		return fmt.Errorf("%s: %w (a trace alone does not tell what its lines mean: record with the script of ftgo script)", o.Binary, err)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.Binary, err)
	}
	t, err := replayed(e, o, rec)
	if err != nil {
		return err
	}
	if t.target.Binary != nil {
		defer t.target.Binary.Close()
	}
	out, done, err := o.Open(&e.Env, nil, input, o.Binary, o.Recorded.binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	want := t.view.Needs()
	source, err := trace.NewRecording(rec, t.plan, trace.RecordingOptions{
		PIDs: o.PIDs, Talk: &e.Env, Skipped: t.skipped, ExactHits: t.features.ExactHits, Entries: want.Entries, Inside: t.inside(want), Limit: want.Limit,
	})
	if err != nil {
		return err
	}
	j := o.job(t.view)
	j.Source = source
	j.Scene = run.Scene{Env: &e.Env, Target: t.target, Plan: t.plan, Out: out, Recorded: source.Began()}
	if !rec.Complete {
		j.CutOff = errors.New("the recording was cut off: counts are of the events that are there, and what was lost is not known")
	}
	return j.Do(ctx)
}

// openRecording opens a file, or takes standard input into one, since a recording is read
// twice: what its first lines mean, its last may tell.
func openRecording(name string) (f *os.File, size int64, err error) {
	if name == "-" {
		if f, err = os.CreateTemp("", "ftgo-report-"); err != nil {
			return nil, 0, err
		}
		if err = os.Remove(f.Name()); err == nil {
			size, err = io.Copy(f, os.Stdin)
		}
	} else if f, err = os.Open(name); err == nil {
		var info os.FileInfo
		if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
			err = fmt.Errorf("read %s: not a regular file; - reads standard input", name)
		} else if err == nil {
			size = info.Size()
		}
	}
	if err != nil && f != nil {
		f.Close()
	}
	return f, size, err
}

// replayed is a tracing that has been: its plan, and a view of it.
func replayed(e *Env, o *Options, rec *recording.Recording) (t *planned, err error) {
	was := &rec.About.Options
	if err := checkRecorded(was); err != nil {
		return nil, err
	}
	if o.Recorded.As == "" {
		o.Recorded.As = rec.About.Command
	}
	if err := o.take(was); err != nil {
		return nil, err
	}
	if err := o.showable(rec); err != nil {
		return nil, err
	}
	if err := o.FailIf.CheckKnown(rec.Plan.Mode == uprobe.Latency, o.Errors, "script --errors"); err != nil {
		return nil, err
	}
	if program := rec.Facts["program"]; program != "" {
		o.Program = []string{program}
	}
	_, v, err := recordView(o)
	if err != nil {
		return nil, err
	}
	t = &planned{env: e, opt: o, view: v, features: was.Features, plan: rec.Plan, target: target.Recorded(was, rec.Plan)}
	if on, err := tracefs.FeaturesOf(rec.Facts["kernel"]); err == nil {
		t.features.ExactHits = on.ExactHits // which the plan does not depend on
	}
	if t.target.Binary, err = o.Recorded.tracedBinary(rec); err != nil {
		return nil, err
	}
	needs := o.needsBinary(rec)
	o.Binary = rec.About.Binary.Path
	switch {
	case t.target.Binary == nil && needs == "values":
		e.Say("values are not shown: they take the binary, %s, which is not here as it was (--binary PATH)", escapedText(o.Binary))
	case t.target.Binary == nil && needs != "":
		return nil, fmt.Errorf("%s: the binary is needed, %s, which is not here as it was (--binary PATH)", needs, escapedText(o.Binary))
	case needs != "" && o.Recorded.As == rec.About.Command:
		if err := t.planAgain(rec, needs); err != nil {
			return nil, err
		}
	case needs != "" && o.Lines.Where != "":
		return nil, fmt.Errorf("--where of what was recorded for %s: %w: script --as trace has values", rec.About.Command, errNotRecorded)
	}
	for _, s := range was.Skipped {
		t.skipped = append(t.skipped, stats.Skipped{Function: s[0], Reason: s[1]})
	}
	return t, nil
}

// showable refuses what was not recorded.
func (o *Options) showable(rec *recording.Recording) error {
	mode, as := rec.Plan.Mode, o.Recorded.As
	if err := cli.CheckRules("report", o.given); err != nil {
		return err
	}
	switch {
	case !slices.Contains(recordable, rec.About.Command):
		return fmt.Errorf("read recording: of command %q", rec.About.Command)
	case as == "probe" && mode != uprobe.Latency, as == "trace" && mode != uprobe.Latency && mode != uprobe.Entries:
		return cli.Usage("report: --as %s: only calls' begins were recorded, with script --as %s", as, rec.About.Command)
	case mode == uprobe.Count && len(o.PIDs) > 0:
		return cli.Usage("report: -p: the kernel has counted the calls of all processes together")
	case (o.Format == render.Folded || o.Format == render.Pprof) && rec.Plan.Stack == 0:
		return cli.Usage("report: -o %s is for callers: record with script --stack", o.Format)
	case mode == uprobe.Entries && as == "trace" && !o.Lines.Entries:
		return errors.New("read recording: it has calls' begins alone, and says otherwise")
	}
	o.Stack = min(o.Stack, rec.Plan.Stack)
	if as == "count" {
		o.Stack, o.Errors = 0, false
	}
	if as == "probe" && o.Errors && rec.About.Command != "probe" {
		o.Errors = false
	}
	return nil
}

// given tells whether a term of a rule is true of what is typed, or recorded.
func (o *Options) given(term string) bool {
	switch name, value, _ := strings.Cut(term, "="); name {
	case "as":
		return value == o.Recorded.As
	case "entries":
		return o.Lines.Entries
	case "inside":
		return o.Inside != ""
	}
	return o.Recorded.Given(term)
}

// needsBinary names what can't be shown without the binary, if anything.
func (o *Options) needsBinary(rec *recording.Recording) string {
	switch as := o.Recorded.As; {
	case as == "count":
		return ""
	case o.Lines.Where != "" && as == "trace":
		return "--where"
	case o.Lines.Errors && as == "trace":
		return "--errors"
	case o.Lines.Template.Text != "":
		return "--format"
	case o.Stack > 0:
		return "callers"
	case as == "probe" && o.Errors:
		return "errors"
	case as == "trace":
		for i := range rec.Plan.Events {
			if f := rec.Plan.Events[i].Fields; f.Values >= 0 && f.Values < len(rec.Plan.Events[i].Args) {
				return "values"
			}
		}
	}
	return ""
}

// tracedBinary opens the binary if it is here and the same; nil is none.
func (r *RecordedFlags) tracedBinary(rec *recording.Recording) (*offsets.Binary, error) {
	path := r.binary
	asked := path != ""
	if !asked {
		path = rec.About.Binary.Path
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		if asked && err == nil {
			err = fmt.Errorf("%s: not a regular file", path)
		}
		if !asked {
			err = nil
		}
		return nil, err
	}
	b, err := target.OpenRecorded(path, rec.About.Binary)
	if err != nil {
		if asked {
			return nil, err
		}
		return nil, nil
	}
	return b, nil
}

// planAgain makes the plan from the binary, with what values are decoded by, which a
// recording does not have.
func (t *planned) planAgain(rec *recording.Recording, needs string) error {
	o := *t.opt
	o.Binary, o.PIDs = t.target.Binary.File().Path(), nil
	sel, err := o.Resolve(t.env)
	if err != nil {
		return err
	}
	t.target.Binary.Close()
	t.target = sel
	if err := t.planFor(uprobe.Options{Mode: rec.Plan.Mode, Features: t.features, Stack: t.opt.Stack}); err != nil {
		return err
	}
	if err := rec.Adopt(t.plan); err != nil {
		return fmt.Errorf("%s: %w: this ftgo, or what is asked for, needs other values than were fetched (made by ftgo %s): %w",
			needs, errNotRecorded, escapedText(rec.About.Made), err)
	}
	t.plan.Skipped = nil // they are those that the script has said
	return nil
}

// escapedText is a text of a recording's that may be shown to a terminal.
func escapedText(text string) string { return strings.Trim(strconv.Quote(text), `"`) }
