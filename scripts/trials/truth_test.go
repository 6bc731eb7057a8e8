package trials

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

var runs = flag.Int("runs", 0, "run so often (default: latency 20, out 3, estimates 3, cost 1; toolchains 5)")

// TestTrialTruth compares ftgo's numbers with what programs find out about themselves:
// see scripts/truth.
func TestTrialTruth(t *testing.T) {
	tracetest.Kernel(t)
	t.Run("latency", latencies)
	t.Run("cost", shares)
	t.Run("estimates", estimates)
	t.Run("out", outs)
}

// selftimed is a testdata/selftimed that runs, or a testdata/paced.
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
	Calls    []uint64 // of each function, by a testdata/paced
	Rows     []tallyRow
}

// rate is the number of requests served per second of CPU time.
func (a answer) rate() float64 { return a.Requests / a.CPU }

// since is the same between two answers.
func (a answer) since(b answer) float64 { return (a.Requests - b.Requests) / (a.CPU - b.CPU) }

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
