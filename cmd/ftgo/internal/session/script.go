package session

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// recordable are the commands that a recording can be for.
var recordable = []string{"probe", "count", "trace"}

var commandForm = cli.OneOf("COMMAND", "command", recordable...)

// Script is the command script.
type Script struct {
	*Options
	kernel string // the kernel release that the script is for, as uname -r prints it
	follow bool   // record go statements
	flags  *cli.Flags
}

// Define defines the flags that select the data to record.
func (s *Script) Define(fs *cli.Flags) {
	s.flags, s.As = fs, "probe"
	cli.Define(fs, &s.As, "as", "", "record for `COMMAND`: probe, count or trace", commandForm)
	fs.StringVar(&s.kernel, "kernel", "", "record on Linux `VERSION`, as uname -r prints it (default 5.4 and later)")
	cli.Define(fs, &s.Duration, "duration", "d", "let the script stop after `SECONDS` by default", cli.Seconds)
	fs.StringVarP(&s.File, "output-file", "w", "", "write the script to `FILE` instead of standard output")
	fs.BoolVar(&s.Force, "force", false, "go on despite patterns that match nothing")
	fs.BoolVarP(&s.Quiet, "quiet", "q", false, "write only errors to standard error")
	fs.BoolVar(&s.Entries, "entries", false, "trace: record only how calls begin")
	fs.BoolVar(&s.follow, "tree", false, "trace: record go statements, for trees")
	cli.Define(fs, &s.Budget, "budget", "", "let the script end if probes take over `PERCENT` of a CPU", percent)
	s.definePlan(fs)
}

// definePlan defines the flags that a recording contains, so that report can make the recording's plan again.
func (o *Options) definePlan(fs *cli.Flags) {
	fs.BoolVar(&o.Errors, "errors", false, "probe: record whether a call's last result was an error")
	cli.Define(fs, &o.Where, "where", "", "trace: record only calls for which `EXPR` is true", view.ConditionForm)
	fs.StringVar(&o.Inside, "inside", "", "trace: record only calls that `FUNC` makes, directly or not")
	cli.Subset("probe, count: ", o.DefineTable, "by", "sum")(fs)
	o.Target.Define(fs)
	o.DefineFetch(fs)
}

// DefineReport defines the flags that say how to show a recording.
func (o *Options) DefineReport(fs *cli.Flags) {
	cli.Define(fs, &o.As, "as", "", "show the output of `COMMAND`: probe, count or trace (default: as recorded)", commandForm)
	fs.StringVarP(&o.tracedPath, "binary", "b", "", "read the traced binary at `PATH` (default where ftgo script read it)")
	fs.IntSliceVarP(&o.PIDs, "pid", "p", nil, "show only process `PID`")
	fs.BoolVar(&o.PerHost, "per-host", false, "show a row for each function of each machine")
	fs.Check(func(command string) error {
		if len(o.PIDs) > 0 && slices.Min(o.PIDs) <= 0 {
			return cli.Usage("%s: -p %d: not a process id", command, slices.Min(o.PIDs))
		}
		return nil
	})
}

// applyRecorded sets the options to those of the script that made the recording. If the recording has flags that script
// never writes, the error has no usage status, because the file is wrong and not the command line.
func (o *Options) applyRecorded(rec *recording.Recording) error {
	was := NewOptions(&cli.Env{})
	if err := cli.ParseGiven("script", rec.Flags, was.definePlan); err != nil {
		return fmt.Errorf("read recording: %v", err)
	}
	switch {
	case o.Where.Source != "" && was.Where.Source != "":
		return cli.Usage("report: --where: it was recorded with one already: %s", was.Where.Source)
	case o.UsesValues() && was.UsesValues():
		return cli.Usage("report: it was recorded with --by or --sum already: %s", cmp.Or(was.By.Source, was.Sum.Source))
	}
	was.Funcs, was.PIDs, was.Symbols, was.Signatures = rec.Patterns, o.PIDs, o.Symbols, o.Signatures
	o.isReport, o.Force, o.Query = true, true, was.Query
	o.Errors, o.Budget, o.Fetch = was.Errors, new(float64), was.Fetch
	o.Stack, o.Entries = rec.Plan.Stack, rec.Plan.Mode == uprobe.Entries
	if o.UserFilter = was.Where.Source == ""; !o.UserFilter {
		o.Where = was.Where
	}
	if was.UsesValues() && o.As == rec.Command { // report --as another command ignores recorded values
		o.By, o.Sum = was.By, was.Sum
	}
	o.FromTrace = !was.UsesValues() && o.As != "trace" && rec.Command == "trace"
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

// Run writes a shell script that records.
func (s *Script) Run() (err error) {
	r := s.newRun(s.planningView())
	// Without --kernel, the script may run on a kernel whose counters miss hits that happen on two CPUs at once. So the
	// script records the calls and does not read the counters.
	features := tracefs.Machine{}.Features()
	features.ExactHits = false
	if s.kernel != "" {
		if features, err = tracefs.FeaturesOf(s.kernel); err != nil {
			return cli.WithStatus(cli.ExitUsage, err)
		}
		if !features.Instances {
			return cli.Usage("script: --kernel %s: scripts record in instances, which uprobes are in since Linux 3.14; "+
				"on such a machine run ftgo itself: ftgo count --force and ftgo trace --entries --force work there", s.kernel)
		}
	}
	mode := r.request.Probes.Mode
	if mode == uprobe.CountRecorded && features.ExactHits {
		mode = uprobe.Count
	}
	defer s.Progress("reading " + s.Binary)()
	if r.request.Target, err = s.resolve(); err != nil {
		return err
	}
	defer r.request.Target.Binary.Close()
	r.request.Probes = uprobe.Options{Mode: mode, Features: features, Stack: s.Stack, RuntimeProbes: uprobe.RuntimeProbes{Follow: s.follow}}
	if err := withPlanStatus(r.request.MakePlan()); err != nil {
		return err
	}
	r.sayUnfollowed(s.follow)
	if err := r.checkProbes(r.request.Plan.Probes(), features, nil); err != nil {
		return err
	}
	text, err := s.text(r)
	if err != nil {
		return err
	}
	return s.Write(s.Env, []string{s.Binary}, func(out io.Writer) error {
		_, err := io.WriteString(out, text)
		return err
	})
}

// text returns the script of a planned run.
func (s *Script) text(r *run) (string, error) {
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
			if link, err := os.Readlink(path); err == nil && s.Query.BinaryFromPID { // PID may have ended when the script runs, so take the path behind /proc/PID/exe
				path = strings.TrimSuffix(link, " (deleted)")
			}
		}
		files = append(files, recording.File{Path: path, Size: size, BuildID: m.BuildID(), SHA256: sum})
		if m == m.Description {
			break
		}
	}
	plan := r.request.Plan
	out := recording.Script{
		About: recording.About{
			Version: s.Release, Command: s.As, Flags: s.flags.Given(NewOptions(&cli.Env{}).definePlan), Patterns: s.Funcs,
			Binary: files[0], Plan: plan,
		},
		BufferKB: s.BufferKB, Budget: *cmp.Or(s.Budget, new(float64)),
	}
	if len(files) > 1 {
		out.Symbols = &files[1]
	}
	for i := range plan.Events {
		out.HitNS = append(out.HitNS, pairing.UsualCost.Max(&plan.Events[i]))
	}
	if s.Duration > 0 {
		out.Seconds = strconv.FormatFloat(s.Duration.Seconds(), 'f', -1, 64)
	}
	return out.Text()
}
