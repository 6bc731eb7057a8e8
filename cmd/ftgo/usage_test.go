package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestUnprivileged runs the command as nobody.
func TestUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		r := ftgo(t, "probe", fixture.Build(t, "flood"), "main.framed")
		if r.code != cli.ExitKernel || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "ftgo doctor") {
			t.Errorf("status %d, stderr %q", r.code, r.stderr)
		}
		return
	}
	target, bin := fixture.Build(t, "flood"), built(t)
	for _, p := range []string{filepath.Dir(target), filepath.Dir(bin)} {
		noError(t, os.Chmod(p, 0o755))
	}
	cmd := exec.Command(bin, "probe", target, "main.framed")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, _ := cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != cli.ExitKernel || strings.Count(string(out), "\n") != 1 || !strings.Contains(string(out), "it takes root") || !strings.Contains(string(out), "sudo ") {
		t.Errorf("status %d, output %q", code, out)
	}
}
