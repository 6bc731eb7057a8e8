package ftgo_test

import (
	"bytes"
	"go/format"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// maxLines limits the length of a file; most are far shorter.
const maxLines = 400

// longFiles are the exceptions, each with its reason.
var longFiles = map[string]string{
	"testdata/rounds/functions.go": "300 functions of three lines",
	"docs/formats.md":              "a line for each key",
	"docs/grafana-dashboard.json":  "as Grafana writes it",
	"docs/man/ftgo-probe.1":        "has all that count, demo and report have, too",
	"docs/schema/function.json":    "five lines for each key",
}

// TestFiles checks that no file is too long, that Go files are formatted, and that no executable is committed.
func TestFiles(t *testing.T) {
	root := os.DirFS(".")
	goFiles := 0
	ignored, err := os.ReadFile(".gitignore")
	fixture.NoError(t, err)
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name == ".git" && d.IsDir() { // in a git worktree it is a file
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		isGo := path.Ext(name) == ".go"
		if isGo {
			goFiles++
			if formatted, err := format.Source(data); err != nil || !bytes.Equal(formatted, data) {
				t.Errorf("%s is not formatted by gofmt: %v", name, err)
			}
		}
		// A program of 12 MB has been committed once.
		if bytes.HasPrefix(data, []byte("\x7fELF")) && path.Ext(name) != ".test" && !slices.Contains(strings.Fields(string(ignored)), "/"+name) {
			t.Errorf("%s is an executable, which .gitignore does not name", name)
		}
		recorded := !isGo && slices.Contains(strings.Split(name, "/"), "testdata")
		isText := bytes.IndexByte(data, 0) < 0
		long := isText && !recorded && bytes.Count(data, []byte("\n")) > maxLines
		if _, excused := longFiles[name]; long != excused {
			t.Errorf("%s: more than %d lines: %v, listed in longFiles: %v", name, maxLines, long, excused)
		}
		return nil
	})
	fixture.NoError(t, err)
	if goFiles < 10 {
		t.Errorf("only %d Go files: is this the top of the repository?", goFiles)
	}
	for name := range longFiles {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("longFiles: %v", err)
		}
	}
}
