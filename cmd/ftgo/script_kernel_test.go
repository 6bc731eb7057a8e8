package main

import (
	"fmt"
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

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
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

// record runs a script in a shell until PROGRAM ends, and returns the recording and what
// PROGRAM has written.
func record(t *testing.T, sh []string, script string, program ...string) (file, out string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "rec")
	cmd := exec.CommandContext(t.Context(), sh[0], append(append(sh[1:len(sh):len(sh)], script, "-w", file, "--"), program...)...)
	r := outcome(cmd)
	r.succeeded(t)
	nothingOf(t, tracefs.At(tracefsDir(t)), cmd.Process.Pid)
	return file, r.stdout
}

func tracefsDir(t *testing.T) string {
	t.Helper()
	f, err := tracefs.Find()
	noError(t, err)
	return f.Dir()
}

// TestKernelScriptIsExact: what a script has recorded is what the target has done, as it is
// for probe.
func TestKernelScriptIsExact(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "exact")
	script := scriptFor(t, "--wrappers", target, "main.*")
	sh := scriptShells(t)[0]
	file, out := record(t, sh, script, target)
	if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
		t.Errorf("the recording's mode is %v, want that of a file for its owner alone; %v", info.Mode(), err)
	}
	r := ftgo(t, "report", "-o", "json", file)
	r.succeeded(t)
	o, b := readObserved(t, r.stdout), readBooks(t, out)
	same(t, o, b)
	if o.summary.Hits == 0 || o.summary.Lost != 0 {
		t.Errorf("%d hits, %d lost", o.summary.Hits, o.summary.Lost)
	}
	r = ftgo(t, "report", "-o", "json", "--as", "count", file)
	counted := readObserved(t, r.stdout)
	sameCalls(t, counted, b)
}

// valuesOf are the lines of trace without what differs from run to run.
func valuesOf(t *testing.T, lines string) string {
	t.Helper()
	return regexp.MustCompile(`(?m)^ *[0-9.]+(ns|µs|ms|s)`).ReplaceAllString(lines, "T")
}

