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

// TestListedAddresses: what ftgo says of addresses is what the linker has written.
func TestListedAddresses(t *testing.T) {
	target := fixture.Build(t, "flood")
	r := ran(t, "list", "-o", "json", target, "main.framed", "main.leaf")
	out, err := exec.Command("go", "tool", "nm", target).Output()
	noError(t, err)
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 3 && f[2] == "main.framed" && !strings.Contains(r.stdout, `"address":"0x`+f[0]+`"`) {
			t.Errorf("main.framed is at %s:\n%s", f[0], r.stdout)
		}
	}
}

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
