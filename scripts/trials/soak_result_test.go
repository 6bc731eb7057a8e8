package trials

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// result is what the tests of a package did in a mode.
type result struct {
	Package, Mode, Commit string
	Run                   string // the tests that it is about, as of -test.run; "" for all
	Functions, Probes     uint64
	Hits, Delivered, Lost uint64
	// Tests are those that ended without probes.
	Tests int
	// Same are those that ended under probes as they did without, subtests included.
	Same int
	// Slow are those that did not end within their share of the budget, Unreached those that were
	// not run since it was spent; each with subtests, whose tests the names are.
	Slow, Unreached           int
	SlowNames, UnreachedNames []string
	// Differ are those that ended otherwise.
	Differ []difference
	// Crash is the end of what the program said when it ended in no way that tests end.
	Crash            string
	Seconds, Without float64 // with probes, and without
	Unbalanced       string  // why the books don't balance
	Memory           string  // how much ftgo had, in a long run
}

// difference is a test that did not end as it did without probes.
type difference struct {
	Test, Without, With string
	// Again is how it ended in a second run under probes; Slowed without probes, stopped most of
	// the time.
	Again, Slowed string
}

// explained: it is the slowness, not the probes.
func (d *difference) explained() bool { return d.Again == d.Without || d.Slowed == d.With }

func (d *difference) text() string {
	why := "**not explained**"
	switch {
	case d.Again == d.Without:
		why = "ends as without probes when run again"
	case d.Slowed == d.With:
		why = "also without probes, in a process that is stopped 15/16 of the time"
	}
	return fmt.Sprintf("%s: %s instead of %s: %s", d.Test, d.With, d.Without, why)
}

// bad: the probes have done something to the program, or ftgo has miscounted.
func (r *result) bad() bool {
	for i := range r.Differ {
		if !r.Differ[i].explained() {
			return true
		}
	}
	return r.Crash != "" || r.Unbalanced != ""
}

func (r *result) text() string {
	text := fmt.Sprintf("%d of %d tests the same, %d differ, %d too slow, %d not reached; %d hits, %d lost, %d probes; %.1f s, %.1f s without",
		r.Same, r.Tests, len(r.Differ), r.Slow, r.Unreached, r.Hits, r.Lost, r.Probes, r.Seconds, r.Without)
	if r.Memory != "" {
		text += "; memory: " + r.Memory
	}
	if r.Crash != "" {
		text += "; CRASH:\n" + r.Crash
	}
	if r.Unbalanced != "" {
		text += "; " + r.Unbalanced
	}
	return text
}

func (s *soak) file(r *result) string {
	return filepath.Join(s.state, strings.ReplaceAll(r.Package, "/", "-")+"."+r.Mode+".json")
}

// done tells whether there is a result, and reads it.
func (s *soak) done(r *result) bool {
	b, err := os.ReadFile(s.file(r))
	return err == nil && json.Unmarshal(b, r) == nil
}

func (s *soak) save(r *result) {
	b, err := json.MarshalIndent(r, "", "\t")
	check(s, err)
	check(s, os.WriteFile(s.file(r), append(b, '\n'), 0o644))
}

// add adds what ftgo has counted in a run, whose books must balance.
func (r *result) add(sum row) {
	r.Functions, r.Probes = sum.Functions, sum.Probes
	r.Hits, r.Delivered, r.Lost = sum.Hits, sum.Delivered, sum.Lost
	if sum.Hits != sum.Delivered+sum.Lost || sum.Unparsed > 0 {
		r.Unbalanced = fmt.Sprintf("%d hits, but %d delivered and %d lost, %d unparsed", sum.Hits, sum.Delivered, sum.Lost, sum.Unparsed)
	}
}
