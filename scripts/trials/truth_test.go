package trials

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

var runs = flag.Int("runs", 0, "run so often (default: latency 20, estimates 3, cost 1; toolchains 5)")

// TestTrialTruth compares ftgo's numbers with what programs find out about themselves:
// see scripts/truth.
func TestTrialTruth(t *testing.T) {
	tracetest.Kernel(t)
	t.Run("latency", latencies)
	t.Run("cost", shares)
	t.Run("estimates", estimates)
}

// selftimed is a testdata/selftimed that runs, or a testdata/tally.
type selftimed struct {
	*child
	t     *testing.T
	in    io.WriteCloser
	out   *bufio.Scanner
	pid   int
	begun answer // the first
}

// answer is what it answers.
type answer struct {
	PID      int
	Requests float64
	CPU      float64 // in seconds
	Median   []int64
	Rows     []tallyRow // by a testdata/tally
}

// rate is the number of requests served per second of CPU time.
func (a answer) rate() float64 { return a.Requests / a.CPU }

func startSelftimed(t *testing.T, file string, args ...string) *selftimed {
	s := &selftimed{t: t, child: command(t, 2*time.Hour, file, args...)}
	var err error
	s.in, err = s.StdinPipe()
	check(t, err)
	s.Stdout = nil
	out, err := s.StdoutPipe()
	check(t, err)
	s.out = bufio.NewScanner(out)
	check(t, s.start())
	a, err := s.answer()
	check(t, err)
	s.pid, s.begun = a.PID, a
	return s
}

func (s *selftimed) answer() (a answer, err error) {
	if !s.out.Scan() {
		return a, fmt.Errorf("selftimed has ended: %v", s.out.Err())
	}
	return a, json.Unmarshal(s.out.Bytes(), &a)
}

// do has it do something for so many seconds.
func (s *selftimed) do(what string, seconds float64) answer {
	a, err := s.told(what, seconds)
	check(s.t, err)
	return a
}

func (s *selftimed) told(what string, seconds float64) (answer, error) {
	if _, err := fmt.Fprintln(s.in, what, seconds); err != nil {
		return answer{}, err
	}
	return s.answer()
}

func (s *selftimed) end() {
	s.in.Close()
	_, _ = s.wait()
}

// probed has ftgo look at it for so many seconds, while it serves requests.
func (s *selftimed) probed(seconds float64, args ...string) (served answer, x *tracer) {
	line := append([]string{args[0], "--budget", "0", "-d", fmt.Sprintf("%gs", seconds), "-p", strconv.Itoa(s.pid)}, args[1:]...)
	x = newTracer(s.t, 2*time.Minute, fixture.Command(s.t, "cmd/ftgo"), line...)
	check(s.t, x.begin())
	check(s.t, x.ready())
	served = s.do("serve", seconds-0.1)
	_, err := x.end()
	check(s.t, err)
	return served, x
}

// load keeps all CPUs busy until it is told to end.
func load(t *testing.T) (end func()) {
	var loops []*child
	for range runtime.NumCPU() {
		c := command(t, time.Hour, "sh", "-c", "while :; do :; done")
		check(t, c.start())
		loops = append(loops, c)
	}
	return func() {
		for _, c := range loops {
			c.kill()
		}
	}
}

// functions is how many the target has.
const functions = 30

// latencies compares the bounds of medians with those that the program measures before and
// after, which differ, too.
func latencies(t *testing.T) {
	n := cmp.Or(*runs, 20)
	all, within := n*functions, 0
	for run := range n {
		end, how := func() {}, "idle"
		if run%2 == 1 {
			end, how = load(t), "loaded"
		}
		right, raw := latency(t)
		end()
		within += right
		fmt.Printf("run %d, %s: %d of %d functions' medians are within their bounds, %d were shown raw\n", run+1, how, right, functions, raw)
	}
	fmt.Printf("%.1f%% of %d are within\n", 100*float64(within)/float64(all), all)
	if within*100 < all*95 {
		t.Error("less than 95% are")
	}
}

