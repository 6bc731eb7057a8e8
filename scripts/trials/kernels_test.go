package trials

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestTrialKernels writes docs/dev/kernels.md, or docs/dev/kernels-arm64.md, from what the kernel tests have
// said. Its arguments are the name of the page, and of each kernel
// ABOUT=FILE, where FILE has lines of "go tool test2json", and ABOUT may be empty.
func TestTrialKernels(t *testing.T) {
	var runs []*kernelRun
	for _, arg := range flag.Args()[1:] {
		about, name, ok := strings.Cut(arg, "=")
		if !ok {
			t.Fatalf("parse %q: not ABOUT=FILE", arg)
		}
		r := &kernelRun{about: about, results: make(map[string]string), reasons: make(map[string]string)}
		check(t, r.read(rooted(name)))
		runs = append(runs, r)
		if failed := r.with("FAIL"); len(failed) > 0 {
			fmt.Fprintf(os.Stderr, "kernel-matrix: %s: failed: %s\n", r.kernel, strings.Join(failed, ", "))
		}
	}
	check(t, os.WriteFile(rooted(*page), []byte(kernelPage(proseOf(t, flag.Arg(0)), runs)), 0o644))
}

// event is a line of test2json (go doc test2json).
type event struct{ Action, Package, Test, Output string }

// kernelRun is the tests on one kernel.
type kernelRun struct {
	kernel, features string
	about            string // whose kernel it is, and how it was built
	// results are what became of tests, the last time that they ran; reasons what they said last.
	results, reasons map[string]string
}

// with are the tests that had a result.
func (r *kernelRun) with(result string) []string {
	var tests []string
	for test, got := range r.results {
		if got == result {
			tests = append(tests, test)
		}
	}
	slices.Sort(tests)
	return tests
}

// said is what a test logs: "    file_test.go:12: text".
var said = regexp.MustCompile(`^ +[a-z_0-9]+\.go:\d+: (.*)\n$`)

func (r *kernelRun) read(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("parse %s: %q: %w", name, lines.Text(), err)
		}
		r.add(e)
	}
	if r.kernel == "" {
		return fmt.Errorf("read %s: no test says which kernel it is", name)
	}
	return lines.Err()
}

// kernelEnded matches the line at the end of a test: "--- PASS: TestKernelFlood (12.02s)".
var kernelEnded = regexp.MustCompile(`^ *--- (PASS|FAIL|SKIP): (\S+) \(`)

// add adds a line of output. It ignores the actions at the ends of tests: if a guest ends early, test2json reports a pass
// for the running test.
func (r *kernelRun) add(e event) {
	switch {
	case e.Test == "":
	case e.Action == "run" && !strings.Contains(e.Test, "/"):
		r.results[e.Test] = "FAIL"
	case e.Action != "output":
	case kernelEnded.MatchString(e.Output):
		m := kernelEnded.FindStringSubmatch(e.Output)
		if m[1] == "SKIP" || !strings.Contains(m[2], "/") { // else its parent tells
			r.results[m[2]] = m[1]
		}
	default:
		r.said(e)
	}
}

// said reads the kernel, its features and reasons from the log of a test.
func (r *kernelRun) said(e event) {
	m := said.FindStringSubmatch(e.Output)
	if m == nil {
		return
	}
	if text, ok := strings.CutPrefix(m[1], "kernel: "); ok {
		r.kernel = text
	} else if text, ok := strings.CutPrefix(m[1], "features: "); ok {
		r.features = text
	}
	r.reasons[e.Test] = m[1]
}

// kernelPage is a page of the kernels: the prose of the present one, with today's date, and new tables.
func kernelPage(prose string, runs []*kernelRun) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n| kernel | passed | failed | skipped | features found that ftgo uses |\n|---|---|---|---|---|\n",
		regexp.MustCompile(`\d{4}-\d\d-\d\d`).ReplaceAllString(prose, time.Now().UTC().Format(time.DateOnly)))
	for _, r := range runs {
		failed := "none"
		if tests := r.with("FAIL"); len(tests) > 0 {
			failed = "**" + strings.Join(tests, ", ") + "**"
		}
		name := r.kernel
		if r.about != "" {
			name += ", " + r.about
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %d | %s |\n", name, len(r.with("PASS")), failed, len(r.with("SKIP")), r.features)
	}
	if only := os.Getenv("FTGO_MATRIX_RUN"); only != "" {
		fmt.Fprintf(&b, "\nThis run was limited to `%s`.\n", only)
	}
	if not := os.Getenv("FTGO_MATRIX_SKIP"); not != "" {
		fmt.Fprintf(&b, "\nThis run skipped `%s`.\n", not)
	}
	if not := os.Getenv("FTGO_MATRIX_ELSEWHERE"); not != "" && not != "^$" {
		fmt.Fprintf(&b, "\nNot run under QEMU, because these tests depend little on the kernel, or take too long on an emulated CPU: `%s`.\nUnder QEMU the tests compare the parts of calls' times (--sched), but do not require that they match, because the host takes an emulated\nCPU away at any moment.\n", not)
	}
	b.WriteString("\n## Skipped\n\n| tests | on | why |\n|---|---|---|\n")
	b.WriteString(skips(runs))
	b.WriteString("\n## Passed\n\n")
	b.WriteString(passes(runs))
	return b.String()
}

// skips is one row a reason, and the kernels that have it.
func skips(runs []*kernelRun) string {
	where := make(map[[2]string][]string)
	for _, r := range runs {
		for _, test := range r.with("SKIP") {
			key := [2]string{test, r.reasons[test]}
			where[key] = append(where[key], short(r.kernel))
		}
	}
	tests := make(map[[2]string][]string)
	for key, kernels := range where {
		row := [2]string{strings.Join(kernels, ", "), strings.ReplaceAll(key[1], "|", `\|`)}
		tests[row] = append(tests[row], key[0])
	}
	var rows []string
	for row, names := range tests {
		slices.Sort(names)
		rows = append(rows, fmt.Sprintf("| %s | %s | %s |\n", strings.Join(names, ", "), row[0], row[1]))
	}
	slices.Sort(rows)
	return strings.Join(rows, "")
}

// passes returns the tests that passed on all kernels that did not skip them, and the tests that passed on some kernels.
func passes(runs []*kernelRun) string {
	on, skipped := make(map[string][]string), make(map[string]int)
	for _, r := range runs {
		for _, test := range r.with("PASS") {
			on[test] = append(on[test], short(r.kernel))
		}
		for _, test := range r.with("SKIP") {
			skipped[test]++
		}
	}
	var all, some []string
	for test, kernels := range on {
		if len(kernels)+skipped[test] == len(runs) {
			all = append(all, test)
		} else {
			some = append(some, fmt.Sprintf("* %s: %s\n", test, strings.Join(kernels, ", ")))
		}
	}
	slices.Sort(all)
	slices.Sort(some)
	return "Passed on every kernel that does not skip it: " + strings.Join(all, ", ") + ".\n\n" + strings.Join(some, "")
}

// short returns a release without Debian's suffix.
func short(kernel string) string {
	release, _, _ := strings.Cut(kernel, "-")
	if parts := strings.SplitN(release, ".", 3); len(parts) > 2 {
		return parts[0] + "." + parts[1]
	}
	return release
}