// TestKernelScriptValues: with the binary at hand a recording has the values that trace
// shows, in every shell.
func TestKernelScriptValues(t *testing.T) {
	tracetest.LongKernel(t)
	target := fixture.Build(t, "lookup")
	live := ftgo(t, "trace", target, "main.lookup", "--", target)
	want := valuesOf(t, live.stdout)
	if live.code != 0 || strings.Count(want, "key=") < 1000 {
		t.Fatalf("trace: status %d\n%s%s", live.code, want, live.stderr)
	}
	script := scriptFor(t, "--as", "trace", target, "main.lookup")
	count := scriptFor(t, "--as", "count", target, "main.lookup")
	for _, sh := range scriptShells(t) {
		file, _ := record(t, sh, script, target)
		if r := ftgo(t, "report", file); r.code != 0 || valuesOf(t, r.stdout) != want {
			t.Errorf("%s: status %d, other lines than trace's\n%s%s", sh[0], r.code, r.stdout, r.stderr)
		}
		if r := ftgo(t, "report", "--where", `key == "key-7"`, file); r.code != 0 || !strings.Contains(r.stdout, `key="key-7"`) || strings.Contains(r.stdout, `key="key-8"`) {
			t.Errorf("%s: --where: status %d\n%s%s", sh[0], r.code, r.stdout, r.stderr)
		}
		file, _ = record(t, sh, count, target)
		if n := readObserved(t, ftgo(t, "report", "-o", "json", file).stdout).functions["main.lookup"].Calls; n != 1009 {
			t.Errorf("%s: %d calls counted, want 1009", sh[0], n)
		}
	}
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

// TestKernelScriptEnds: whatever ends a script, nothing of it is left, and what it has
// recorded can be shown.
func TestKernelScriptEnds(t *testing.T) {
	f := tracetest.LongKernel(t)
	target := server(t, fixture.Build(t, "server"))
	script := scriptFor(t, target.Path, "main.*")
	for _, sh := range scriptShells(t) {
		for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGKILL} {
			t.Run(fmt.Sprintf("%s %v", sh[0], sig), func(t *testing.T) {
				if ignored(t, sig) {
					t.Skip("it is ignored here, as by nohup and in the background: shells then can't catch it")
				}
				file := filepath.Join(t.TempDir(), "rec")
				out, err := os.Create(file)
				noError(t, err)
				defer out.Close()
				cmd := scripted(t, sh, script, out)
				awaitHits(t, f, cmd.Process.Pid)
				cmd.Process.Signal(sig)
				err = cmd.Wait()
				if sig == syscall.SIGKILL {
					for range 300 { // a part of it is left, and cleans up
						if instances, groups := remainsOf(t, f, cmd.Process.Pid); instances+groups == 0 {
							break
						}
						time.Sleep(50 * time.Millisecond)
					}
					ran(t, "clean")
				} else if r := ftgo(t, "report", "-o", "json", file); err != nil || r.code != 0 || readObserved(t, r.stdout).functions["main.tick"].Calls == 0 {
					t.Errorf("%v; report: status %d\n%s%s", err, r.code, r.stdout, r.stderr)
				}
				nothingOf(t, f, cmd.Process.Pid)
			})
		}
		t.Run(sh[0]+" | head", func(t *testing.T) {
			r, w, err := os.Pipe()
			noError(t, err)
			cmd := scripted(t, sh, script, w)
			w.Close()
			r.Read(make([]byte, 1000))
			r.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v", err)
			}
			nothingOf(t, f, cmd.Process.Pid)
		})
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

// TestKernelScriptRefuses: another binary is not touched, not even one byte of another.
func TestKernelScriptRefuses(t *testing.T) {
	f := tracetest.Kernel(t)
	target := fixture.Build(t, "lookup")
	script := scriptFor(t, target, "main.lookup")
	b := []byte(readFile(t, target))
	b[len(b)-1]++
	almost := filepath.Join(t.TempDir(), "lookup")
	noError(t, os.WriteFile(almost, b, 0o755))
	copied, link := filepath.Join(t.TempDir(), "copied"), filepath.Join(t.TempDir(), "link")
	copyFile(t, target, copied)
	noError(t, os.Symlink(copied, link))
	for _, sh := range scriptShells(t) {
		for _, c := range []struct {
			args []string
			code int
			want string
		}{
			{[]string{"-b", almost}, 1, "not the binary"},
			{[]string{"-b", fixture.Build(t, "server")}, 1, "another build"},
			{[]string{"-b", "/no/such/file"}, 2, "no file /no/such/file"},
			{[]string{"-d", "soon"}, 2, "not a number"},
			{[]string{"--", "/no/such/program"}, 2, "no program"},
			{[]string{"-z"}, 2, "usage:"},
			{[]string{"-b", link, "-w", copied}, 2, "is the binary"},
		} {
			cmd := exec.Command(sh[0], append(append(sh[1:len(sh):len(sh)], script), c.args...)...)
			if r := outcome(cmd); r.code != c.code || !strings.Contains(r.stderr, c.want) || r.stdout != "" {
				t.Errorf("%s %q: status %d\n%s%s", sh[0], c.args, r.code, r.stdout, r.stderr)
			}
			nothingOf(t, f, cmd.Process.Pid)
		}
	}
}

// TestKernelScriptFullDisk: a recording that can't be written is no success, be it that there is
// no room for any of it, or not for all.
func TestKernelScriptFullDisk(t *testing.T) {
	f := tracetest.LongKernel(t)
	target := fixture.Build(t, "lookup")
	script := scriptFor(t, target, "main.lookup")
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=64k"); err != nil {
		t.Skipf("mount a small disk: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	small := filepath.Join(disk, "rec")
	for _, sh := range scriptShells(t) {
		for _, file := range []string{"/dev/full", small} {
			os.Remove(small)
			cmd := exec.CommandContext(t.Context(), sh[0], append(sh[1:len(sh):len(sh)], script, "-w", file, "--", target)...)
			if r := outcome(cmd); r.code != 1 || !strings.Contains(r.stderr, "is the disk full?") {
				t.Errorf("%q: status %d\n%s", cmd.Args, r.code, r.stderr)
			}
			nothingOf(t, f, cmd.Process.Pid)
		}
	}
}

// TestKernelNoMemoryForScript: ring buffers that are larger than all memory are refused in one line.
func TestKernelNoMemoryForScript(t *testing.T) {
	f := tracetest.Kernel(t)
	greet := fixture.Build(t, "greet")
	cmd := exec.Command("sh", scriptFor(t, "--buffer", "1024G", greet, "main.add"), "-d", "60")
	if r := outcome(cmd); r.code != cli.ExitKernel || r.stdout != "" || r.stderr != "rec.sh: ring buffers of 1073741824 KB for each CPU are not to be had\n" {
		t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	nothingOf(t, f, cmd.Process.Pid)
}
