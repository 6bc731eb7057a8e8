package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// scriptShells are those of this machine that scripts are for; one of them, unless long tests are
// asked for.
func scriptShells(t *testing.T) (list [][]string) {
	t.Helper()
	for _, sh := range [][]string{{"dash"}, {"busybox", "sh"}} {
		if _, err := exec.LookPath(sh[0]); err == nil {
			list = append(list, sh)
		}
	}
	if len(list) == 0 {
		t.Fatal("neither dash nor busybox is here")
	}
	if !fixture.Long() {
		list = list[:1]
	}
	return list
}

// scriptFor is a file with the script for a target, and for the running kernel where that is an
// old one.
func scriptFor(t *testing.T, args ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rec.sh")
	if f := tracefs.At(tracefsDir(t)).Features(); !f.Append {
		release := readFile(t, "/proc/sys/kernel/osrelease")
		args = append([]string{"--kernel", strings.TrimSpace(release), "--force"}, args...)
	}
	if r := ftgo(t, append([]string{"script", "-w", file}, args...)...); r.code != 0 || r.stdout != "" {
		t.Fatalf("script: status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	return file
}

func tracefsDir(t *testing.T) string {
	t.Helper()
	f, err := tracefs.Find()
	noError(t, err)
	return f.Dir()
}

// scripted is a script that runs, on a server.
func scripted(t *testing.T, sh []string, script string, out io.Writer) *exec.Cmd {
	t.Helper()
	stderr := filepath.Join(t.TempDir(), "stderr")
	f, err := os.Create(stderr)
	noError(t, err)
	defer f.Close()
	cmd := exec.Command(sh[0], append(sh[1:len(sh):len(sh)], script)...)
	cmd.Stdout, cmd.Stderr = out, f
	noError(t, cmd.Start())
	t.Cleanup(func() { cmd.Process.Signal(syscall.SIGTERM) })
	waitFor(t, "a script to probe", func() bool { return strings.Contains(readFile(t, stderr), "probing") })
	return cmd
}

// TestKernelScriptKilled: of a script that is killed a part is left, and cleans up.
func TestKernelScriptKilled(t *testing.T) {
	f := tracetest.LongKernel(t)
	target := server(t, fixture.Build(t, "server"))
	script := scriptFor(t, target.Path, "main.*")
	out, err := os.Create(filepath.Join(t.TempDir(), "rec"))
	noError(t, err)
	defer out.Close()
	for _, sh := range scriptShells(t) {
		cmd := scripted(t, sh, script, out)
		awaitHits(t, f, cmd.Process.Pid)
		cmd.Process.Kill()
		cmd.Wait()
		for range 300 {
			if instances, groups := remainsOf(t, f, cmd.Process.Pid); instances+groups == 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		ran(t, "clean")
		nothingOf(t, f, cmd.Process.Pid)
	}
	target.unharmed(t)
}

// ignored tells whether programs that are started here are deaf to a signal.
func ignored(t *testing.T, sig syscall.Signal) bool {
	t.Helper()
	status := readFile(t, "/proc/self/status")
	m := regexp.MustCompile(`SigIgn:\s*([0-9a-f]+)`).FindStringSubmatch(status)
	mask, err := strconv.ParseUint(m[1], 16, 64)
	noError(t, err)
	return mask>>(sig-1)&1 != 0
}

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

// valuesOf are the lines of trace without what differs from run to run.
func valuesOf(t *testing.T, lines string) string {
	t.Helper()
	return regexp.MustCompile(`(?m)^ *[0-9.]+(ns|µs|ms|s)`).ReplaceAllString(lines, "T")
}

// TestKernelScriptBudget: a script ends once its probes take more than its budget. Its calls until then are counted exactly.
func TestKernelScriptBudget(t *testing.T) {
	f := tracetest.LongKernel(t)
	path := fixture.Build(t, "paced")
	for _, command := range []string{"probe", "count", "trace"} {
		script := scriptFor(t, "--budget", "0.1", "--as", command, path, "main.c0?")
		for _, sh := range scriptShells(t) {
			t.Run(sh[0]+" "+command, func(t *testing.T) {
				target := startOnDemand(t, path, "-threads", "0")
				file := filepath.Join(t.TempDir(), "rec")
				out, err := os.Create(file)
				noError(t, err)
				defer out.Close()
				cmd := scripted(t, sh, script, out)
				target.call(3, 11)
				target.call(0, 5009)
				noError(t, cmd.Wait())
				target.awaitProbes("main.c00", false)
				nothingOf(t, f, cmd.Process.Pid)
				if said := readFile(t, cmd.Stderr.(*os.File).Name()); !strings.Contains(said, "took more than the budget of 0.1% of a CPU") {
					t.Error(said)
				}
				r := ftgo(t, "report", "--as", "count", "-o", "json", file)
				r.succeeded(t)
				o := readObserved(t, r.stdout)
				if s, hot, other := o.summary, o.functions["main.c00"], o.functions["main.c03"]; s.Delivered+s.Lost != s.Hits || s.Unparsed != 0 || hot.Calls != 5009 || other.Calls != 11 {
					t.Errorf("%d calls and %d\n%s", hot.Calls, other.Calls, r.stdout)
				}
			})
		}
	}
}
