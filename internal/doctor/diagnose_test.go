package doctor

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// box is a machine in a directory.
type box struct {
	*host
	t *testing.T
}

// newBox is a machine on which all is well: Linux 6.12, root.
func newBox(t *testing.T) *box {
	b := &box{t: t, host: &host{Machine: tracefs.Machine{Root: t.TempDir(), Release: "6.12.1"}}}
	b.access = func(string, uint32) error { return nil }
	b.open = func(path string, _ int) error {
		_, err := os.Stat(path)
		return err
	}
	b.find = func() (*tracefs.FS, error) {
		for _, dir := range tracefs.MountPoints {
			if b.exists(dir + "/trace_clock") {
				return tracefs.At(b.Root + dir), nil
			}
		}
		return nil, tracefs.ErrNotMounted
	}
	b.put("/proc/self/mountinfo", "23 27 0:22 / /sys rw,relatime - sysfs sysfs rw\n42 23 0:13 / /sys/kernel/tracing rw,relatime shared:7 - tracefs tracefs rw\n")
	b.capabilities = func() (uint64, error) { return ^uint64(0), nil }
	b.pidSpace = procfs.InitialPIDNamespace
	b.put("/sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet acpi_pm\n")
	const tracing = "/sys/kernel/tracing/"
	b.put(tracing+"README", "  uprobe_events\t\t- Create/append/remove/show\n<type>\\[<array-size>\\]\n")
	b.put(tracing+"trace_clock", "[local] global mono x86-tsc\n")
	for _, name := range []string{
		"uprobe_events", "error_log", "set_event_pid", "options/event-fork", "options/record-tgid",
		"per_cpu/cpu0/trace_pipe_raw", "events/header_page", "instances/ftgo_theirs/trace",
	} {
		b.put(tracing+name, "")
	}
	return b
}

