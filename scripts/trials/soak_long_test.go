package trials

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// long has a program call as fast as it can for a while: ftgo's memory must not grow, and its
// books must be the program's.
func (s *soak) long(each time.Duration) {
	for _, mode := range modes("probe,trace,trace --slow 500ms,export") {
		if mode == "export" {
			s.each(result{Package: fmt.Sprintf("testdata/greet started %d times a minute for %v", startsPerMinute, each), Mode: mode, Tests: 1}, func(s *soak, r *result) { s.starts(r, each) })
			continue
		}
		if strings.Contains(mode, "--slow") {
			s.each(result{Package: "testdata/spawn for " + each.String(), Mode: mode, Tests: 1}, func(s *soak, r *result) { s.slow(r, each) })
			continue
		}
		s.each(result{Package: "testdata/flood for " + each.String(), Mode: mode, Tests: 1}, func(s *soak, r *result) { s.flood(r, each) })
	}
}

// flood runs ftgo and compares its numbers with those of the program, which prints its own.
func (s *soak) flood(r *result, each time.Duration) {
	flood := fixture.Build(s, "flood")
	x := newTracer(s, each+time.Hour, s.ftgo, append(strings.Fields(r.Mode), flood, "main.leaf", "main.framed", "--", flood, "-for", each.String())...)
	o, flat, ok := s.lasting(r, x, each)
	if !ok {
		return
	}
	var counted uint64
	for _, f := range x.functions {
		counted += f.Calls
	}
	var books struct {
		Functions map[string]struct{ Calls uint64 }
	}
	check(s, json.Unmarshal([]byte(o.stdout), &books))
	switch made := 2 * books.Functions["main.leaf"].Calls; {
	case strings.HasPrefix(r.Mode, "probe") && counted != made:
		r.Unbalanced = fmt.Sprintf("%d calls, but the program made %d", counted, made)
	case !flat:
		r.Unbalanced = "memory is not flat: " + r.Memory
	case r.Unbalanced == "":
		r.Same = 1
	}
}

// slow has a program answer requests, one in a thousand of which rests: those have trees, and only
// those.
func (s *soak) slow(r *result, each time.Duration) {
	const every = 1000
	spawn := fixture.Build(s, "spawn")
	x := newTracer(s, each+time.Hour, s.ftgo, append(strings.Fields(r.Mode), spawn, "main.handle", "main.part", "main.leaf", "main.deep", "main.rest", "--",
		spawn, "-for", each.String(), "-pause", "1ms", "-slow", strconv.Itoa(every), "-sleep", "1s")...)
	o, flat, ok := s.lasting(r, x, each)
	if !ok {
		return
	}
	var books struct{ Requests int }
	check(s, json.Unmarshal([]byte(o.stdout), &books))
	switch rested := (books.Requests + every - 1) / every; {
	case x.trees != rested:
		r.Unbalanced = fmt.Sprintf("%d trees, but %d requests of %d were slow", x.trees, rested, books.Requests)
	case !flat:
		r.Unbalanced = "memory is not flat: " + r.Memory
	case r.Unbalanced == "":
		r.Same = 1
	}
}

// startsPerMinute is how often export sees its program start.
const startsPerMinute = 200

