package trials

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// lastingMinutes is how long export lasts, unless -runs says otherwise.
const lastingMinutes = 60

// lasts has export look at 50,000 events a second for an hour: its memory stays within a twentieth of what it was in the
// first minute, it opens no more files, and its books are the program's, with nothing lost.
func lasts(t *testing.T) {
	const address, grown = "127.0.0.1:8704", 0.05
	const functions, each, tick = 5, 100, 20 * time.Millisecond // a call is two events
	minutes := time.Duration(cmp.Or(*runs, lastingMinutes))
	paced := fixture.Build(t, "paced")
	x := command(t, 2*time.Hour, fixture.Command(t, "cmd/ftgo"), "export", "--listen", address, "--budget", "0", paced, "main.c0?")
	check(t, x.start())
	number := func(page, name string) (sum float64) {
		for _, found := range regexp.MustCompile(`(?m)^`+name+`(?:\{[^}]*\})? (\S+)$`).FindAllStringSubmatch(page, -1) {
			n, err := strconv.ParseFloat(found[1], 64)
			check(t, err)
			sum += n
		}
		return sum
	}
	metrics := "http://" + address + "/metrics"
	awaited(t, func() bool { return number(fetched(metrics), "ftgo_probes") > 0 })
	s := startSelftimed(t, paced, "-threads", "0") // it calls when it is told to
	defer s.end()
	stop, stopped := make(chan struct{}), make(chan struct{})
	var memory []int
	go func() {
		defer close(stopped)
		memory = sampledMemory(x.Process.Pid, time.Second, stop)
	}()
	calls := func(a answer) (sum float64) {
		for _, n := range a.Calls {
			sum += float64(n)
		}
		return sum
	}
	var page string
	var files float64
	for minute := range minutes {
		for began, n := time.Now(), 0; time.Since(began) < time.Minute; n++ {
			for function := range functions {
				s.do(strconv.Itoa(function), each)
			}
			if n%500 == 0 {
				fetched(metrics) // as Prometheus does, each ten seconds
			}
			select {
			case <-interrupted.Done():
				t.Fatal("interrupted")
			case <-time.After(time.Until(began.Add(time.Duration(n+1) * tick))):
			}
		}
		made, at := calls(s.do("tell", 0)), float64(time.Now().UnixNano())/1e9
		awaited(t, func() bool { // what is behind is read first
			page = fetched(metrics)
			return number(page, "ftgo_last_reading_timestamp_seconds") > at
		})
		files = cmp.Or(files, number(page, "process_open_fds"))
		counted, lost, delivered, hits := number(page, "ftgo_function_calls_total"), number(page, "ftgo_hits_lost_total"), number(page, "ftgo_hits_delivered_total"), number(page, "ftgo_hits_total")
		fmt.Printf("minute %2d: %.0f calls of %.0f; %.0f hits, %.0f lost; %.0f files; %.0f kB\n", minute+1, counted, made, hits, lost, number(page, "process_open_fds"), number(page, "process_resident_memory_bytes")/1024)
		if counted != made {
			t.Errorf("%.0f calls, and the program has made %.0f", counted, made)
		}
		if delivered+lost != hits || lost > 0 {
			t.Errorf("%.0f delivered, %.0f lost, of %.0f", delivered, lost, hits)
		}
		if now := number(page, "process_open_fds"); now > files+5 { // connections
			t.Errorf("%.0f files are open, and were %.0f", now, files)
		}
	}
	close(stop)
	<-stopped
	most := func(kB []int) float64 { return float64(slices.Max(kB)) }
	if len(memory) < 120 {
		t.Fatalf("%d samples of memory", len(memory))
	}
	first, last := most(memory[:60]), most(memory[len(memory)-60:])
	fmt.Printf("memory: at most %.0f kB in the first minute, %.0f kB in the last: %+.1f%%\n", first, last, 100*(last/first-1))
	if math.Abs(last/first-1) > grown {
		t.Errorf("memory: %.0f kB, and then %.0f", first, last)
	}
	check(t, x.signal(syscall.SIGTERM))
	if o, err := x.wait(); err != nil {
		t.Errorf("%v: %s", err, o.stderr)
	}
}
