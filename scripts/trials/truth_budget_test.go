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
// internal/budget.
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

// morePairs is how many more pairs of stretches, probed and alone, are compared where one says too much: it
// may be wrong by 2% of what the program does, and their mean by less than one.
const morePairs = 6

// budgets compares what programs do in a second of CPU time with what they do while ftgo probes them within
// a budget: the loss is to be no more than one and a half times that, and what probes are said to have taken.
func budgets(t *testing.T) {
	for _, percent := range []int{1, 5, 25} {
		held, tried, limit := 0, 0, 1.5*float64(percent)
		for _, p := range paces {
			t.Run(fmt.Sprintf("%d%%, %s, of %s", percent, p.funcs, p.paced), func(t *testing.T) {
				tried++
				loss, told := lossOf(t, percent, p.funcs, strings.Fields(p.paced)...)
				pairs := 1
				if loss > limit || told > limit {
					for range morePairs {
						l, s := lossOf(t, percent, p.funcs, strings.Fields(p.paced)...)
						loss, told = loss+l, told+s
					}
					pairs += morePairs
					loss, told = loss/float64(pairs), told/float64(pairs)
				}
				verdict := ": too much"
				if loss <= limit && told <= limit {
					verdict = ""
					held++
				}
				fmt.Printf("%2d%%  %-8s  %-52s  loss %5.2f%%, share %5.2f%%, mean of %d%s\n", percent, p.funcs, "paced "+p.paced, loss, told, pairs, verdict)
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
		return until.since(from)
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

// turning are workloads of which a function turns hot after 5 s, and what ftgo is to look at.
var turning = []struct {
	paced, funcs string
}{
	{"-after 5s 1e6 100", "main.*"},
	{"-after 5s 1e6", "*"},
	{"-threads 8 -after 5s 1e6 100", "main.*"},
	{"-after 5s 1e6 3e3x99", "main.*"},
}

// outs measures how long it takes until what turns hot is not probed any more: from then on the program does at
// least nine tenths of what it does alone in a second of CPU time, for a tenth of a second.
func outs(t *testing.T) {
	const limit, window, stretch, long = 0.3, 20 * time.Millisecond, 100 * time.Millisecond, 2 * time.Second
	for range max(*runs, 3) {
		for _, p := range turning {
			s := startSelftimed(t, fixture.Build(t, "paced"), strings.Fields(p.paced)...)
			x := newTracer(t, time.Minute, fixture.Command(t, "cmd/ftgo"), "probe", "-p", strconv.Itoa(s.pid), "--budget", "5", p.funcs)
			check(t, x.begin())
			check(t, x.ready())
			var at []time.Time
			var did []answer
			turned := -1
			for turned < 0 || time.Since(at[turned]) < long {
				at, did = append(at, time.Now()), append(did, s.do("tell", 0))
				if n := len(did) - 1; turned < 0 && did[n].Calls[0] > 0 {
					turned = n
				}
				time.Sleep(window)
			}
			check(t, x.signal(syscall.SIGINT))
			_, err := x.end()
			check(t, err)
			from := s.do("tell", 0)
			time.Sleep(time.Second)
			until := s.do("tell", 0)
			s.end()
			alone := until.since(from)
			out := long.Seconds()
			for i, j := turned, turned; j < len(did) && out == long.Seconds(); i++ {
				for j < len(did) && at[j].Sub(at[i]) < stretch {
					j++
				}
				if j < len(did) && did[j].since(did[i]) > 0.9*alone {
					out = at[i].Sub(at[turned]).Seconds()
				}
			}
			verdict := ""
			if out > limit {
				verdict = ": too late"
				t.Errorf("out after %.2f s", out)
			}
			fmt.Printf("%-8s  %-36s  out after %.2f s%s\n", p.funcs, "paced "+p.paced, out, verdict)
		}
	}
}