// starts has a position-independent program started again and again beside export, as scripts do: whatever is kept of
// a process that has ended adds up. Memory is to grow by no more than a fiftieth, and each call is to be counted.
func (s *soak) starts(r *result, each time.Duration) {
	const calls, grown = 3, 0.02
	greet := fixture.Build(s, "greet", "-buildmode=pie")
	x := command(s, each+time.Hour, s.ftgo, "export", "--listen", exportAt, greet, "main.*")
	check(s, x.start())
	awaited(s.T, func() bool { return exported("ftgo_probes") > 0 })
	memory := sampling(x.Process.Pid, each/300)
	began, made := time.Now(), 0
	for ; time.Since(began) < each && interrupted.Err() == nil; made++ {
		check(s, exec.Command(greet, "-n", strconv.Itoa(calls)).Run())
		if made%(startsPerMinute/6) == 0 {
			exported("ftgo_probes") // as Prometheus asks, each ten seconds
		}
		time.Sleep(time.Until(began.Add(time.Duration(made+1) * time.Minute / startsPerMinute)))
	}
	second, last := thirds(memory())
	counted := func() float64 { return exported(`ftgo_function_calls_total{function="main.add"}`) }
	for range 50 { // what is behind is read first
		if counted() >= float64(calls*made) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	r.Memory = fmt.Sprintf("at most %d kB in the second third of the time, %d kB in the last", second, last)
	r.Functions, r.Probes = 2, uint64(exported("ftgo_probes"))
	r.Hits, r.Delivered, r.Lost = uint64(exported("ftgo_hits_total")), uint64(exported("ftgo_hits_delivered_total")), uint64(exported("ftgo_hits_lost_total"))
	r.Seconds, r.Without = time.Since(began).Seconds(), each.Seconds()
	unparsed := exported("ftgo_unparsed_total")
	switch n := counted(); {
	case r.Hits != r.Delivered+r.Lost || unparsed > 0:
		r.Unbalanced = fmt.Sprintf("%d hits, but %d delivered and %d lost, %.0f unparsed", r.Hits, r.Delivered, r.Lost, unparsed)
	case n != float64(calls*made):
		r.Unbalanced = fmt.Sprintf("%.0f calls, but %d were made by %d processes", n, calls*made, made)
	case float64(last) > (1+grown)*float64(second):
		r.Unbalanced = "memory is not flat: " + r.Memory
	default:
		r.Same = 1
	}
	check(s, x.signal(syscall.SIGTERM))
	if _, err := x.wait(); err != nil {
		r.Crash = err.Error()
	}
}

// lasting runs ftgo, and tells whether its memory was flat; ok is false if it did not end well.
func (s *soak) lasting(r *result, x *tracer, each time.Duration) (o outcome, isFlat, ok bool) {
	check(s, x.begin())
	memory := sampling(x.Process.Pid, each/100)
	o, err := x.end()
	second, last := thirds(memory())
	r.Seconds, r.Without = o.ended.Sub(o.launched).Seconds(), each.Seconds()
	r.Memory = fmt.Sprintf("at most %d kB in the second third of the time, %d kB in the last", second, last)
	if err != nil {
		r.Crash = err.Error()
		return o, false, false
	}
	r.add(x.summary)
	return o, flat(second, last), true
}

// sampling samples a process's memory until samples are asked for.
func sampling(pid int, every time.Duration) (samples func() []int) {
	stop, memory := make(chan struct{}), make(chan []int, 1)
	go func() { memory <- sampledMemory(pid, every, stop) }()
	return func() []int {
		close(stop)
		return <-memory
	}
}

// sampledMemory are samples of a process's resident memory, in kB, until it ends or stop is closed.
func sampledMemory(pid int, every time.Duration, stop chan struct{}) (kB []int) {
	for {
		select {
		case <-stop:
			return kB
		case <-time.After(every):
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			return kB
		}
		if _, after, ok := strings.Cut(string(b), "VmRSS:"); ok {
			n, _ := strconv.Atoi(strings.Fields(after)[0])
			kB = append(kB, n)
		}
	}
}

// thirds are the most there was in the second third of the samples, and in the last: 0 if nothing was seen.
func thirds(kB []int) (second, last int) {
	third := len(kB) / 3
	if third == 0 {
		return 0, 0
	}
	return slices.Max(kB[third : 2*third]), slices.Max(kB[2*third:])
}

// flat: memory has grown by little more than a tenth.
func flat(second, last int) bool {
	return second > 0 && last <= second+second/10+slack
}

// slack is how much more memory, in kB, there may be for a while: the garbage collector's.
const slack = 8 << 10

func TestFlat(t *testing.T) {
	for _, c := range []struct {
		second, last int
		want         bool
	}{
		{20 << 10, 20 << 10, true},
		{20 << 10, 30 << 10, true},
		{20 << 10, 31 << 10, false},
		{200 << 10, 220 << 10, true},
		{200 << 10, 230 << 10, false},
		{0, 0, false},
	} {
		if got := flat(c.second, c.last); got != c.want {
			t.Errorf("%d kB, then %d: flat %v", c.second, c.last, got)
		}
	}
	if second, last := thirds([]int{90, 1, 2, 3, 5, 4, 7}); second != 3 || last != 7 {
		t.Errorf("most of the second third %d, of the last %d, want 3 and 7", second, last)
	}
}

// exportAt is where export serves while programs start.
const exportAt = "127.0.0.1:8705"

// awaited waits until something is so.
func awaited(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it does not come to that within a minute")
		}
	}
}

// exported is the value of a metric, 0 if nobody answers.
func exported(metric string) float64 {
	body, _ := get("http://" + exportAt + "/metrics")
	for line := range strings.Lines(string(body)) {
		if text, ok := strings.CutPrefix(line, metric+" "); ok {
			value, _ := strconv.ParseFloat(strings.TrimSpace(text), 64)
			return value
		}
	}
	return 0
}
