package trials

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// measuredWith is where the words of docs/dev/soak.md end, and what is measured begins.
var measuredWith = regexp.MustCompile(`(?m)^go\S+, Linux `)

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
	before, err := os.ReadFile(rooted("docs/dev/soak.md"))
	check(s, err)
	about := before[:measuredWith.FindIndex(before)[0]]
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
