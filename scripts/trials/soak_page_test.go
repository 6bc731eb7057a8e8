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

const about = `# Soak

Real programs with probes on every function that they have, made by ` + "`scripts/soak`" + `:

* the tests (` + "`-short`" + `) of packages of the standard library, which must end as they do without
  probes, test by test, subtests included. Each is run in a process of its own without probes; those that were
  quickest then come first with probes, as many in one process as it takes for processes to start in half of the
  time, until the package's budget is spent. ` + "`probe`" + ` is
  ` + "`ftgo probe --budget 0 BINARY '*'`" + `: entries and returns of everything, the runtime included;
  ` + "`count`" + ` is ` + "`ftgo count BINARY '*'`" + `. Children that tests start are probed, too.
* cmd/go and cmd/compile, which must build the same bytes;
* testdata/flood, which calls as fast as it can: memory must be flat, and ftgo's numbers the program's own.
* testdata/greet, position-independent, started 200 times a minute beside ` + "`ftgo export`" + `: memory in the last third of the time
  is at most 2% above that in the second, and each call is counted.
* hostile files (testdata/hostile), damaged ones and those that claim more than they hold: sparse, overlapping,
  compressed. ` + "`list`" + ` and one of the ` + "`--dry-run`" + `s and ` + "`script`" + ` by turns, each in a process of its own under ` + "`ulimit -v`" + ` of
  1 GiB, must end by themselves within 2 s of processor time. Nothing is probed.

In every row hits = delivered + lost. A test that took longer than its share of the time is *too slow*: it was not
compared, but it ran. Both those and the ones that were not reached are named below the table, and counted in it with
their subtests.

`

// writePage writes all results there are, and tells how many are bad.
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
		if !slices.Contains(commits, r.Commit) {
			commits = append(commits, r.Commit)
		}
	}
	slices.SortStableFunc(results, func(a, b *result) int {
		return strings.Compare(a.Mode+" "+a.Package, b.Mode+" "+b.Package)
	})
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	check(s, err)
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s, Linux %s, ftgo %s.\n", about, runtime.Version(), strings.TrimSpace(string(release)), strings.Join(commits, ", "))
	table(&b, results)
	notes(&b, results)
	check(s, os.WriteFile(name, []byte(b.String()), 0o644))
	return bad
}

func table(b *strings.Builder, results []*result) {
	b.WriteString("\n| program | mode | tests | the same | differ | too slow | not reached | functions | probes | hits | lost | seconds | without |\n" +
		"|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	var tests, same, differ, slow, unreached int
	var hits uint64
	for _, r := range results {
		verdict := ""
		if r.Run != "" {
			verdict = " (some)"
		}
		if r.bad() {
			verdict += " **bad**"
		}
		fmt.Fprintf(b, "| %s%s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %d | %.1f | %.1f |\n", r.Package, verdict, r.Mode, r.Tests, r.Same,
			len(r.Differ), r.Slow, r.Unreached, r.Functions, r.Probes, r.Hits, r.Lost, r.Seconds, r.Without)
		tests, same, differ, hits = tests+r.Tests, same+r.Same, differ+len(r.Differ), hits+r.Hits
		slow, unreached = slow+r.Slow, unreached+r.Unreached
	}
	fmt.Fprintf(b, "| all | | %d | %d | %d | %d | %d | | | %d | | | |\n", tests, same, differ, slow, unreached, hits)
}

// notes are what the table has no room for.
func notes(b *strings.Builder, results []*result) {
	for _, section := range []struct {
		title string
		lines func(*result) []string
	}{
		{"Crashes and wrong books", func(r *result) []string {
			return append(noted("\n\n```\n%s\n```\n", r.Crash), noted("%s", r.Unbalanced)...)
		}},
		{"Tests that end otherwise", func(r *result) (lines []string) {
			for i := range r.Differ {
				lines = append(lines, r.Differ[i].text())
			}
			return lines
		}},
		{"Some of the tests", func(r *result) []string { return noted("`-test.run '%s'`", r.Run) }},
		{"Memory", func(r *result) []string { return noted("%s", r.Memory) }},
		{"Too slow", func(r *result) []string { return noted("%s", strings.Join(r.SlowNames, ", ")) }},
		{"Not reached", func(r *result) []string { return noted("%s", strings.Join(r.UnreachedNames, ", ")) }},
	} {
		title := fmt.Sprintf("\n## %s\n\n", section.title)
		for _, r := range results {
			for _, line := range section.lines(r) {
				fmt.Fprintf(b, "%s* %s, %s: %s\n", title, r.Package, r.Mode, line)
				title = ""
			}
		}
	}
}

// noted is a line that says something, or none if there is nothing to say.
func noted(format, text string) []string {
	if text == "" {
		return nil
	}
	return []string{fmt.Sprintf(format, text)}
}
