package session

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// recordable are the commands that a recording can be for.
var recordable = []string{"probe", "count", "trace"}

var recordFor = cli.OneOf("COMMAND", "command", "not probe, count or trace", recordable...)

// DefineScript defines the flags that decide what is recorded.
func (o *Options) DefineScript(fs *cli.Flags) {
	o.As = "probe"
	cli.Define(fs, &o.As, "as", "", "record what `COMMAND` needs: probe, count or trace", recordFor)
	fs.StringVar(&o.forKernel, "kernel", "", "record on Linux `VERSION`, as uname -r prints it (default 5.4 and later)")
	cli.Define(fs, &o.Duration, "duration", "d", "let the script stop after `SECONDS` by default", cli.Seconds)
	fs.StringVarP(&o.File, "output-file", "w", "", "write the script to `FILE` instead of standard output")
	fs.BoolVar(&o.Force, "force", false, "go on despite patterns that match nothing")
	fs.BoolVarP(&o.Quiet, "quiet", "q", false, "write only errors to standard error")
	fs.BoolVar(&o.Errors, "errors", false, "probe: record whether a call's last result was an error")
	fs.StringVar(&o.Lines.Where, "where", "", "trace: record only calls for which `EXPR` is true")
	fs.StringVar(&o.Inside, "inside", "", "trace: record only calls that `FUNC` makes, directly or not")
	fs.BoolVar(&o.Lines.Entries, "entries", false, "trace: record only how calls begin")
	cli.Define(fs, &o.Budget, "budget", "", "let the script disarm what takes more than `PERCENT` of a CPU", percent)
	fs.BoolVar(&o.follow, "tree", false, "trace: record go statements, for trees")
	cli.Some("probe, count: ", o.TableFlags.Define, "by", "sum")(fs)
}

// DefineReport defines the flags that decide how it is shown.
func (o *Options) DefineReport(fs *cli.Flags) {
	cli.Define(fs, &o.As, "as", "", "show what `COMMAND` would: probe, count or trace (default what it was recorded for)", recordFor)
	fs.StringVarP(&o.tracedPath, "binary", "b", "", "read the traced binary at `PATH` (default where ftgo script read it)")
	fs.IntSliceVarP(&o.PIDs, "pid", "p", nil, "show only process `PID`")
	fs.BoolVar(&o.PerHost, "per-host", false, "show a row for each function of each machine")
	fs.Check(func(command string) error {
		for _, pid := range o.PIDs {
			if _, err := new(target.Scope).Named(o.Say, strconv.Itoa(pid)); err != nil {
				return cli.Usage("%s: %v", command, err)
			}
		}
		return nil
	})
}

// take makes options what they were, for the command recorded; what a recording says chooses functions and values,
// and nothing else.
func (o *Options) take(a *recording.Options, recorded string) error {
	if o.Lines.Where != "" && a.Where != "" {
		return cli.Usage("report: --where: it was recorded with one already: %s", a.Where)
	}
	o.replays, o.filters = true, a.Where == ""
	o.Funcs, o.Regexp, o.Exclude, o.Wrappers, o.Errors, o.Stack, o.Force = a.Patterns, a.Regexp, a.Exclude, !a.NoWrappers, a.Errors, a.Stack, true
	o.Budget = &a.Budget
	o.Fetch.StrLen, o.Fetch.Items, o.Inside, o.Lines.Entries = cmp.Or(a.StrLen, 1), cmp.Or(a.Items, 1), a.Inside, a.Entries
	if a.Where != "" {
		o.Lines.Where = a.Where
	}
	if o.FromTrace = a.By+a.Sum == "" && o.As != "trace" && recorded == "trace"; a.By+a.Sum == "" {
		return nil
	}
	switch {
	case o.UsesValues():
		return cli.Usage("report: it was recorded with --by or --sum already: %s", cmp.Or(a.By, a.Sum))
	case o.As != recorded: // it is told as if nothing was
		return nil
	}
	return o.SetValues(a.By, a.Sum)
}

// checkRecorded refuses options that no script records. They are no wrong usage of report.
func checkRecorded(a *recording.Options) error {
	err := view.CheckFetch("what was asked for", target.FetchLimits{StrLen: cmp.Or(a.StrLen, 1), Items: cmp.Or(a.Items, 1)})
	if err == nil && a.Where != "" {
		_, err = where.Parse(a.Where)
	}
	if err == nil {
		err = new(view.TableFlags).SetValues(a.By, a.Sum)
	}
	if err == nil && !(a.Budget >= 0 && a.Budget < 100) {
		err = fmt.Errorf("a budget of %v percent", a.Budget)
	}
	if err != nil {
		return fmt.Errorf("read recording: %v", err)
	}
	return nil
}

// recordView is a view as far as planning needs one.
func (o *Options) recordView() (view.View, error) {
	mode := uprobe.Latency
	switch as := o.As; {
	case as == "trace":
		return view.NewLines(o.View())
	case as == "count" && o.UsesValues() && !o.Merges:
		mode = uprobe.Entries
	case as == "count":
		mode = uprobe.CountRecorded
	}
	return view.NewTable(o.View(), mode), nil
}

