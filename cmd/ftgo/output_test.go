package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestOutputFileInUse: what is read or run is not written over, whatever it is called.
func TestOutputFileInUse(t *testing.T) {
	dir := t.TempDir()
	target, other := filepath.Join(dir, "lookup"), filepath.Join(dir, "other")
	copyFile(t, fixture.Build(t, "lookup"), target)
	copyFile(t, fixture.Build(t, "greet"), other)
	rec := filepath.Join(dir, "rec")
	fixture.Write(t, rec, madeUp)
	for _, c := range []struct {
		file string
		args []string
	}{
		{target, []string{"probe", "--dry-run", target, "main.lookup"}},
		{target, []string{"count", "--dry-run", target, "main.lookup"}},
		{target, []string{"list", target, "main.lookup"}},
		{target, []string{"script", target, "main.lookup"}},
		{other, []string{"watch", "--dry-run", other, "main.counter"}},
		{other, []string{"count", "--dry-run", target, "main.lookup", "--", other}},
		{rec, []string{"report", rec}},
	} {
		before := []byte(readFile(t, c.file))
		open, err := os.Open(c.file)
		noError(t, err)
		defer open.Close()
		hard, soft := filepath.Join(dir, "hard-"+filepath.Base(c.file)), filepath.Join(dir, "soft-"+filepath.Base(c.file))
		os.Link(c.file, hard)
		os.Symlink(c.file, soft)
		for _, name := range []string{c.file, hard, soft, fmt.Sprintf("/proc/self/fd/%d", open.Fd())} {
			args := append([]string{c.args[0], "-w", name}, c.args[1:]...)
			r := ftgo(t, args...)
			after, err := os.ReadFile(c.file)
			if r.code != cli.ExitUsage || !strings.Contains(r.stderr, "which is in use") || !bytes.Equal(before, after) || err != nil {
				t.Errorf("%q: status %d, %d bytes of %d\n%s", args, r.code, len(after), len(before), r.stderr)
				os.WriteFile(c.file, before, 0o755)
			}
		}
	}
}

// TestOutputFileIsPrivate: a file that is made is for its owner; one that is there stays as it is.
func TestOutputFileIsPrivate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "calls")
	for _, mode := range []os.FileMode{0o600, 0o640} {
		if mode != 0o600 {
			noError(t, os.Chmod(file, mode))
		}
		if r := reported(t, madeUp, "--as", "trace", "-w", file); r.code != 0 {
			t.Fatalf("status %d\n%s", r.code, r.stderr)
		}
		info, err := os.Stat(file)
		if err != nil || info.Mode() != mode || info.Size() == 0 {
			t.Errorf("%v of %d bytes, want %v; %v", info.Mode(), info.Size(), mode, err)
		}
	}
}