func (b *box) put(path, text string) {
	if err := os.MkdirAll(filepath.Dir(b.Root+path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(b.Root+path, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func (b *box) remove(paths ...string) {
	for _, p := range paths {
		if err := os.RemoveAll(b.Root + p); err != nil {
			b.t.Fatal(err)
		}
	}
}

// refuse makes opening uprobe_events fail.
func (b *box) refuse(uid int, err error) {
	b.uid = uid
	b.open = func(path string, _ int) error { return &fs.PathError{Op: "open", Path: path, Err: err} }
}

// unmount leaves the directory that tracefs could be mounted at.
func (b *box) unmount() {
	b.remove("/sys/kernel/tracing")
	if err := os.Mkdir(b.Root+"/sys/kernel/tracing", 0o755); err != nil {
		b.t.Fatal(err)
	}
	b.put("/proc/self/mountinfo", "23 27 0:22 / /sys rw,relatime - sysfs sysfs rw\n")
}

func TestDiagnoseWell(t *testing.T) {
	seen := make(map[string]bool)
	for _, f := range newBox(t).diagnose() {
		if f.State != OK || f.Fix != "" || f.Text == "" {
			t.Errorf("%+v", f)
		}
		if seen[f.Check] {
			t.Errorf("%s twice", f.Check)
		}
		seen[f.Check] = true
	}
	want := 19
	if runtime.GOARCH != "amd64" {
		want-- // push
	}
	if len(seen) != want {
		t.Errorf("%d checks: %v", len(seen), seen)
	}
}

func TestDiagnose(t *testing.T) {
	const tracing = "/sys/kernel/tracing/"
	for _, c := range []struct {
		name  string
		alter func(*box)
		want  Finding // Text is a part of it
	}{
		{"root in a container", func(b *box) {
			b.capabilities = func() (uint64, error) { return 1 << unix.CAP_DAC_OVERRIDE, nil }
		}, Finding{"capabilities", Warning, "without CAP_SYS_PTRACE -p takes this user's processes alone; without CAP_LEASE ", ""}},
		{"a user who may nothing", func(b *box) {
			b.refuse(1000, syscall.EACCES)
			b.capabilities = func() (uint64, error) { return 0, nil }
		}, Finding{"capabilities", Warning, "without CAP_DAC_OVERRIDE tracefs must belong to this user; without CAP_SYS_PTRACE", ""}},
		{"no capget", func(b *box) {
			b.capabilities = func() (uint64, error) { return 0, syscall.ENOSYS }
		}, Finding{"capabilities", Unknown, "function not implemented", ""}},
		{"kernel that can hang targets", func(b *box) { b.Release = "3.10.0-957.el7" }, Finding{"kernel", Warning, "--force", ""}},
		{"kernel that does not append", func(b *box) { b.Release = "4.19.40" }, Finding{"kernel", Warning, "before 5.4", ""}},
		{"kernel without a release", func(b *box) { b.Release = "" }, Finding{"kernel", Unknown, "can't be read", ""}},
		{"no uprobe_events", func(b *box) { b.remove(tracing + "uprobe_events") }, Finding{"uprobe_events", Missing, "it takes a kernel with CONFIG_UPROBE_EVENTS=y", ""}},
		{"nothing mounted", (*box).unmount, Finding{"uprobe_events", Unknown, "needs CONFIG_UPROBE_EVENTS=y", ""}},

		{"not mounted", (*box).unmount, Finding{"tracefs", Missing, "not mounted", "mount -t tracefs tracefs /sys/kernel/tracing"}},
		{"not mounted, a user", func(b *box) { b.unmount(); b.uid = 1000 }, Finding{"tracefs", Missing, "not mounted", "sudo mount -t tracefs tracefs /sys/kernel/tracing"}},
		{"not mounted and not root", func(b *box) { b.unmount(); b.uid = 1000 }, Finding{"permission", Missing, "takes root", "sudo ftgo doctor"}},
		{"not mounted, in a container", func(b *box) {
			b.unmount()
			b.put("/proc/self/mountinfo", "23 27 0:22 / /sys ro,nosuid - sysfs sysfs ro\n")
		}, Finding{"tracefs", Missing, "/sys is read-only, as in a container", "docker run --privileged --pid=host ..."}},
		{"old kernel, not mounted", func(b *box) {
			b.unmount()
			b.remove(tracing)
			b.Release = "3.10.0"
			b.put("/sys/kernel/debug/.keep", "")
		}, Finding{"tracefs", Missing, "part of debugfs", "mount -t debugfs debugfs /sys/kernel/debug"}},
		{"no place to mount it", func(b *box) { b.unmount(); b.remove(tracing) }, Finding{"tracefs", Missing, "a kernel without tracing, or a container", ""}},
		{"below debugfs only", func(b *box) {
			b.unmount()
			b.put("/sys/kernel/debug/tracing/trace_clock", "[local]\n")
		}, Finding{"tracefs", OK, "/sys/kernel/debug/tracing, below debugfs only", ""}},
		{"mounted elsewhere", func(b *box) {
			b.unmount()
			b.put("/proc/self/mountinfo", "42 23 0:13 / /tracing rw - tracefs tracefs rw\n")
		}, Finding{"tracefs", Missing, "at /tracing, where", "mount --bind /tracing /sys/kernel/tracing"}},
		{"mounted read-only", func(b *box) {
			b.put("/proc/self/mountinfo", "42 23 0:13 / /sys/kernel/tracing ro,relatime - tracefs tracefs rw\n")
		}, Finding{"tracefs", Missing, "for reading only", "mount -o remount,rw /sys/kernel/tracing"}},

		{"ordinary user", func(b *box) { b.refuse(1000, syscall.EACCES) }, Finding{"permission", Missing, "user 1000 may not use /sys/kernel/tracing/uprobe_events: it takes root", "sudo ftgo doctor"}},
		{"user who may", func(b *box) { b.uid = 1000 }, Finding{"permission", OK, "user 1000", ""}},
		{"user who may define, but make no instance", func(b *box) {
			b.uid = 1000
			b.access = func(string, uint32) error { return syscall.EACCES }
		}, Finding{"permission", Missing, "/sys/kernel/tracing/instances: it takes root", "sudo ftgo doctor"}},
		{"refused to root", func(b *box) { b.refuse(0, syscall.EPERM) }, Finding{"permission", Missing, "or a security module", ""}},
		{"root of a container", func(b *box) { b.refuse(0, syscall.EACCES) }, Finding{"permission", Missing, "no CAP_DAC_OVERRIDE", "docker run --privileged --pid=host ..."}},

		{"container's pids", func(b *box) { b.pidSpace = 4026532111 }, Finding{"pid namespace", Warning, "-p, --fork, --comm, --with and --sched can't be used", "docker run --privileged --pid=host ..."}},
		{"no /proc/self/ns", func(b *box) { b.pidSpace = 0 }, Finding{"pid namespace", Unknown, "does not contain", ""}},

		{"no instances", func(b *box) { b.remove(tracing + "instances") }, Finding{"instances", Warning, "3.14", ""}},
		{"no arrays", func(b *box) { b.put(tracing+"README", "uprobe_events - Add/remove/show\n") }, Finding{"arrays", Warning, "4.20", ""}},
		{"README not for us", func(b *box) {
			// A directory in its place can be read by nobody, root included.
			b.remove(tracing + "README")
			b.put(tracing+"README/x", "")
		}, Finding{"features", Unknown, "without permission", ""}},
		{"cycles not trusted", func(b *box) {
			b.put("/sys/devices/system/clocksource/clocksource0/available_clocksource", "hpet acpi_pm\n")
		}, Finding{"clock", Warning, "mono: latencies to the microsecond", ""}},
		{"local clock only", func(b *box) { b.put(tracing+"trace_clock", "[local] counter\n") }, Finding{"clock", Warning, "do not agree", ""}},

		{"leftover of a killed run", func(b *box) {
			const name = "ftgo_4194304_5_1" // of a process above any pid_max
			b.put(tracing+"instances/"+name+"/trace", "")
			b.put(tracing+"events/"+name+"/e/enable", "0")
			b.put(tracing+"events/"+name+"/f/enable", "0")
			b.put(tracing+"events/"+name+"/enable", "0")
		}, Finding{"leftovers", Warning, "1 of killed runs, with 2 probe events", "ftgo clean"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t)
			c.alter(b)
			for _, f := range b.diagnose() {
				if f.Check != c.want.Check {
					continue
				}
				if f.State != c.want.State || !strings.Contains(f.Text, c.want.Text) || f.Fix != c.want.Fix || strings.Contains(f.Text, b.Root) {
					t.Errorf("%+v\nwant %+v", f, c.want)
				}
				return
			}
			t.Errorf("no check %s", c.want.Check)
		})
	}
}