// mostGroups is how many groups of functions a script may disarm by themselves: each has some events, of which
// each takes tens of milliseconds to remove.
const mostGroups = 50

// Script writes the script that records what flags say.
func (o *Options) Script() (err error) {
	v, err := o.recordView()
	if err != nil {
		return err
	}
	r := o.run(v)
	// Of the kernel it will run on nothing is known: it may be one that counts hits of two
	// CPUs as one, so that they are better recorded.
	features := machine.Machine{}.Features()
	features.ExactHits = false
	if o.forKernel != "" {
		if features, err = machine.FeaturesOf(o.forKernel); err != nil {
			return cli.WithStatus(cli.ExitUsage, err)
		}
		if !features.Instances {
			return cli.Usage("script: --kernel %s: scripts record in instances, which uprobes are in since Linux 3.14; "+
				"on such a machine run ftgo itself: ftgo count --force and ftgo trace --entries --force work there", o.forKernel)
		}
	}
	mode := r.request.Probes.Mode
	if mode == uprobe.CountRecorded && features.ExactHits {
		mode = uprobe.Count
	}
	defer o.Progress("reading " + o.Binary)()
	if r.request.Target, err = o.resolve(); err != nil {
		return err
	}
	defer r.request.Target.Binary.Close()
	together := 0
	if o.Budget == nil {
		o.Budget = new(float64)
	} else if *o.Budget > 0 {
		together = (len(r.request.Target.Funcs) + len(r.request.Target.Sites) + mostGroups - 1) / mostGroups
	}
	r.request.Probes = uprobe.Options{Mode: mode, Features: features, Stack: o.Stack, Follow: o.follow, Regroups: together, Progress: o.Doing}
	if err := withStatus(r.request.MakePlan()); err != nil {
		return err
	}
	r.sayApart(o.follow)
	if err := r.checkProbes(r.request.Plan.Probes(), pace(features, nil)); err != nil {
		return err
	}
	text, err := r.script()
	if err != nil {
		return err
	}
	return o.Write(o.Env, []string{o.Binary}, func(out io.Writer) error {
		_, err := io.WriteString(out, text)
		return err
	})
}

// Script is the text of the one that runs the plan.
func (r *run) script() (string, error) {
	var files []recording.File // the binary, and what describes it
	var crc uint32
	for m := r.request.Target.Binary.File(); ; m = m.Described {
		sums, err := m.Checksums()
		if err != nil {
			return "", err
		}
		path, err := filepath.Abs(m.Path())
		if err != nil {
			return "", err
		}
		if files == nil {
			crc = sums.CRC
			if link, err := os.Readlink(path); err == nil && r.Query.BinaryFromPID { // where the process has it, which may have ended by then
				path = strings.TrimSuffix(link, " (deleted)")
			}
		}
		files = append(files, recording.File{Path: path, Size: sums.Size, BuildID: m.BuildID(), SHA256: sums.SHA256})
		if m == m.Described {
			break
		}
	}
	s := recording.Script{
		Title: fmt.Sprintf("Records calls of %s at %s, for ftgo report.\nMade by ftgo %s; sh SCRIPT -h tells more.",
			printable.Plural(len(r.request.Plan.Funcs), "function"), printable.Plural(r.request.Plan.Probes(), "place"), r.Release),
		About: recording.About{
			Made: r.Release, Command: r.As, Options: r.recorded(),
			Binary: files[0],
		},
		Plan: r.request.Plan, CRC: crc, BufferKB: r.BufferKB,
	}
	if len(files) > 1 {
		s.About.Symbols = &files[1]
	}
	for i := range r.request.Plan.Events {
		s.HitNS = append(s.HitNS, pairing.UsualCost.Dearest(&r.request.Plan.Events[i]))
	}
	if r.Duration > 0 {
		s.Seconds = strconv.FormatFloat(r.Duration.Seconds(), 'f', -1, 64)
	}
	return s.Text()
}

// recorded are the options of the plan of a script.
func (r *run) recorded() recording.Options {
	a := recording.Options{
		Patterns: r.Funcs, Regexp: r.Regexp, Exclude: r.Exclude, NoWrappers: !r.Query.Wrappers, Errors: r.Errors, Stack: r.Stack,
		StrLen: r.Fetch.StrLen, Items: r.Fetch.Items, Where: r.Lines.Where, Inside: r.Inside, Entries: r.Lines.Entries, Budget: *r.Budget, Features: r.request.Probes.Features,
		By: r.By.Text, Sum: r.Sum.Text,
	}
	for i := range r.request.Plan.Funcs {
		role := r.request.Target.Roles[r.request.Plan.Funcs[i].Func]
		for _, list := range []struct {
			is bool
			of *[]int
		}{{role.Named, &a.Named}, {role.Wrapper, &a.Wrappers}, {role.Inside, &a.InsideFuncs}, {role.Hidden, &a.OnlyInside}} {
			if list.is {
				*list.of = append(*list.of, i)
			}
		}
	}
	for _, s := range r.request.Plan.Skipped {
		a.Skipped = append(a.Skipped, [2]string{s.Name, s.Err.Error()})
	}
	return a
}
