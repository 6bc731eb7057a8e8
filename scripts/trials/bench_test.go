package trials

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// sections each measure one thing and write of it. They are in an order that keeps this process
// small for the first: what a child of it is said to have used of memory is at least what this
// process has.
var sections = []struct {
	name, title string
	measure     func(*bench)
}{
	{"plan", "Planning", (*bench).planning},
	{"cost", "What a call costs the program", (*bench).costs},
	{"filter", "A filter that lets through one call in 10,000", (*bench).filters},
	{"arm", "Arming and disarming", (*bench).arming},
	{"split", "Arming by the number of sites", (*bench).splits},
	{"read", "Reading", (*bench).reading},
	{"parse", "Parsing", (*bench).parsing},
}

// Benchmark measures what limits a tracer: what a hit costs the program, how long arming and
// disarming take, how many events a second reach the user, how big a binary can be. It runs ftgo and
// its peers on the same programs, in turn, several rounds (-benchtime), and writes a page with medians
// and ratios. -short is less of everything, within two minutes: to see that it works. scripts/bench
// runs it.
func Benchmark(b *testing.B) {
	if *page == "" {
		b.Skip("scripts/bench runs it")
	}
	b.Setenv("BPFTRACE_MAX_PROBES", "100000")
	r := &report{fs: tracetest.Kernel(b), ftgo: fixture.Command(b, "cmd/ftgo"), hot: fixture.Build(b, "hot")}
	r.findPeers(b)
	for _, s := range sections {
		ok := b.Run(s.name, func(b *testing.B) {
			fmt.Fprintf(&r.body, "\n## %s\n\n", s.title)
			s.measure(&bench{b, r})
			r.rounds = b.N
		})
		if !ok {
			return
		}
	}
	text := strings.ReplaceAll(r.preface()+r.body.String(), fixture.Dir(b)+"/", "")
	check(b, os.WriteFile(rooted(*page), []byte(text), 0o644))
}

// report is what was measured so far, and what all sections need.
type report struct {
	fs        *tracefs.FS
	ftgo, hot string
	peers
	rounds int
	body   bytes.Buffer
	checks []verdict
}

// bench is one section.
type bench struct {
	*testing.B
	*report
}

// childLimit is for a child that should take a second.
const childLimit = 3 * time.Minute

// run runs a program to its end.
func (b *bench) run(name string, args ...string) (outcome, error) {
	return command(b, childLimit, name, args...).run()
}

// path is where something is written meanwhile.
func (b *bench) path(name string) string { return filepath.Join(fixture.Dir(b), name) }

// pick is full, or less of it in a quick run.
func pick[T any](full, quick T) T {
	if testing.Short() {
		return quick
	}
	return full
}

// task measures once, and adds what it finds to a grid.
type task struct {
	row, col string
	ours     bool // must not fail
	once     bool // in the first round only: it takes too long
	run      func() error
}

// turns has all tasks have their turn, each round. Where one fails, the grid tells why instead.
func (b *bench) turns(g *grid, tasks []task) {
	for round := 0; b.Loop(); round++ {
		for _, t := range tasks {
			if g.refused[g.at(t.row, t.col)] != "" || t.once && round > 0 {
				continue
			}
			err := t.run()
			check(b, interrupted.Err())
			switch {
			case err != nil && t.ours:
				b.Fatal(err)
			case err != nil:
				g.refuse(t.row, t.col, err)
			}
		}
	}
}
