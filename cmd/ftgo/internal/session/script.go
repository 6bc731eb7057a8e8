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
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// recordable are the commands that a recording can be for.
var recordable = []string{"probe", "count", "trace"}

var commandForm = cli.OneOf("COMMAND", "command", recordable...)

// DefineScript defines the flags that select the data to record.
func (o *Options) DefineScript(fs *cli.Flags) {
	o.As = "probe"
	cli.Define(fs, &o.As, "as", "", "record for `COMMAND`: probe, count or trace", commandForm)
	fs.StringVar(&o.forKernel, "kernel", "", "record on Linux `VERSION`, as uname -r prints it (default 5.4 and later)")
	cli.Define(fs, &o.Duration, "duration", "d", "let the script stop after `SECONDS` by default", cli.Seconds)
	fs.StringVarP(&o.File, "output-file", "w", "", "write the script to `FILE` instead of standard output")
	fs.BoolVar(&o.Force, "force", false, "go on despite patterns that match nothing")
	fs.BoolVarP(&o.Quiet, "quiet", "q", false, "write only errors to standard error")
	fs.BoolVar(&o.Errors, "errors", false, "probe: record whether a call's last result was an error")
	cli.Define(fs, &o.Where, "where", "", "trace: record only calls for which `EXPR` is true", view.ConditionForm)
	fs.StringVar(&o.Inside, "inside", "", "trace: record only calls that `FUNC` makes, directly or not")
	fs.BoolVar(&o.Entries, "entries", false, "trace: record only how calls begin")
	cli.Define(fs, &o.Budget, "budget", "", "let the script disarm functions beyond `PERCENT` of a CPU", percent)
	fs.BoolVar(&o.follow, "tree", false, "trace: record go statements, for trees")
	cli.Subset("probe, count: ", o.DefineTable, "by", "sum")(fs)
}

