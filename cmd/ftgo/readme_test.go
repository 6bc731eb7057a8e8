package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

func readme(t *testing.T) string {
	t.Helper()
	return readFile(t, filepath.Join(fixture.Root(), "README.md"))
}

// tryCommands returns the two indented lines of README's section "Try it".
func tryCommands(t *testing.T) []string {
	t.Helper()
	_, section, ok := strings.Cut(readme(t), "\n## Try it\n")
	if !ok {
		t.Fatal("README has no section \"Try it\"")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var cmds []string
	for line := range strings.Lines(section) {
		if cmd, ok := strings.CutPrefix(line, "    "); ok {
			cmds = append(cmds, strings.TrimSpace(cmd))
		}
	}
	if len(cmds) != 2 {
		t.Fatalf("%d commands: %q", len(cmds), cmds)
	}
	return cmds
}

// TestKernelReadmeDemo runs the README's first command as it stands, in a copy of what
// is committed or about to be.
func TestKernelReadmeDemo(t *testing.T) {
	tracetest.LongKernel(t) // it builds everything anew
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("the command is %q: %v", tryCommands(t)[0], err)
	}
	dir := t.TempDir()
	list := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard")
	list.Dir = fixture.Root()
	out, err := list.Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	for name := range strings.Lines(string(out)) {
		name = strings.TrimSpace(name)
		noError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755))
		copyFile(t, filepath.Join(fixture.Root(), name), filepath.Join(dir, name))
	}
	cmd := exec.Command("sh", "-c", tryCommands(t)[0])
	cmd.Dir = dir
	b, err := cmd.CombinedOutput()
	if err != nil || !regexp.MustCompile(`main\.fib +1395 `).Match(b) {
		t.Errorf("%s: %v\n%s", cmd, err, b)
	}
}

// TestCIRunsTheReadme: what CI runs is the README's second command, on a kernel that
// can be probed.
func TestCIRunsTheReadme(t *testing.T) {
	b := readFile(t, filepath.Join(fixture.Root(), ".ci", "run"))
	lines := strings.Split(strings.TrimSpace(b), "\n")
	// It runs the long tests, too, which take longer than go test allows by itself.
	if got, want := strings.ReplaceAll(lines[len(lines)-1], "-timeout 40m ", ""), tryCommands(t)[1]; got != want {
		t.Errorf(".ci/run ends with %q, the README says %q", got, want)
	}
	for _, want := range []string{"export FTGO_TEST_KERNEL=require", "export " + fixture.LongVar + "=1"} {
		if !slices.Contains(lines, want) {
			t.Errorf(".ci/run has no line %q", want)
		}
	}
}

// TestReadmeIsShort limits README, which is an introduction. What needs more words belongs into docs.
func TestReadmeIsShort(t *testing.T) {
	text := readme(t)
	if lines, words := strings.Count(text, "\n"), len(strings.Fields(text)); lines > 110 || words > 1000 {
		t.Errorf("README has %d lines and %d words, more than 110 and 1000", lines, words)
	}
}

// TestReadmeKnowsTheCommands compares README's table of commands with those of the program, and the guide's exit
// statuses with those that the code has.
func TestReadmeKnowsTheCommands(t *testing.T) {
	text := readme(t)
	for _, c := range allCommands() {
		if c.Name != "help" && c.Name != "version" && !strings.Contains(text, "| `ftgo "+c.Name) {
			t.Errorf("README has no row for ftgo %s", c.Name)
		}
	}
	for m := range strings.SplitSeq(text, "| `ftgo ") {
		name, _, _ := strings.Cut(m, " ")
		name, _, _ = strings.Cut(name, "`")
		if cli.Find(allCommands(), name) == nil && !strings.HasPrefix(m, "# ftgo") {
			t.Errorf("README has a row for ftgo %s", name)
		}
	}
	guide := readFile(t, filepath.Join(fixture.Root(), "docs", "guide.md"))
	for _, row := range []string{
		"| 0 | done", "| 1 | failed", "| 2 | wrong usage", "| 3 | nothing matched", "| 4 | the kernel", "| 5 | more events lost", "| 6 | the condition",
	} {
		if !strings.Contains(guide, row) {
			t.Errorf("docs/guide.md has no row %q", row)
		}
	}
}
