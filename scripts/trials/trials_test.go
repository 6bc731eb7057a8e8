// Package trials has what runs ftgo on other programs for long, or goes by the clock: benchmarks,
// soaks, comparisons with what programs know of themselves, and the page of kernels. Scripts beside
// it run each; plain go test runs none.
package trials

import (
	"context"
	"flag"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// trialVar is the environment variable by which scripts say that they run a trial.
const trialVar = "FTGO_TRIAL"

// interrupted is done when somebody wants the end: what was started is ended by it, and nothing
// remains in the kernel.
var interrupted context.Context

// page is where a trial writes the page that it makes.
var page = flag.String("o", "", "write the page to `FILE`")

func TestMain(m *testing.M) {
	flag.Parse()
	var stop func()
	interrupted, stop = signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if os.Getenv(trialVar) == "" {
		_ = flag.Set("test.skip", "^TestTrial")
	}
	fixture.Main(m)
}

// rooted is a path relative to the module, as those in flags are.
func rooted(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(fixture.Root(), path)
}

// proseOf returns a page of docs/dev up to its first table: what a trial leaves as it is when it rewrites the page.
func proseOf(tb testing.TB, name string) string {
	text, err := os.ReadFile(filepath.Join(fixture.Root(), "docs", "dev", name))
	check(tb, err)
	prose, _, _ := strings.Cut(string(text), "\n| ")
	return prose + "\n"
}

// check ends the test by an error.
func check(tb testing.TB, err error) {
	if err != nil {
		tb.Helper()
		tb.Fatal(err)
	}
}
