package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// nobody is the user and the group that tests of privileges run as.
const nobody = 65534

// asNobody is a command that an ordinary user runs, with some capabilities and no way to get others.
func asNobody(t *testing.T, capabilities []string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip(err)
	}
	for _, program := range []string{built(t), fixture.Build(t, "family")} {
		noError(t, os.Chmod(filepath.Dir(program), 0o755))
	}
	sets := "-all"
	for _, c := range capabilities {
		sets += ",+" + strings.ToLower(strings.TrimPrefix(c, "CAP_"))
	}
	set := []string{fmt.Sprint("--reuid=", nobody), fmt.Sprint("--regid=", nobody), "--clear-groups", "--inh-caps=" + sets, "--ambient-caps=" + sets, "--bounding-set=" + sets}
	return exec.Command(path, slices.Concat(set, args)...)
}

// static is ftgo as releases have it, without cgo: Go knows all threads of such a program.
func static(t *testing.T) string { return fixture.Command(t, "cmd/ftgo", "-tags=netgo,osusergo") }

// refused is what ftgo says to an ordinary user, in one line.
func refused(t *testing.T, capabilities []string, args ...string) string {
	t.Helper()
	cmd := asNobody(t, capabilities, append([]string{built(t)}, args...)...)
	out, _ := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() == 0 || strings.Count(string(out), "\n") != 1 {
		t.Errorf("%q with %q: status %d\n%s", args, capabilities, cmd.ProcessState.ExitCode(), out)
	}
	return string(out)
}

// seen has a tracer look at a process that makes 3 + 11 calls of main.work, and nobody else's.
func seen(t *testing.T, p *child, m *member) {
	t.Helper()
	p.await(t)
	m.goOn(t)
	p.Process.Signal(syscall.SIGINT) // where it does not wait for a process
	workCalls(t, p.result(t), 3+11)
}

// TestKernelUnit: with the user, the capabilities and the file system for reading only that the unit of systemd gives,
// processes of others are probed, and nothing can be written but tracefs.
func TestKernelUnit(t *testing.T) {
	f := tracetest.LongKernel(t)
	unit := readFile(t, filepath.Join(fixture.Root(), "scripts/packaging/ftgo-export@.service"))
	_, after, _ := strings.Cut(unit, "\nAmbientCapabilities=")
	line, _, _ := strings.Cut(after, "\n")
	if !strings.Contains(unit, "\nCapabilityBoundingSet="+line+"\n") || line == "" {
		t.Errorf("the bounding set is not %q", line)
	}
	capabilities := strings.Fields(line)
	confined := func(args ...string) *exec.Cmd {
		cmd := asNobody(t, capabilities, append([]string{"--no-new-privs"}, args...)...)
		script := `set -e
mount --bind / / && mount -o remount,bind,ro / && mount --bind "$0" "$0" && mount -o remount,bind,ro /sys
exec "$@"`
		return exec.Command("unshare", slices.Concat([]string{"-m", "sh", "-c", script, f.Dir()}, cmd.Args)...)
	}
	dir := t.TempDir()
	name := fmt.Sprintf("unit-%d", os.Getpid())
	program, list := filepath.Join(dir, name), filepath.Join(dir, name+".functions")
	copyFile(t, fixture.Build(t, "family"), program)
	fixture.Write(t, list, "main.held\n")
	_, after, _ = strings.Cut(unit, "\nExecStart=/usr/bin/ftgo ")
	line, _, _ = strings.Cut(after, "\n")
	line = strings.NewReplacer("${FTGO_LISTEN}", "127.0.0.1:0", "$FTGO_FLAGS", "", "@/etc/ftgo/%i.functions", "@"+list, "%i", name).Replace(line)
	e := serving(t, start(t, confined(append([]string{static(t)}, strings.Fields(line)...)...)))
	m := family(t, program, "stdin", "work=3", "thread", "work=11")
	e.comesTo(t, callsOf("main.held"), 0)
	fixture.Write(t, list, "main.held\nmain.work\n")
	e.Process.Signal(syscall.SIGHUP) // as systemctl reload does
	e.comesTo(t, callsOf("main.work"), 0)
	m.goOn(t)
	e.comesTo(t, callsOf("main.work"), 3+11)
	e.finish(t)
	for _, name := range []string{"/ftgo-test-written", "/sys/kernel/rcu_expedited"} {
		if out, err := confined("sh", "-c", "echo 0 >"+name).CombinedOutput(); err == nil || !strings.Contains(string(out), "Read-only") {
			t.Errorf("%s can be written: %v, %s", name, err, out)
		}
	}
}

