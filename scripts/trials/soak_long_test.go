package trials

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// long has a program call as fast as it can for a while: ftgo's memory must not grow, and its
// books must be the program's.
func (s *soak) long(each time.Duration) {
	for _, mode := range modes("probe,trace,trace --slow 500ms,export") {
		what, run := "testdata/flood for "+each.String(), (*soak).flood
		switch {
		case mode == "export":
			what, run = fmt.Sprintf("testdata/greet started %d times a minute for %v", startsPerMinute, each), (*soak).starts
		case strings.Contains(mode, "--slow"):
			what, run = "testdata/spawn for "+each.String(), (*soak).slow
		}
		s.each(result{Package: what, Mode: mode, Tests: 1}, func(s *soak, r *result) {
			r.Without = each.Seconds()
			if run(s, r, each); r.Crash == "" && r.Unbalanced == "" {
				r.Same = 1
			}
		})
	}
}

// flood compares ftgo's numbers with those of the program, which prints its own.
func (s *soak) flood(r *result, each time.Duration) {
	var books struct {
		Functions map[string]struct{ Calls uint64 }
	}
	x := s.lasting(r, each, &books, "flood", "main.leaf", "main.framed", "--", "-for", each.String())
	var counted uint64
	for _, f := range x.functions {
		counted += f.Calls
	}
	made := 2 * books.Functions["main.leaf"].Calls
	r.balance(!strings.HasPrefix(r.Mode, "probe") || counted == made, "%d calls, but the program made %d", counted, made)
}

// slow has a program answer requests, one in a thousand of which rests: those have trees, and only
// those.
func (s *soak) slow(r *result, each time.Duration) {
	const every = 1000
	var books struct{ Requests int }
	x := s.lasting(r, each, &books, "spawn", "main.handle", "main.part", "main.leaf", "main.deep", "main.rest", "--",
		"-for", each.String(), "-pause", "1ms", "-slow", strconv.Itoa(every), "-sleep", "1s")
	rested := (books.Requests + every - 1) / every
	r.balance(x.trees == rested, "%d trees, but %d requests of %d were slow", x.trees, rested, books.Requests)
}

// lasting runs ftgo with a program of testdata, whose books it reads. Memory may grow by little more than a tenth: the
// garbage collector needs some more for a while.
func (s *soak) lasting(r *result, each time.Duration, books any, program string, args ...string) *tracer {
	path := fixture.Build(s, program)
	after := slices.Index(args, "--") + 1
	x := newTracer(s, each+time.Hour, s.ftgo, slices.Concat(strings.Fields(r.Mode), []string{path}, args[:after], []string{path}, args[after:])...)
	check(s, x.begin())
	memory := sampleMemory(x.Process.Pid, each/100)
	o, err := x.end()
	r.Seconds = o.ended.Sub(o.launched).Seconds()
	memory(r, 0.1, 8<<10)
	if err != nil {
		r.Crash = err.Error()
		return x
	}
	r.add(x.summary)
	check(s, json.Unmarshal([]byte(o.stdout), books))
	return x
}

// startsPerMinute is how often export sees its program start.
const startsPerMinute = 200

// starts has a position-independent program started again and again beside export, as scripts do: whatever is kept of
// a process that has ended adds up. Memory is to grow by no more than a fiftieth, and each call is to be counted.
func (s *soak) starts(r *result, each time.Duration) {
	const calls = 3
	greet := fixture.Build(s, "greet", "-buildmode=pie")
	x := command(s, each+time.Hour, s.ftgo, "export", "--listen", exportAt, greet, "main.*")
	check(s, x.start())
	for exported("ftgo_probes") == 0 {
		check(s, x.ctx.Err())
		time.Sleep(10 * time.Millisecond)
	}
	memory := sampleMemory(x.Process.Pid, each/300)
	began, made := time.Now(), 0
	for ; time.Since(began) < each && interrupted.Err() == nil; made++ {
		check(s, exec.Command(greet, "-n", strconv.Itoa(calls)).Run())
		if made%(startsPerMinute/6) == 0 {
			exported("ftgo_probes") // as Prometheus asks, each ten seconds
		}
		time.Sleep(time.Until(began.Add(time.Duration(made+1) * time.Minute / startsPerMinute)))
	}
	memory(r, 0.02, 0)
	time.Sleep(5 * time.Second) // export reads what is behind
	sum := row{Functions: 2, Probes: exported("ftgo_probes"), Hits: exported("ftgo_hits_total"), Delivered: exported("ftgo_hits_delivered_total"),
		Lost: exported("ftgo_hits_lost_total"), Unparsed: exported("ftgo_unparsed_total")}
	r.Seconds = time.Since(began).Seconds()
	r.add(sum)
	n := exported(`ftgo_function_calls_total{function="main.add"}`)
	r.balance(n == uint64(calls*made), "%d calls, but %d were made by %d processes", n, calls*made, made)
	check(s, x.signal(syscall.SIGTERM))
	if _, err := x.wait(); err != nil {
		r.Crash = err.Error()
	}
}

// sampleMemory samples a process's resident memory. The result ends that and notes the most of the second third of the
// time and of the last, which may be more by a share and by some kB.
func sampleMemory(pid int, every time.Duration) (end func(r *result, share float64, more int)) {
	stop, samples := make(chan struct{}), make(chan []int, 1)
	go func() {
		var kB []int
		defer func() { samples <- kB }()
		for {
			select {
			case <-stop:
				return
			case <-time.After(every):
			}
			b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
			if err != nil {
				return
			}
			if _, after, ok := strings.Cut(string(b), "VmRSS:"); ok {
				n, _ := strconv.Atoi(strings.Fields(after)[0])
				kB = append(kB, n)
			}
		}
	}()
	return func(r *result, share float64, more int) {
		close(stop)
		kB := <-samples
		third := len(kB) / 3
		if third == 0 {
			r.balance(false, "no memory was seen")
			return
		}
		second, last := slices.Max(kB[third:2*third]), slices.Max(kB[2*third:])
		r.Memory = fmt.Sprintf("at most %d kB in the second third of the time, %d kB in the last", second, last)
		r.balance(last <= second+int(share*float64(second))+more, "memory is not flat: %s", r.Memory)
	}
}

// exportAt is where export serves while programs start.
const exportAt = "127.0.0.1:8705"

// exported returns the value of a metric, 0 if there is no answer.
func exported(metric string) uint64 {
	answer, err := http.Get("http://" + exportAt + "/metrics")
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	for line := range strings.Lines(string(body)) {
		if text, ok := strings.CutPrefix(line, metric+" "); ok {
			value, _ := strconv.ParseFloat(strings.TrimSpace(text), 64)
			return uint64(value)
		}
	}
	return 0
}
