package trials

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// result is what the tests of a package did in a mode.
type result struct {
	Package, Mode, Commit string
	Run                   string // the tests that it is about, as of -test.run; "" for all
	Functions, Probes     uint64
	Hits, Delivered, Lost uint64
	Tests                 int      // with their subtests, that ended without probes
	Same                  int      // of those, how many ended with probes as without
	Uncompared            []string // tests that were too slow for the budget
	Differ                []difference
	Crash                 string  // the end of the output of a program that ended in a way in which tests do not end
	Seconds, Without      float64 // with probes, and without
	Unbalanced            string  // why the books don't balance
	Memory                string  // ftgo's, in a long run
}

// difference is a test that did not end as it did without probes.
type difference struct {
	Test, Without, With string
	// Again is how it ended in a second run with probes; Slowed without probes, in a process that was stopped most of the time.
	Again, Slowed string
}

// explained reports that the slowness makes the difference, not the probes.
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

// bad reports that the probes changed what the program does, or that ftgo miscounted.
func (r *result) bad() bool {
	return r.Crash != "" || r.Unbalanced != "" || slices.ContainsFunc(r.Differ, func(d difference) bool { return !d.explained() })
}

// file is where a result is kept.
func (s *soak) file(r *result) string {
	return filepath.Join(s.state, strings.ReplaceAll(r.Package, "/", "-")+"."+r.Mode+".json")
}

// add adds what ftgo has counted in a run, whose books must balance.
func (r *result) add(sum row) {
	r.Functions, r.Probes = sum.Functions, sum.Probes
	r.Hits, r.Delivered, r.Lost = sum.Hits, sum.Delivered, sum.Lost
	if sum.Hits != sum.Delivered+sum.Lost || sum.Unparsed > 0 {
		r.Unbalanced = fmt.Sprintf("%d hits, but %d delivered and %d lost, %d unparsed", sum.Hits, sum.Delivered, sum.Lost, sum.Unparsed)
	}
}

// balance notes what is wrong with the books, unless something is already.
func (r *result) balance(right bool, format string, args ...any) {
	if r.Unbalanced == "" && !right {
		r.Unbalanced = fmt.Sprintf(format, args...)
	}
}

// writePage writes all results that are kept, and returns how many are bad.
func (s *soak) writePage(name string) (bad int) {
	files, err := filepath.Glob(filepath.Join(s.state, "*.*.json"))
	check(s, err)
	var results []*result
	var commits []string
	for _, file := range files {
		b, err := os.ReadFile(file)
		check(s, err)
		r := new(result)
		check(s, json.Unmarshal(b, r))
		if r.bad() {
			bad++
		}
		results = append(results, r)
		commits = append(commits, r.Commit)
	}
	slices.Sort(commits)
	slices.SortStableFunc(results, func(a, b *result) int { return strings.Compare(a.Mode+" "+a.Package, b.Mode+" "+b.Package) })
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	check(s, err)
	about, _, _ := strings.Cut(proseOf(s, "soak.md"), "\ngo1")
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s, Linux %s, ftgo %s.\n", about, runtime.Version(), strings.TrimSpace(string(release)), strings.Join(slices.Compact(commits), ", "))
	b.WriteString("\n| program | mode | tests | the same | differ | not compared | functions | probes | hits | lost | seconds | without |\n" +
		"|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	var all result
	differ, uncompared := 0, 0
	for _, r := range results {
		verdict := ""
		if r.Run != "" {
			verdict = " (`" + r.Run + "`)"
		}
		if r.bad() {
			verdict += " **bad**"
		}
		fmt.Fprintf(&b, "| %s%s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %.1f | %.1f |\n", r.Package, verdict, r.Mode, r.Tests, r.Same,
			len(r.Differ), len(r.Uncompared), r.Functions, r.Probes, r.Hits, r.Lost, r.Seconds, r.Without)
		all.Tests, all.Same, all.Hits = all.Tests+r.Tests, all.Same+r.Same, all.Hits+r.Hits
		differ, uncompared = differ+len(r.Differ), uncompared+len(r.Uncompared)
	}
	fmt.Fprintf(&b, "| all | | %d | %d | %d | %d | | | %d | | | |\n", all.Tests, all.Same, differ, uncompared, all.Hits)
	notes(&b, "Crashes and wrong books", results, func(r *result) []string { return []string{strings.ReplaceAll(r.Crash, "\n", "\n  "), r.Unbalanced} })
	notes(&b, "Tests that end otherwise", results, func(r *result) (lines []string) {
		for i := range r.Differ {
			lines = append(lines, r.Differ[i].text())
		}
		return lines
	})
	notes(&b, "Memory", results, func(r *result) []string { return []string{r.Memory} })
	notes(&b, "Not compared", results, func(r *result) []string { return []string{strings.Join(r.Uncompared, ", ")} })
	check(s, os.WriteFile(name, []byte(b.String()), 0o644))
	return bad
}

// notes writes what the table has no room for.
func notes(b *strings.Builder, title string, results []*result, lines func(*result) []string) {
	title = "\n## " + title + "\n\n"
	for _, r := range results {
		for _, line := range lines(r) {
			if line != "" {
				fmt.Fprintf(b, "%s* %s, %s: %s\n", title, r.Package, r.Mode, line)
				title = ""
			}
		}
	}
}
