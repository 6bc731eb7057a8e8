package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Report shows a recording, or the sum of several recordings and JSON files.
func (o *Options) Report(ctx context.Context, names []string) error {
	if len(names) > 1 {
		all, err := o.readRuns(ctx, names)
		if err != nil {
			return err
		}
		return o.showSum(all, names)
	}
	ready := sync.OnceFunc(o.Progress("reading " + names[0]))
	defer ready()
	input, err := openInput(names[0])
	if err != nil {
		return err
	}
	defer input.Close()
	if input.isJSON {
		all, err := input.readJSON()
		ready()
		if err != nil {
			return err
		}
		return o.showSum(all, names)
	}
	r, err := o.openReplay(input)
	ready()
	if err != nil {
		return err
	}
	defer r.closeBinary()
	return r.execute(ctx, input.Name(), o.Binary, o.tracedPath)
}

// openReplay returns the run of a recording.
func (o *Options) openReplay(input *inputFile) (r *run, err error) {
	rec, err := recording.Open(input, input.size)
	switch {
	case errors.Is(err, recording.ErrNone):
		return nil, fmt.Errorf("%s: %w (a trace needs the plan of its probes: record with the script of ftgo script)", input.Name(), err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", input.Name(), err)
	}
	if r, err = o.planReplay(rec); err != nil {
		return nil, err
	}
	hasGoroutine := func(e uprobe.Event) bool { return e.Fields.G >= 0 }
	if r.needs.Probes.Follow && !r.request.Plan.Follow && slices.ContainsFunc(r.request.Plan.Events, hasGoroutine) {
		o.Say("goroutines are shown apart from the calls that start them: record with script --tree")
	}
	source, err := r.request.Replay(rec)
	if err != nil {
		r.closeBinary()
		return nil, err
	}
	r.source = source
	r.scene.Recorded = source.Began()
	if !rec.Complete {
		r.incomplete = errors.New("the recording was cut off: counts are for the recorded events, and the number of lost ones is unknown")
	}
	return r, nil
}

func (r *run) closeBinary() {
	if b := r.request.Target.Binary; b != nil {
		b.Close()
	}
}

// planReplay returns a run with the plan of a recording.
func (o *Options) planReplay(rec *recording.Recording) (r *run, err error) {
	if o.As == "" {
		o.As = rec.Command
	}
	if o.Merges && o.As == "trace" {
		o.As = "probe"
	}
	if err := o.applyRecorded(rec); err != nil {
		return nil, err
	}
	if err := o.checkShowable(rec); err != nil {
		return nil, err
	}
	if err := o.CheckFailIf(rec.Plan.Mode == uprobe.Latency, o.Errors, "script --errors"); err != nil {
		return nil, err
	}
	if program := rec.Facts["program"]; program != "" {
		o.Program = []string{program}
	}
	r = o.newRun(o.planningView())
	recorded := engine.Recorded(rec)
	r.request.Target, r.request.Plan, r.request.Probes = recorded.Target, recorded.Plan, recorded.Probes
	if r.request.Target.Binary, err = o.tracedBinary(rec); err != nil {
		return nil, err
	}
	needs := o.binaryUser(rec.Command)
	o.Binary = rec.Binary.Path
	lacking := ""
	switch s := rec.Symbols; {
	case r.request.Target.Binary == nil:
		lacking = fmt.Sprintf("the binary, %s, which is missing or has changed (--binary PATH)", o.Binary)
	case s == nil || o.Symbols != "": // resolving compares FILE of --symbols with the binary
	case s.Unchanged():
		o.Symbols = s.Path
	default:
		lacking = fmt.Sprintf("the symbols of the binary, %s, which is missing or has changed (--symbols PATH)", s.Path)
	}
	switch {
	case lacking != "" && needs == "values":
		o.Say("values are not shown: they take %s", lacking)
	case lacking != "" && needs != "":
		return nil, fmt.Errorf("%s: needs %s", needs, lacking)
	case needs != "" && (o.As == rec.Command || needs == "--by" && o.FromTrace):
		if err := r.replan(rec, needs); err != nil {
			return nil, err
		}
	case needs == "--by" || needs == "--where":
		return nil, fmt.Errorf("%s of a recording for %s: not in the recording: script --by and script --as trace record values", needs, rec.Command)
	}
	return r, nil
}

// checkShowable refuses flags for data that was not recorded.
func (o *Options) checkShowable(rec *recording.Recording) error {
	mode, as := rec.Plan.Mode, o.As
	if err := cli.CheckRules("report", o.holds); err != nil {
		return err
	}
	switch {
	case !slices.Contains(recordable, rec.Command):
		return fmt.Errorf("read recording: of command %q", rec.Command)
	case as == "probe" && mode != uprobe.Latency, as == "trace" && mode != uprobe.Latency && mode != uprobe.Entries:
		return cli.Usage("report: --as %s: only calls' begins were recorded, with script --as %s", as, rec.Command)
	case mode == uprobe.Count && len(o.PIDs) > 0:
		return cli.Usage("report: -p: the kernel has counted the calls of all processes together")
	case (o.Format == render.Folded || o.Format == render.Pprof) && rec.Plan.Stack == 0:
		return cli.Usage("report: -o %s is for callers: record with script --stack", o.Format)
	}
	if as == "count" {
		o.Stack = 0
	}
	o.Errors = o.Errors && as != "count" && (as != "probe" || rec.Command == "probe")
	return nil
}

// holds reports whether a term of a rule is true of the flags or of the recording.
func (o *Options) holds(term string) bool {
	switch name, value, _ := strings.Cut(term, "="); name {
	case "as":
		return value == o.As
	case "several":
		return o.Merges
	case "entries":
		return o.Entries
	case "inside":
		return o.Inside != ""
	}
	return o.HasTerm != nil && o.HasTerm(term) // nil for diff: no rule about recordings has its flags
}

// binaryUser names a flag or a value that can't be shown without the binary, or returns "". recorded is the command that the
// recording is for.
func (o *Options) binaryUser(recorded string) string {
	switch as := o.As; {
	case o.UsesVariables():
		return "--by"
	case as == "count":
		return ""
	case o.Where.Source != "" && as == "trace":
		return "--where"
	case o.OnlyErrors && as == "trace":
		return "--errors"
	case o.Template != nil:
		return "--format"
	case o.Stack > 0:
		return "callers"
	case as == "probe" && o.Errors:
		return "errors"
	case as == "trace" && recorded == "trace":
		return "values"
	}
	return ""
}

// tracedBinary opens the traced binary. Without --binary, it returns nil if the file is missing or has changed.
func (o *Options) tracedBinary(rec *recording.Recording) (b *offsets.Binary, err error) {
	path := cmp.Or(o.tracedPath, rec.Binary.Path)
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err == nil {
		b, err = rec.Binary.Open(path)
	}
	if o.tracedPath == "" {
		err = nil // --binary is not given
	}
	return b, err
}

// replan makes the plan again from the binary, because a recording does not say how to decode values.
func (r *run) replan(rec *recording.Recording, needs string) error {
	o := *r.Options
	o.Binary, o.PIDs = r.request.Target.Binary.File().Path(), nil
	again, err := o.resolve()
	if err != nil {
		return err
	}
	r.request.Probes.Stack = r.Stack
	if err := withPlanStatus(r.request.Replan(again)); err != nil {
		return err
	}
	if err := rec.SetEventNames(r.request.Plan); err != nil {
		return fmt.Errorf("%s: not in the recording: this ftgo, or this command, needs values that were not fetched (recorded by ftgo %s): %w",
			needs, rec.Version, err)
	}
	return nil
}
