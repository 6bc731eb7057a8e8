package trials

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// stamp is what a run of a target under a tracer took.
type stamp struct {
	Calls, NS       float64
	Begin, End      int64 // of the calls, nanoseconds since 1970
	launched, ended time.Time
}

// perCall is in nanoseconds.
func (s stamp) perCall() float64 { return s.NS / s.Calls }

// arming is the time from the launch of the tracer to the first call, disarming that from
// the last call to the tracer's end; both in nanoseconds.
func (s stamp) arming() float64    { return float64(s.Begin - s.launched.UnixNano()) }
func (s stamp) disarming() float64 { return float64(s.ended.UnixNano() - s.End) }

// traced runs a tracer that runs a target, or a target alone. The target prints its times as a JSON object, and the tracer
// may have written something before it in the line.
func (b *bench) traced(name string, args ...string) (stamp, error) {
	o, err := b.run(name, args...)
	if err != nil {
		return stamp{}, err
	}
	for line := range strings.Lines(o.stdout) {
		s := stamp{launched: o.launched, ended: o.ended}
		if at := strings.LastIndex(line, `{"`); at >= 0 && json.NewDecoder(strings.NewReader(line[at:])).Decode(&s) == nil && s.NS > 0 {
			return s, nil
		}
	}
	return stamp{}, fmt.Errorf("run %s: the target has not told its times: %.200q%s", name, o.stdout, lastLines(o.stderr))
}

// underFtgo runs a target with what ftgo writes going to a file of no interest.
func (b *bench) underFtgo(args []string, target ...string) (stamp, error) {
	line := append([]string{args[0], "-o", "json", "-w", b.path("data")}, args[1:]...)
	return b.traced(b.ftgo, append(append(line, "--"), target...)...)
}

func (b *bench) underBpftrace(script string, target ...string) (stamp, error) {
	return b.traced(b.bpftrace, "-o", b.path("data"), "-e", script, "-c", strings.Join(target, " "))
}

func (b *bench) underDelve(pattern string, target ...string) (stamp, error) {
	args := []string{"trace", "--exec", target[0], pattern, "--"}
	return b.traced(b.dlv, append(args, target[1:]...)...)
}

// ends is how far inside of a function its calls begin and end where ftgo probes it, in bytes.
func (b *bench) ends(path, function string) (entry, ret uint64) {
	binary, err := offsets.Open(path)
	check(b, err)
	defer binary.Close()
	fn, ok := binary.Lookup(function)
	if !ok {
		b.Fatalf("%s: no function %s", path, function)
	}
	plan, err := uprobe.New(binary, []*offsets.Func{fn}, uprobe.Options{Mode: uprobe.Latency, Features: b.fs.Features()})
	check(b, err)
	for _, event := range plan.Events {
		for _, site := range event.Sites {
			switch inside := site.Addr - plan.Funcs[0].Addr; {
			case site.Func != 0: // goroutines' ends, or recovered panics
			case site.Kind.IsEntry():
				entry = inside
			default:
				ret = inside
			}
		}
	}
	return entry, ret
}

// perfEvents is how this process's definitions in the kernel are named.
var perfEvents = fmt.Sprintf("ftgobench%d", os.Getpid())

// definePerf defines probes with perf probe: one event for each definition, "PLACE ARGS".
// The events' pattern is for -e. remove takes them out; it must be called when nobody uses
// them any more.
func (b *bench) definePerf(binary string, definitions ...string) (pattern string, remove func(*error), err error) {
	group := "probe_" + strings.FieldsFunc(filepath.Base(binary), func(r rune) bool { return r == '.' || r == '-' })[0]
	pattern = group + ":" + perfEvents + "*"
	remove = func(err *error) { // after Ctrl-C, too
		if out, rerr := exec.Command(b.perf, "probe", "-q", "-d", pattern).CombinedOutput(); *err == nil && rerr != nil {
			*err = fmt.Errorf("remove perf's events: %w%s", rerr, lastLines(string(out)))
		}
	}
	args := []string{"probe", "-q", "-x", binary}
	for i, d := range definitions {
		args = append(args, "--add", fmt.Sprintf("%s_%d=%s", perfEvents, i, d))
	}
	if _, err = b.run(b.perf, args...); err != nil {
		remove(&err) // some may be defined
	}
	return pattern, remove, err
}

var (
	perfRecord = []string{"record", "-q", "-B", "-N", "-m", "16M"}
	perfStat   = []string{"stat"}
)

// underPerf runs a target while perf does something with events that it has defined.
func (b *bench) underPerf(args []string, binary string, definitions []string, target ...string) (s stamp, err error) {
	began := time.Now()
	pattern, remove, err := b.definePerf(binary, definitions...)
	if err != nil {
		return stamp{}, err
	}
	line := append(args[:len(args):len(args)], "-e", pattern, "-o", b.path("perf.data"), "-a", "--")
	s, err = b.traced(b.perf, append(line, target...)...)
	remove(&err)
	s.launched, s.ended = began, time.Now()
	return s, err
}
