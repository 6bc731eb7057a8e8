package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// example is a command of docs/examples and what it is said to print.
type example struct{ command, output string }

// fenced is a block between fences, with its language.
var fenced = regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$")

// continued is where a command goes on in the next line.
var continued = regexp.MustCompile(`\\\n +`)

// blocksIn reads indented blocks: an example is "$ COMMAND" with its output below; any other
// line is a command alone. A backslash at the end of a line continues it on the next one.
func blocksIn(text string) (examples []example, commands []string) {
	inExample := false
	for line := range strings.Lines(continued.ReplaceAllString(fenced.ReplaceAllString(text, ""), "")) {
		block, ok := strings.CutPrefix(line, "    ")
		switch command, isCommand := strings.CutPrefix(block, "$ "); {
		case !ok:
			inExample = inExample && strings.TrimSpace(line) == ""
		case isCommand:
			inExample = true
			examples = append(examples, example{command: strings.TrimSpace(command)})
		case inExample:
			examples[len(examples)-1].output += block
		default:
			command, _, _ = strings.Cut(block, "   ") // which explains it
			commands = append(commands, strings.TrimSpace(command))
		}
	}
	return examples, commands
}

// changing is what differs from run to run: times, rates, counts at a moment, and the
// blanks that align them.
var changing = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^\d\d:\d\d:\d\d\.\d{6}`),
	regexp.MustCompile(`[<≈]?[0-9.]+(ns|µs|ms|s)\b`),
	regexp.MustCompile(`\+[0-9.]+/s`),
	regexp.MustCompile(`counter = \d+(  T)?`),
	regexp.MustCompile(`goroutine \d+`),
	regexp.MustCompile(`\b[a-z0-9_]+\.(go|s):\d+`), // of the library, whose lines move
	regexp.MustCompile(`1009 +[0-9.]+k?`),
	regexp.MustCompile(`(303|101) +[0-9.]+`),
	regexp.MustCompile(`T +[0-9.<]+%`),
	regexp.MustCompile(`\d\d:\d\d:\d\d\.\d{6}`),
	regexp.MustCompile(`thread \d+`),
	regexp.MustCompile(`fd=\d+`), // Go's runtime keeps files of a control group, whose number differs
	regexp.MustCompile(`(127\.0\.0\.1(:| +)|::1 +)\d+`),
	regexp.MustCompile(`\(0x[0-9a-f]+\)`),
	regexp.MustCompile(`[0-9a-f]{20,}`),
	regexp.MustCompile(`(?m)^ +\d+ +\d+  GC`),
	regexp.MustCompile(`(main\.read|runtime\.newproc|lockSlow) +\d+ +[0-9.]+k?`),
	regexp.MustCompile(`(?m)^FUNCTION .* TIMED$`),
	regexp.MustCompile(`(?m)^main\.c0\d .*$`),
	regexp.MustCompile(`(?m)^ +[num]?secs .*\n(^ +\d+ -> \d+ +: .*\n)+`),
}

var blankLines = regexp.MustCompile(`\n\s*\n`)

// ratedRow is a row of a table up to the rate.
var ratedRow = regexp.MustCompile(`(?m)^((?:(?:main|http)\.\S+(?: → \S+)?|[012]|\[[^]]+\]|key-|twic|nil|no such key) +\d+) +[0-9.]+k?\b`)

// placedAt are an address, an offset and a size, or what remains of them.
var placedAt = regexp.MustCompile(`0x[0-9a-f]+( +0x[0-9a-f]+ +\d+)?`)

// checkedLine is a line of doctor, of which only the name of what was checked is the same everywhere.
var checkedLine = regexp.MustCompile(`(?m)^(ok|unknown|warning|missing) {2,}(.{15}) .*\n( {9,}\$ .*\n)?`)

func masked(text string) string {
	text = blankLines.ReplaceAllString(text, "\n") // which editors strip of what indents them
	text = ratedRow.ReplaceAllString(text, "$1 T")
	text = placedAt.ReplaceAllString(text, "T")
	text = checkedLine.ReplaceAllString(text, "$2\n")
	for _, re := range changing {
		text = re.ReplaceAllString(text, "T")
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "\n", " ; ")), " ")
}

// slow are pages whose first command takes seconds.
var slow = []string{"budget.md", "sched.md", "top.md", "waits.md", "watch.md"}

// TestKernelExamples runs every command of docs/examples and of the README, or, unless long tests
// are asked for, the first of each page, without recipes and what is slow, and compares what it prints with what is shown.
func TestKernelExamples(t *testing.T) {
	tracetest.Kernel(t)
	dir := t.TempDir()
	for name, from := range map[string]string{
		"ftgo": built(t), "greet": fixture.Build(t, "greet"), "lookup": fixture.Build(t, "lookup"), "httpd": fixture.Build(t, "httpd"), "nest": fixture.Build(t, "nest"), "spawn": fixture.Build(t, "spawn"), "asks": fixture.Build(t, "asks"), "sched": fixture.Build(t, "sched"), "chores": fixture.Build(t, "chores"), "inlined": fixture.Build(t, "inlined"), "paced": fixture.Build(t, "paced"), "queue": fixture.Build(t, "queue"), "heap": fixture.Build(t, "heap"), "park": fixture.Build(t, "park"),
		"stripped": fixture.Build(t, "lookup", "-ldflags", "-s -w"),
	} {
		noError(t, os.Symlink(from, filepath.Join(dir, name)))
	}
	pages, err := filepath.Glob(filepath.Join(fixture.Root(), "docs", "examples", "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	recipes := filepath.Join(fixture.Root(), "scripts", "recipes")
	files, err := filepath.Glob(filepath.Join(recipes, "go*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recipes: %v", err)
	}
	for _, file := range files {
		pages = append(pages, filepath.Join(fixture.Root(), "docs", "examples", "recipes", filepath.Base(file)+".md"))
	}
	texts := map[string]string{}
	for _, page := range pages {
		texts[page] = readFile(t, page)
	}
	texts["README.md"] = readme(t)
	noError(t, os.WriteFile(filepath.Join(dir, "sudo"), []byte("#!/bin/sh\nexec \"$@\"\n"), 0o755))
	for page, text := range texts {
		examples, _ := blocksIn(text)
		if len(examples) == 0 {
			t.Errorf("%s: no command", page)
		}
		for i, x := range examples {
			t.Run(x.command, func(t *testing.T) {
				if i > 0 || slices.Contains(slow, filepath.Base(page)) || filepath.Base(filepath.Dir(page)) == "recipes" {
					fixture.NeedLong(t)
				}
				// What is fast in the page may be slow once.
				tracetest.RightOnce(t, 3, t.Errorf, func() (wrong []string) {
					cmd := exec.Command("sh", "-c", x.command)
					cmd.Dir = dir
					cmd.Env = append(os.Environ(), "PATH="+dir+":"+recipes+":"+os.Getenv("PATH"))
					r := outcome(cmd)
					r.succeeded(t)
					if got, want := masked(r.stdout), masked(x.output); got != want {
						return []string{fmt.Sprintf("prints\n%s\n%s\nthe page says\n%s", r.stdout, got, want)}
					}
					return nil
				})
			})
		}
	}
}

// TestExamplePages: each command has a page of its own.
func TestExamplePages(t *testing.T) {
	for _, c := range allCommands() {
		if c.Name == "help" || c.Name == "version" {
			continue
		}
		if _, err := os.Stat(filepath.Join(fixture.Root(), "docs", "examples", c.Name+".md")); err != nil {
			t.Errorf("ftgo %s: %v", c.Name, err)
		}
	}
}
