package ftgo_test

import (
	"bytes"
	"fmt"
	"go/format"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// maxLines is how long a file may be; most are far shorter.
const maxLines = 400

// The exceptions, each with its reason. One that is no longer needed fails the test.
var (
	longFiles = map[string]string{
		"testdata/rounds/functions.go": "300 functions of three lines",
		"docs/formats.md":              "a line for each key",
		"docs/grafana-dashboard.json":  "as Grafana writes it",
		"docs/man/ftgo-probe.1":        "has all that count, demo and report have, too",
		"docs/schema/function.json":    "five lines for each key",
	}
	unformatted = map[string]string{} // sources for toolchains older than today's gofmt
)

func TestFiles(t *testing.T) {
	root := os.DirFS(".")
	excused := make(map[string]bool)
	goFiles := 0
	ignored, err := os.ReadFile(".gitignore")
	fixture.NoError(t, err)
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == ".git" && d.IsDir() { // in a work tree beside the clone it is a file
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".go" {
			goFiles++
		}
		// A program of 12 MB has been committed once.
		if bytes.HasPrefix(data, []byte("\x7fELF")) && path.Ext(name) != ".test" && !slices.Contains(strings.Fields(string(ignored)), "/"+name) {
			t.Errorf("%s is an executable, which .gitignore does not name", name)
		}
		check := func(what string, list map[string]string, problem error) {
			if list[name] != "" {
				excused[what+name] = problem != nil
			} else if problem != nil {
				t.Errorf("%s: %v", name, problem)
			}
		}
		check("long ", longFiles, length(name, data))
		check("unformatted ", unformatted, formatting(name, data))
		return nil
	})
	fixture.NoError(t, err)
	if goFiles < 10 {
		t.Errorf("only %d Go files: is this the top of the repository?", goFiles)
	}
	for what, list := range map[string]map[string]string{"long ": longFiles, "unformatted ": unformatted} {
		for name, reason := range list {
			if !excused[what+name] {
				t.Errorf("%s needs no exception any more (%q)", name, reason)
			}
		}
	}
}

// length complains of too many lines, except in binaries and recorded data.
func length(name string, data []byte) error {
	recorded := slices.Contains(strings.Split(name, "/"), "testdata") && path.Ext(name) != ".go"
	if recorded || bytes.IndexByte(data, 0) >= 0 {
		return nil
	}
	if n := bytes.Count(data, []byte("\n")); n > maxLines {
		return fmt.Errorf("%d lines, more than %d: split it, or list it with a reason", n, maxLines)
	}
	return nil
}

// formatting complains of Go source that gofmt would change.
func formatting(name string, data []byte) error {
	if path.Ext(name) != ".go" {
		return nil
	}
	formatted, err := format.Source(data)
	if err != nil {
		return fmt.Errorf("format source: %w", err)
	}
	if !bytes.Equal(formatted, data) {
		return fmt.Errorf("not as gofmt writes it")
	}
	return nil
}

func TestFileChecks(t *testing.T) {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	tests := []struct {
		scenario, name, text string
		long, unformatted    bool
	}{
		{scenario: "tidy", name: "a/b.go", text: "package b\n"},
		{scenario: "as long as can be", name: "a.md", text: lines(maxLines)},
		{scenario: "too long", name: "a.md", text: lines(maxLines + 1), long: true},
		{scenario: "recorded data", name: "internal/pairing/testdata/x.trace", text: lines(maxLines + 1)},
		{scenario: "Go source in testdata", name: "testdata/x/main.go", text: "package main\n\n" + strings.Repeat("// x\n", maxLines), long: true},
		{scenario: "binary", name: "a.png", text: "\x00" + lines(maxLines+1)},
		{scenario: "indented with spaces", name: "b.go", text: "package b\n\nfunc f() {\n    f()\n}\n", unformatted: true},
		{scenario: "imports out of order", name: "b.go", text: "package b\n\nimport (\n\t\"os\"\n\t\"fmt\"\n)\n", unformatted: true},
		{scenario: "no Go at all", name: "b.go", text: "pack age\n", unformatted: true},
		{scenario: "not Go by name", name: "b.go.txt", text: "pack age\n"},
	}
	for _, tt := range tests {
		t.Run(tt.scenario, func(t *testing.T) {
			if err := length(tt.name, []byte(tt.text)); (err != nil) != tt.long {
				t.Errorf("length: %v", err)
			}
			if err := formatting(tt.name, []byte(tt.text)); (err != nil) != tt.unformatted {
				t.Errorf("formatting: %v", err)
			}
		})
	}
}
