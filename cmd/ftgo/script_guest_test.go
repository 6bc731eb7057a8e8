package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelScriptGuest: a script that was made here, run on Linux 5.10 with nothing but
// busybox, on this processor and on another, gives a recording that shows here what trace shows
// of the same program.
func TestKernelScriptGuest(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "lookup")
	live := ftgo(t, "trace", target, "main.*", "--", target)
	for _, on := range []struct{ goarch, qemu, kernel string }{
		{"amd64", "qemu-system-x86_64", "5.10"},
		{"arm64", "qemu-system-aarch64", "5.10-arm64"},
	} {
		t.Run(on.goarch, func(t *testing.T) {
			needGuest(t, on.qemu, on.kernel)
			target := fixture.BuildFor(t, on.goarch, fixture.Current, "lookup")
			file := recordedInGuest(t, on.kernel, target, "main.*")
			if r := ftgo(t, "report", file); r.code != 0 || valuesOf(t, r.stdout) != valuesOf(t, live.stdout) {
				t.Errorf("status %d, other lines than trace's\n%s%s", r.code, r.stdout, r.stderr)
			}
			o := readObserved(t, ftgo(t, "report", "--as", "probe", "-o", "json", file).stdout)
			if s, f := o.summary, o.functions["main.lookup"]; f.Calls != 1009 || f.Completed != 1009 || s.Hits == 0 || s.Delivered+s.Lost != s.Hits || s.Lost != 0 {
				t.Errorf("%+v %+v", f, s)
			}
		})
	}
}

// needGuest skips a test for which there is no emulator, or no kernel.
func needGuest(t *testing.T, qemu, kernel string) {
	t.Helper()
	if _, err := exec.LookPath(qemu); err != nil {
		t.Skipf("no guest: %v", err)
	}
	kernels := os.Getenv("FTGO_KERNELS")
	if kernels == "" {
		home, err := os.UserCacheDir()
		if err != nil {
			t.Skip(err)
		}
		kernels = filepath.Join(home, "ftgo-kernels")
	}
	if _, err := os.Stat(filepath.Join(kernels, kernel, "vmlinuz")); err != nil {
		t.Skipf("no kernel for a guest: scripts/vm --fetch %s fetches one: %v", kernel, err)
	}
}

// recordedInGuest is a recording that a script has made of a program in a guest.
func recordedInGuest(t *testing.T, kernel, target string, funcs ...string) (file string) {
	t.Helper()
	script := scriptFor(t, append([]string{"--as", "trace", target}, funcs...)...)
	cmd := exec.CommandContext(t.Context(), filepath.Join(fixture.Root(), "scripts", "vm"),
		"--file", script, "--file", target, "--timeout", "500", kernel, "--", "sh", script, "--", target)
	cmd.Dir = t.TempDir()
	r := outcome(cmd)
	r.succeeded(t)
	file = filepath.Join(cmd.Dir, "rec")
	fixture.Write(t, file, r.stdout)
	return file
}
