package main

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// moved is a stripped program of a Go that does not exist yet, which has a field of runtime.moduledata more.
func moved(t *testing.T, name string) string {
	t.Helper()
	path := fixture.BuildWith(t, fixture.Current, name, "-ldflags=-s -w")
	data := []byte(readFile(t, path))
	f, err := elf.Open(path)
	noError(t, err)
	defer f.Close()
	const types = 37 // words before runtime.types, since Go 1.26
	module := data[f.Section(".go.module").Offset:][8*types:][:8*10]
	copy(module[8:], module[:8*9])
	release := fixture.Release(fixture.Current)
	data = bytes.ReplaceAll(data, []byte(release), []byte("go1.28."+strings.Repeat("0", len(release)-len("go1.28."))))
	to := filepath.Join(t.TempDir(), name)
	noError(t, os.WriteFile(to, data, 0o755))
	return to
}

// TestOfProcess: list and script take BINARY from a process, as what probes does.
func TestOfProcess(t *testing.T) {
	bin, pid := startedPath(t)
	of := ftgo(t, "list", "-o", "tsv", bin, "main.main")
	if r := ftgo(t, "list", "-o", "tsv", "-p", pid, "main.main"); r.code != 0 || r.stdout != of.stdout || !strings.Contains(r.stdout, "main.main") {
		t.Errorf("list: status %d\n%s%s, want\n%s", r.code, r.stdout, r.stderr, of.stdout)
	}
	if r := ftgo(t, "script", "-p", pid, "main.main"); r.code != 0 || !strings.Contains(r.stdout, "\nbinary='"+bin+"'\n") {
		t.Errorf("script: status %d, not of %s: %s", r.code, bin, r.stderr)
	}
}

// startedPath starts a program that does nothing until the test ends.
func startedPath(t *testing.T) (path, pid string) {
	t.Helper()
	path = fixture.Build(t, "spawn")
	cmd := exec.Command(path, "-n", "1", "-sleep", "10m", "-slow", "1")
	noError(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return path, fmt.Sprint(cmd.Process.Pid)
}
