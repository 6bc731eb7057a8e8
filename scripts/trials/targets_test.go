package trials

import (
	"flag"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestTrialTargets makes the kept targets of kernel tests (FTGO_TEST_TARGETS) for other processors,
// which its arguments are, by their GOARCH.
func TestTrialTargets(t *testing.T) {
	for _, goarch := range flag.Args() {
		t.Run(goarch, func(t *testing.T) { fixture.Again(t, goarch) })
	}
}
