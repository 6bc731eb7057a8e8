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
