package trials

import (
	"fmt"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// leastServed is what part of its requests an HTTP server is to serve while top looks at all of its
// functions.
const leastServed = 0.75

// screens compares what an HTTP server serves in a second of CPU time while top looks at every function of
// it with what it serves alone, within the usual budget and without one.
func screens(t *testing.T) {
	const alone, watched = 10, 60 // seconds
	for _, budget := range []string{"25", "0"} {
		s := startSelftimed(t, fixture.Build(t, "selftimed"), "-requests", "http")
		before := s.do("serve", alone)
		served, x := s.probed(watched, "top", "--budget", budget, "*")
		after := s.do("serve", alone)
		s.end()
		part := served.rate() / ((before.rate() + after.rate()) / 2)
		verdict := ""
		if part < leastServed && budget != "0" {
			verdict = ": too few"
			t.Errorf("%.0f%% of the requests are served", 100*part)
		}
		fmt.Printf("top of %d functions, budget %2s%%: %5.0f, then %5.0f, then %5.0f requests a CPU second: %2.0f%%, share %2.0f%%%s\n", x.summary.Functions, budget,
			before.rate(), served.rate(), after.rate(), 100*part, 100*x.summary.Probing.Share, verdict)
	}
}
