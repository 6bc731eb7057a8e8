package ftgo

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// job plans a trace. It places no probes, but removes the probes that killed traces have left. If each is true, the
// trace yields calls instead of totals.
func (t *Tracer) job(mode uprobe.Mode, each bool) (*job, error) {
	j := &job{tracer: t, each: each, fetch: capture.DefaultLimits}
	j.request.Source = trace.Options{Filter: procfs.Filter{PIDs: t.PIDs}, Talk: quiet{}, Costs: trace.NoCosts{}}
	plan := j.live
	if t.Recording != "" {
		plan = j.recorded
	}
	if err := plan(mode); err != nil {
		return nil, errors.Join(unsupported(err), j.close())
	}
	if t.Stack > 0 && each && j.request.Target.Binary != nil {
		j.stacks = engine.NewStacks(j.request.Target.Binary)
	}
	for i := range j.request.Plan.Funcs {
		j.funcs = append(j.funcs, j.function(j.request.Plan.Funcs[i].Func))
	}
	return j, nil
}

// query returns the query for the target in the Tracer's fields.
func (t *Tracer) query() (*target.Query, error) {
	q := &target.Query{Binary: t.Binary, Funcs: t.Funcs, Signatures: true, Live: true}
	q.PIDs, q.Exclude = t.PIDs, t.Exclude
	switch {
	case len(t.Funcs) == 0:
		return nil, fmt.Errorf("no Funcs: %w", ErrNoMatch)
	case q.Binary != "":
	case t.Command != nil:
		if q.Binary = t.Command.Path; t.Command.Dir != "" && !filepath.IsAbs(q.Binary) {
			q.Binary = filepath.Join(t.Command.Dir, q.Binary)
		}
	case len(t.PIDs) > 0:
		q.Binary, q.BinaryFromPID = procfs.Exe(t.PIDs[0]), true
	default:
		return nil, errors.New("a Tracer needs a Binary, PIDs, a Command or a Recording")
	}
	if t.Command != nil && t.Command.Err != nil {
		return nil, t.Command.Err
	}
	return q, q.CheckProcesses()
}

// live plans a trace of running processes.
func (j *job) live(mode uprobe.Mode) error {
	t := j.tracer
	q, err := t.query()
	if err != nil {
		return err
	}
	if j.request.Target, err = q.Resolve(quiet{}.Say); err != nil {
		return err
	}
	if t.Command != nil {
		j.program = trace.NewCommand(t.Command)
	}
	if j.fs, err = tracefs.Find(); err != nil {
		return err
	}
	_, _ = j.fs.Sweep() // leftovers that can't be removed don't prevent a trace
	features := j.fs.Features()
	if !features.Instances || tracefs.ThisMachine().Older(4, 0) {
		return fmt.Errorf("uprobes can hang programs on kernels before 4.0: %w", ErrUnsupported)
	}
	if _, err := j.request.Target.Binary.File().Hold(); err != nil {
		return err
	}
	if mode == uprobe.Count && len(t.PIDs) > 0 {
		mode = uprobe.CountRecorded
	}
	j.request.Probes = uprobe.Options{Mode: mode, Features: features, Recorded: len(t.PIDs) > 0}
	if j.each {
		j.request.Probes.Stack, j.request.Values = t.Stack, j.values
	}
	j.request.Source.Recorder.BufferKB, j.request.Source.Entries = t.bufferKB, mode == uprobe.Entries
	j.request.RecordCounts()
	if err := j.request.MakePlan(); err != nil {
		return err
	}
	j.source = j.request.Live(j.fs)
	return nil
}

// values returns the function that chooses the values to fetch.
func (j *job) values(t *target.Target, _ tracefs.Features) (engine.Values, error) {
	j.memories = engine.NewMemories(t.Binary, j.tracer.Recording != "")
	return j.fetched, nil
}

