package trials

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// paces are workloads of testdata/paced, and what ftgo is to look at. They are those of the model in
// internal/rate.
var paces = []struct {
	paced, funcs string
}{
	{"10", "main.c0?"},
	{"1e3", "main.c0?"},
	{"1e4", "main.c0?"},
	{"1e5", "main.c0?"},
	{"1e6", "main.c0?"},
	{"10 30 100 300 1e3 3e3 1e4 3e4 1e5 3e5", "main.*"},
	{"3e3x100", "main.c*"},
	{"3e4x100", "main.c*"},
	{"1e6", "*"},
	{"-after 5s 1e6 100", "main.*"},
	{"-after 5s 1e6", "*"},
	{"-every 1s 1e6 100", "main.*"},
	{"-every 5s 1e6 100", "main.*"},
	{"-every 3s 3e5", "*"},
	{"-threads 8 1e6", "main.c0?"},
	{"-threads 8 10 30 100 300 1e3 3e3 1e4 3e4 1e5 3e5", "main.*"},
	{"-threads 8 1e6", "*"},
	{"-threads 8 -after 5s 1e6 100", "main.*"},
	{"-threads 8 -every 2s 1e6 100", "main.*"},
	{"-threads 8 1e4x100", "main.c*"},
}

// How long a workload is left alone before and after, how long it is probed, and what of that does not
// count, in seconds.
const (
	pacedAlone   = 3.0
	pacedProbed  = 12.0
	pacedAllowed = 0.3
)

// budgets compares what programs do in a second of CPU time with what they do while ftgo probes them within
// a budget: the loss is to be no more than one and a half times that.
func budgets(t *testing.T) {
	for _, percent := range []int{1, 5, 25} {
		held, tried := 0, 0
		for _, p := range paces {
			t.Run(fmt.Sprintf("%d%%, %s, of %s", percent, p.funcs, p.paced), func(t *testing.T) {
				tried++
				loss, told := lossOf(t, percent, p.funcs, strings.Fields(p.paced)...)
				verdict := ": too much"
				if loss <= 1.5*float64(percent) {
					verdict = ""
					held++
				}
				fmt.Printf("%2d%%  %-8s  %-52s  loss %5.2f%%, share %5.2f%%%s\n", percent, p.funcs, "paced "+p.paced, loss, told, verdict)
			})
		}
		if tried > 0 {
			fmt.Printf("budget of %d%%: %d of %d hold\n", percent, held, tried)
		}
		if held < tried {
			t.Errorf("with a budget of %d%% only %d of %d hold", percent, held, tried)
		}
	}
}

// lossOf is what a workload loses, in percent, and what share probes are said to have taken.
func lossOf(t *testing.T, percent int, funcs string, args ...string) (loss, share float64) {
	s := startSelftimed(t, fixture.Build(t, "paced"), args...)
	defer s.end()
	// rate is what it does in a second of CPU time, from now on.
	rate := func(seconds float64) float64 {
		from := s.do("tell", 0)
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		until := s.do("tell", 0)
		return (until.Requests - from.Requests) / (until.CPU - from.CPU)
	}
	alone := rate(pacedAlone)
	x := newTracer(t, time.Minute, fixture.Command(t, "cmd/ftgo"), "probe", "-p", strconv.Itoa(s.pid), "--budget", strconv.Itoa(percent), funcs)
	check(t, x.begin())
	check(t, x.ready())
	time.Sleep(time.Duration(pacedAllowed * float64(time.Second)))
	probed := rate(pacedProbed)
	check(t, x.signal(syscall.SIGINT))
	_, err := x.end()
	check(t, err)
	alone = (alone + rate(pacedAlone)) / 2
	return 100 * (1 - probed/alone), 100 * x.summary.Probing.Share
}