// DefineReport defines the flags that say how to show a recording.
func (o *Options) DefineReport(fs *cli.Flags) {
	cli.Define(fs, &o.As, "as", "", "show the output of `COMMAND`: probe, count or trace (default: as recorded)", commandForm)
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

// applyRecorded sets the options to those of the script that made the recording. recorded is the command that the script
// was written for. If the recording has options that script never writes, the error has no usage status, because the file
// is wrong and not the command line.
func (o *Options) applyRecorded(a *recording.Options, recorded string) error {
	var was view.Options
	was.Fetch.StrLen, was.Fetch.Items = cmp.Or(a.StrLen, 1), cmp.Or(a.Items, 1)
	err := cmp.Or(view.CheckFetch("what was asked for", was.Fetch), was.SetExpressions(a.Where, a.By, a.Sum))
	if err == nil && !(a.Budget >= 0 && a.Budget < 100) {
		err = fmt.Errorf("a budget of %v percent", a.Budget)
	}
	switch {
	case err != nil:
		return fmt.Errorf("read recording: %v", err)
	case o.Where.Text != "" && a.Where != "":
		return cli.Usage("report: --where: it was recorded with one already: %s", a.Where)
	case o.UsesValues() && was.UsesValues():
		return cli.Usage("report: it was recorded with --by or --sum already: %s", cmp.Or(a.By, a.Sum))
	}
	o.isReport, o.UserFilter = true, a.Where == ""
	o.Funcs, o.Regexp, o.Exclude, o.Wrappers, o.Errors, o.Stack, o.Force = a.Patterns, a.Regexp, a.Exclude, !a.NoWrappers, a.Errors, a.Stack, true
	o.Budget, o.Fetch, o.Inside, o.Entries = &a.Budget, was.Fetch, a.Inside, a.Entries
	if a.Where != "" {
		o.Where = was.Where
	}
	if was.UsesValues() && o.As == recorded { // report --as another command ignores recorded values
		o.By, o.Sum = was.By, was.Sum
	}
	o.FromTrace = !was.UsesValues() && o.As != "trace" && recorded == "trace"
	return nil
}

// planningView returns a view with the needs of the command to record for.
func (o *Options) planningView() view.View {
	mode := uprobe.Latency
	switch as := o.As; {
	case as == "trace":
		return view.NewLines(o.View())
	case as == "count" && o.UsesValues() && !o.Merges:
		mode = uprobe.Entries
	case as == "count":
		mode = uprobe.CountRecorded
	}
	return view.NewTable(o.View(), mode)
}

// maxGroups limits the groups of functions that a script can disarm. Each group has its own events, and each event
// takes tens of milliseconds to remove.
const maxGroups = 50

// Script writes a shell script that records.
func (o *Options) Script() (err error) {
	r := o.newRun(o.planningView())
	// Without --kernel, the script may run on a kernel whose counters miss hits that happen on two CPUs at once. So the
	// script records the calls and does not read the counters.
	features := tracefs.Machine{}.Features()
	features.ExactHits = false
	if o.forKernel != "" {
		if features, err = tracefs.FeaturesOf(o.forKernel); err != nil {
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
	groupSize := 0
	if o.Budget == nil {
		o.Budget = new(float64)
	} else if *o.Budget > 0 {
		groupSize = (len(r.request.Target.Funcs) + len(r.request.Target.Sites) + maxGroups - 1) / maxGroups
	}
	r.request.Probes = uprobe.Options{Mode: mode, Features: features, Stack: o.Stack, Follow: o.follow, GroupSize: groupSize, Progress: o.SetProgress}
	if err := withPlanStatus(r.request.MakePlan()); err != nil {
		return err
	}
	r.sayUnfollowed(o.follow)
	if err := r.checkProbes(r.request.Plan.Probes(), features, nil); err != nil {
		return err
	}
	text, err := r.scriptText()
	if err != nil {
		return err
	}
	return o.Write(o.Env, []string{o.Binary}, func(out io.Writer) error {
		_, err := io.WriteString(out, text)
		return err
	})
}

func (r *run) scriptText() (string, error) {
	var files []recording.File // the binary, and its symbol file
	for m := r.request.Target.Binary.File(); ; m = m.Description {
		size, sum, err := m.Checksum()
		if err != nil {
			return "", err
		}
		path, err := filepath.Abs(m.Path())
		if err != nil {
			return "", err
		}
		if files == nil {
			if link, err := os.Readlink(path); err == nil && r.Query.BinaryFromPID { // PID may have ended when the script runs, so take the path behind /proc/PID/exe
				path = strings.TrimSuffix(link, " (deleted)")
			}
		}
		files = append(files, recording.File{Path: path, Size: size, BuildID: m.BuildID(), SHA256: sum})
		if m == m.Description {
			break
		}
	}
	s := recording.Script{
		Title: fmt.Sprintf("Records calls of %s at %s, for ftgo report.\nMade by ftgo %s; sh SCRIPT -h shows its usage.",
			printable.Plural(len(r.request.Plan.Funcs), "function"), printable.Plural(r.request.Plan.Probes(), "place"), r.Release),
		About: recording.About{
			Version: r.Release, Command: r.As, Options: r.recordedOptions(),
			Binary: files[0],
		},
		Plan: r.request.Plan, BufferKB: r.BufferKB,
	}
	if len(files) > 1 {
		s.About.Symbols = &files[1]
	}
	for i := range r.request.Plan.Events {
		s.HitNS = append(s.HitNS, pairing.UsualCost.Max(&r.request.Plan.Events[i]))
	}
	if r.Duration > 0 {
		s.Seconds = strconv.FormatFloat(r.Duration.Seconds(), 'f', -1, 64)
	}
	return s.Text()
}

func (r *run) recordedOptions() recording.Options {
	a := recording.Options{
		Patterns: r.Funcs, Regexp: r.Regexp, Exclude: r.Exclude, NoWrappers: !r.Query.Wrappers, Errors: r.Errors, Stack: r.Stack,
		StrLen: r.Fetch.StrLen, Items: r.Fetch.Items, Where: r.Where.Text, Inside: r.Inside, Entries: r.Entries, Budget: *r.Budget, Features: r.request.Probes.Features,
		By: r.By.Text, Sum: r.Sum.Text,
	}
	for i := range r.request.Plan.Funcs {
		role := r.request.Plan.Funcs[i].Role
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
