package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/tracefs/tracetest"
)

// example is a command of docs/examples and what it is said to print.
type example struct{ command, output string }

// examplesIn reads indented blocks: "$ COMMAND", and its output below.
func examplesIn(text string) (examples []example) {
	for line := range strings.Lines(text) {
		block, ok := strings.CutPrefix(line, "    ")
		switch command, isCommand := strings.CutPrefix(block, "$ "); {
		case !ok:
		case isCommand:
			examples = append(examples, example{command: strings.TrimSpace(command)})
		case len(examples) > 0:
			examples[len(examples)-1].output += block
		}
	}
	return examples
}

// changing is what differs from run to run: times, rates, counts at a moment, and the
// blanks that align them.
var changing = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d{6}`),
	regexp.MustCompile(`[0-9.]+(ns|µs|ms|s)\b`),
	regexp.MustCompile(`\+[0-9.]+/s`),
	regexp.MustCompile(`counter = \d+(  T)?`),
	regexp.MustCompile(`goroutine \d+`),
	regexp.MustCompile(`1009 +[0-9.]+`),
}

func masked(text string) string {
	for _, re := range changing {
		text = re.ReplaceAllString(text, "T")
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\n", " ; ")), " ")
}

// TestKernelExamples runs every command of docs/examples, and compares what it prints
// with what is shown.
func TestKernelExamples(t *testing.T) {
	tracetest.Kernel(t)
	dir := t.TempDir()
	for name, from := range map[string]string{
		"ftgo": built(t), "greet": fixture.Build(t, "greet"), "lookup": fixture.Build(t, "lookup"), "httpd": fixture.Build(t, "httpd"),
		"stripped": fixture.Build(t, "lookup", "-ldflags", "-s -w"),
	} {
		if err := os.Symlink(from, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := filepath.Glob(filepath.Join(fixture.Root(), "docs", "examples", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		examples := examplesIn(string(b))
		if len(examples) == 0 {
			t.Errorf("%s: no command", page)
		}
		for _, x := range examples {
			t.Run(x.command, func(t *testing.T) {
				cmd := exec.Command("sh", "-c", x.command)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
				var errs bytes.Buffer
				cmd.Stderr = &errs
				out, err := cmd.Output()
				if err != nil {
					t.Errorf("%v\n%s", err, errs.String())
				}
				if got, want := masked(string(out)), masked(x.output); got != want {
					t.Errorf("prints\n%s\n%s\nthe page says\n%s", out, got, want)
				}
			})
		}
	}
}