// openTo gives tracefs to nobody, as docs/privileges.md says, until the test ends.
func openTo(t *testing.T, dir string, commands string) {
	t.Helper()
	for _, name := range []string{dir, dir + "/instances", dir + "/uprobe_events"} {
		info, err := os.Stat(name)
		noError(t, err)
		was := info.Sys().(*syscall.Stat_t)
		t.Cleanup(func() {
			if name == dir {
				sh(t, fmt.Sprintf("mount -o remount,gid=%d,mode=%o %s", was.Gid, was.Mode&0o7777, dir))
			}
			if err := os.Chown(name, int(was.Uid), int(was.Gid)); err != nil {
				t.Error(err)
			}
			if err := os.Chmod(name, info.Mode().Perm()); err != nil {
				t.Error(err)
			}
			if now, err := os.Stat(name); err != nil || now.Mode() != info.Mode() || now.Sys().(*syscall.Stat_t).Uid != was.Uid || now.Sys().(*syscall.Stat_t).Gid != was.Gid {
				t.Errorf("%s is not as it was: %v, %v", name, now, err)
			}
		})
	}
	sh(t, commands)
}

// sh runs a shell script.
func sh(t *testing.T, script string) {
	t.Helper()
	if out, err := exec.Command("sh", "-ec", script).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

// TestKernelUser: an ordinary user, without any capability, to whom tracefs was opened by the commands of
// docs/privileges.md, does all of it with programs of his own, and what a killed run of his has left goes.
func TestKernelUser(t *testing.T) {
	f := tracetest.LongKernel(t)
	asNobody(t, nil) // or skip
	tracetest.Needs(t, !tracefs.ThisMachine().Older(5, 4), "files of tracefs that belong to the owner of their directory (tried from Linux 5.4.286 on)")
	openTo(t, f.Dir(), fmt.Sprintf("user=%d group=%[1]d tracing=%s\n%s", nobody, f.Dir(), strings.Join(privilegesPage(t)[1:4], "\n")))
	target := fixture.Build(t, "family")
	mine := func(steps ...string) *member {
		return family(t, asNobody(t, nil, append([]string{target, "stdin"}, steps...)...).Args...)
	}
	m := mine("work=3")
	p := start(t, asNobody(t, nil, built(t), "probe", "-o", "json", "-p", m.pid(), "main.work"))
	p.await(t)
	p.Process.Kill()
	p.Wait()
	m.goOn(t)
	for _, args := range [][]string{{"probe"}, {"raw", "probe"}, {"count"}, {"probe", "--sched"}} {
		m := mine("work=3", "thread", "work=11")
		next := start(t, asNobody(t, nil, slices.Concat([]string{built(t)}, readBy(t, args), []string{"-o", "json", "-p", m.pid(), "main.work"})...))
		seen(t, next, m)
		nothingOf(t, f, p.Process.Pid)
		nothingOf(t, f, next.Process.Pid)
	}
	theirs := family(t, target, "stdin", "work=3")
	if text := refused(t, nil, "probe", "-p", theirs.pid(), "main.work"); !strings.Contains(text, "permission denied") {
		t.Errorf("-p of root's process: %s", text)
	}
	out, err := asNobody(t, nil, built(t), "doctor", "-o", "json").Output()
	checks := make(map[string]struct{ Check, State, Text string })
	for _, c := range decoded[struct{ Check, State, Text string }](t, string(out)) {
		checks[c.Check] = c
	}
	if c := checks["capabilities"]; err != nil || c.State != "warning" || strings.Contains(c.Text, "CAP_DAC_OVERRIDE") || !strings.Contains(c.Text, "CAP_SYS_PTRACE") {
		t.Errorf("doctor: %v, %+v", err, c)
	}
	sh(t, fmt.Sprintf("tracing=%s; %s", f.Dir(), privilegesPage(t)[4]))
	if text := refused(t, nil, "count", target, "main.work"); !strings.Contains(text, "it takes root") {
		t.Errorf("closed again: %s", text)
	}
	if c := checks["permission"]; c.State != "ok" || c.Text != fmt.Sprintf("user %d, with all permissions", nobody) {
		t.Errorf("doctor: %+v", c)
	}
}

// privilegesPage are the commands of docs/privileges.md: one with capabilities, three that open tracefs to a user,
// with variables for who that is, and one that closes it.
func privilegesPage(t *testing.T) []string {
	t.Helper()
	page := readFile(t, filepath.Join(fixture.Root(), "docs/privileges.md"))
	_, commands := blocksIn(page)
	if len(commands) != 5 {
		t.Fatalf("docs/privileges.md has %q", commands)
	}
	return commands
}

// TestKernelCapabilitiesShown runs the command of docs/privileges.md that gives a user capabilities.
func TestKernelCapabilitiesShown(t *testing.T) {
	f := needsAppend(t)
	asNobody(t, nil) // or skip
	name := fmt.Sprintf("shop-%d", os.Getpid())
	program := copied(t, fixture.Build(t, "family"), name)
	m := family(t, program, "stdin", "work=3", "work=11")
	t.Setenv("PATH", withStandIns(t, nil)+":"+os.Getenv("PATH"))
	who := strings.NewReplacer("=me ", fmt.Sprintf("=%d ", nobody), "caddy", name)
	onScreen(t, f, who.Replace(privilegesPage(t)[0]), func() { m.goOn(t) }, "14")
}