func latency(t *testing.T) (within, raw int) {
	file := fixture.Build(t, "selftimed")
	s := startSelftimed(t, file)
	defer s.end()
	var truth [functions][]int64
	learn := func(a answer) {
		for f, ns := range a.Median {
			truth[f] = append(truth[f], ns)
		}
	}
	measure := func() {
		for range 3 {
			learn(s.do("time", 1))
		}
	}
	measure()
	// Other programs may be busier meanwhile than before and after: a copy, of which ftgo
	// knows nothing, tells. A file of its own has no probes.
	twinFile := filepath.Join(t.TempDir(), "twin")
	text, err := os.ReadFile(file)
	check(t, err)
	check(t, os.WriteFile(twinFile, text, 0o755))
	twin := startSelftimed(t, twinFile)
	defer twin.end()
	var meanwhile answer
	told := make(chan error, 1)
	go func() {
		var err error
		meanwhile, err = twin.told("time", 2.5)
		told <- err
	}()
	_, x := s.probed(2.5, "probe", "--budget", "0", "main.f??")
	check(t, <-told)
	learn(meanwhile)
	measure()
	for f := range truth {
		name := fmt.Sprintf("main.f%d%d", f/5, f%5)
		row := x.functions[name]
		least, most := slices.Min(truth[f]), slices.Max(truth[f])
		if row.Raw {
			raw++
		}
		if most >= row.Low.P50 && least <= row.High.P50 {
			within++
		} else {
			fmt.Printf("  %s takes %d to %d ns, is said to take %d to %d (%d, raw %v)\n", name, least, most, row.Low.P50, row.High.P50, row.NS.P50, row.Raw)
		}
	}
	return within, raw
}

// workloads are what the program serves, and what ftgo does meanwhile.
var workloads = []struct {
	requests string
	ftgo     []string
}{
	{"all", []string{"probe", "--budget", "0", "main.f??"}},
	{"all", []string{"probe", "--budget", "0", "main.f?0"}},
	{"all", []string{"count", "main.f??"}},
	{"short", []string{"probe", "--budget", "0", "main.f5?"}},
	{"short", []string{"probe", "--budget", "0", "main.f3?"}},
	{"short", []string{"count", "main.f4?"}},
	{"short", []string{"trace", "main.f40(w.timed)"}},
	{"http", []string{"count", "*"}},
	{"http", []string{"count", "net/http.*"}},
	{"http", []string{"probe", "--budget", "0", "net/http.*"}},
}

// shares compares the share of time that probes are said to take with the requests that are
// not served for them.
func shares(t *testing.T) {
	const seconds = 1.5
	off := 0
	for range max(*runs, 1) {
		for _, w := range workloads {
			s := startSelftimed(t, fixture.Build(t, "selftimed"), "-requests", w.requests)
			before := s.do("serve", seconds)
			probed, x := s.probed(seconds+0.1, w.ftgo...)
			after := s.do("serve", seconds)
			s.end()
			// Other programs on the machine take their share of the time, but not of the
			// program's CPU time.
			loss, share := 1-probed.rate()/((before.rate()+after.rate())/2), x.summary.Probing.Share
			verdict := ""
			if math.Abs(share-loss) > loss/4 {
				off++
				verdict = ": off"
			}
			fmt.Printf("%-5s  ftgo %-41s  %5.0f, then %5.0f, then %5.0f requests a CPU second (%.2f, %.2f, %.2f CPUs): loss %2.0f%%, share %2.0f%%%s\n", w.requests, strings.Join(w.ftgo, " "),
				before.rate(), probed.rate(), after.rate(), before.CPU/seconds, probed.CPU/seconds, after.CPU/seconds, 100*loss, 100*share, verdict)
		}
	}
	if off > 0 {
		t.Errorf("%d of %d differ by more than a quarter", off, max(*runs, 1)*len(workloads))
	}
}