// fetched returns the values to fetch with a function's calls.
func (j *job) fetched(f *offsets.Func, sites *offsets.Sites) (out uprobe.Values, err error) {
	sig, told, err := j.request.Target.Signature(f)
	switch {
	case err != nil && told:
		return out, err
	case err != nil || !told && !j.wantsValues():
		return out, nil // function puts the reason into Func.note
	}
	args, results, err := j.request.Target.Shown(f, sig)
	if err != nil {
		return out, err
	}
	opt := &j.request.Probes
	entry, ret, err := j.request.Target.Builders(j.fetch, f, sites, sig, opt.Stack, opt.Features)
	if err != nil {
		return out, err
	}
	if out.Entry, err = entry.Capture(args, nil); err != nil || opt.Mode == uprobe.Entries {
		return out, err
	}
	out.Return, err = ret.Capture(results, nil)
	return out, err
}

// wantsValues reports whether the values of all functions are fetched.
func (j *job) wantsValues() bool { return j.tracer.Values || j.tracer.Recording != "" }

// function returns the description of a function of the plan.
func (j *job) function(f *offsets.Func) *Func {
	fn := &Func{Name: f.Name, Addr: f.Addr}
	if j.request.Target.Binary == nil {
		return fn
	}
	fn.File, fn.Line, _ = j.request.Target.Binary.Position(f.Addr)
	if j.each && j.wantsValues() {
		sig, _, err := j.request.Target.Signature(f)
		if err != nil {
			fn.note = target.Note(err)
		} else {
			fn.Signature, fn.note = target.SignatureText(f.Name, sig), sig.Note
		}
	}
	return fn
}

// recorded plans a trace of a recording.
func (j *job) recorded(mode uprobe.Mode) error {
	t := j.tracer
	if len(t.Funcs)+len(t.Exclude) > 0 || t.Command != nil {
		return fmt.Errorf("read recording: it has its own Funcs, Exclude and Command: %w", ErrUnsupported)
	}
	file, err := os.Open(t.Recording)
	if err != nil {
		return err
	}
	j.file = file
	info, err := file.Stat()
	if err != nil {
		return err
	}
	rec, err := recording.Open(file, info.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", t.Recording, err)
	}
	if slices.ContainsFunc(rec.Flags, func(flag string) bool { return strings.HasPrefix(flag, "--inside=") }) {
		return fmt.Errorf("%s: made with --inside: %w", t.Recording, ErrUnsupported)
	}
	options := j.request.Source
	j.request = engine.Recorded(rec)
	if j.request.Source = options; !rec.Complete {
		j.cutOff = errors.New("the recording was cut off: the number of lost events is unknown")
	}
	if timed := rec.Plan.Mode == uprobe.Latency; j.each && !timed && rec.Plan.Mode != uprobe.Entries || !j.each && mode == uprobe.Latency && !timed {
		return fmt.Errorf("%s: made for %s: %w", t.Recording, rec.Command, ErrUnsupported)
	}
	if t.Binary != "" {
		if err := j.traced(rec); err != nil {
			return err
		}
	}
	j.request.Source.Entries = rec.Plan.Mode == uprobe.Entries
	j.source, err = j.request.Replay(rec)
	return err
}

// traced opens the binary of a recording, and plans the probes again to get the types of values.
func (j *job) traced(rec *recording.Recording) (err error) {
	if j.request.Target.Binary, err = rec.Binary.Open(j.tracer.Binary); err != nil || !j.each || rec.Command != "trace" {
		return err
	}
	q := &target.Query{Binary: j.tracer.Binary, Funcs: rec.Patterns, Signatures: true}
	q.AllowUnmatched = true
	for _, flag := range rec.Flags {
		switch name, value, _ := strings.Cut(flag, "="); name {
		case "--exclude":
			q.Exclude = append(q.Exclude, value)
		default:
			return fmt.Errorf("values of a recording that was made with %s: %w", name, ErrUnsupported)
		}
	}
	again, err := q.Resolve(quiet{}.Say)
	if err != nil {
		return err
	}
	j.request.Values = j.values
	if err := j.request.Replan(again); err != nil {
		return err
	}
	return rec.SetEventNames(j.request.Plan)
}

// unsupported adds ErrUnsupported to an error that says that the kernel or the binary does not support the trace.
func unsupported(err error) error {
	if errors.Is(err, tracefs.ErrNotSupported) || errors.Is(err, tracefs.ErrNotMounted) || errors.Is(err, tracefs.ErrRefused) || errors.Is(err, target.ErrForeign) ||
		errors.Is(err, engine.ErrUnprobed) {
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return err
}
