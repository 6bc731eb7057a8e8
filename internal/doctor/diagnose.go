// Package doctor finds what keeps probes from working and how to fix it. It measures the cost of a probe hit, on
// functions of ftgo itself. It also drops the privileges of root that ftgo does not use.
package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// Diagnose checks everything that probing on this machine depends on, and changes nothing. Without privileges, some
// findings are [Unknown].
func Diagnose() []Finding { return thisHost().diagnose() }

func (h *host) diagnose() []Finding {
	f, findErr := h.find()
	var denied error
	if f == nil && errors.Is(findErr, fs.ErrPermission) {
		denied = findErr
	} else if f != nil {
		denied = h.usable(f)
	}
	findings := []Finding{
		h.kernel().as("kernel"), h.options(f).as("uprobe_events"), h.mounted(f, findErr).as("tracefs"),
		h.permission(f, denied).as("permission"), h.lacking(f != nil && denied == nil).as("capabilities"),
		h.pidNamespace().as("pid namespace"),
	}
	if f != nil {
		findings = append(append(findings, h.features(f)...), h.leftBehind(f).as("leftovers"))
	}
	return findings
}

func (h *host) kernel() Finding {
	text := "Linux " + h.Release
	switch {
	case h.Release == "":
		return Unknown.of("the kernel's release can't be read")
	case h.Older(4, 0):
		return Warning.of(text + ": uprobes before 4.0 can hang the traced program; ftgo takes --force")
	case h.Older(5, 4):
		return Warning.of(text + ": before 5.4 every site is an event of its own, which takes long to remove, and another reader can steal lines of trace_pipe")
	}
	// Deleting an enabled event of several sites can crash the kernel: see checkDisabled in internal/tracefs.
	return OK.of(text + "; never remove enabled probes by hand, it can crash the kernel: ftgo clean does it right")
}

// options checks that the kernel was built with CONFIG_UPROBE_EVENTS.
func (h *host) options(f *tracefs.FS) Finding {
	switch {
	case f == nil:
		return Unknown.of("the kernel needs CONFIG_UPROBE_EVENTS=y; tracefs has to be there to see it")
	case has(f, "uprobe_events"):
		return OK.of("the file is there")
	}
	return Missing.of("the file is missing: it takes a kernel with CONFIG_UPROBE_EVENTS=y")
}

func (h *host) mounted(f *tracefs.FS, err error) Finding {
	points := slices.DeleteFunc(h.mounts(), func(p procfs.Mount) bool { return p.Kind != "tracefs" })
	if f != nil {
		dir := strings.TrimPrefix(f.Dir(), h.Root)
		text := "mounted at " + dir
		at := slices.IndexFunc(points, func(p procfs.Mount) bool { return p.Point == dir })
		if at >= 0 && slices.Contains(points[at].Options, "ro") {
			return Missing.of(text + " for reading only").fixedBy(h.asRoot("mount -o remount,rw " + dir))
		}
		if dir != tracefs.Tracing {
			text += ", below debugfs only"
		}
		return OK.of(text)
	}
	var found Finding
	switch {
	case !errors.Is(err, tracefs.ErrNotMounted) && len(points) > 0:
		return OK.of("mounted at " + points[0].Point)
	case !errors.Is(err, tracefs.ErrNotMounted):
		return Unknown.of(strings.Join(tracefs.MountPoints, " and ") + " may not be looked at")
	case len(points) > 0:
		found = Missing.of("mounted at " + points[0].Point + ", where it is not looked for")
		found.Fix = h.asRoot("mount --bind " + points[0].Point + " " + tracefs.Tracing)
	case h.exists(tracefs.Tracing):
		found = Missing.of("not mounted").fixedBy(h.asRoot("mount -t tracefs tracefs " + tracefs.Tracing))
	case h.exists(tracefs.Debugfs) && h.Older(4, 1):
		found = Missing.of("not mounted: before 4.1 it is a part of debugfs")
		found.Fix = h.asRoot("mount -t debugfs debugfs " + tracefs.Debugfs)
	default:
		found = Missing.of("not mounted, and " + tracefs.Tracing + " is not there: a kernel without tracing, or a container without the host's /sys")
	}
	readOnlySys := slices.ContainsFunc(h.mounts(), func(p procfs.Mount) bool {
		return p.Point == "/sys" && p.Kind == "sysfs" && slices.Contains(p.Options, "ro")
	})
	if readOnlySys {
		return Missing.of(found.Text + "; /sys is read-only, as in a container").fixedBy(privileged)
	}
	return found
}

// privileged is the command that starts a container in which ftgo can work.
const privileged = "docker run --privileged --pid=host ..."

// permission checks whether this user can use tracefs. denied is the error if the user can't, or nil.
func (h *host) permission(f *tracefs.FS, denied error) Finding {
	path := tracefs.Tracing
	if at, ok := errors.AsType[*fs.PathError](denied); ok {
		path = strings.TrimPrefix(at.Path, h.Root)
	}
	refused := fmt.Sprintf("user %d may not use %s", h.uid, path)
	switch {
	case f == nil && denied == nil && h.uid != 0:
		return Missing.of("it takes root to mount tracefs and to use it").fixedBy(h.asRoot("ftgo doctor"))
	case f == nil && denied == nil, errors.Is(denied, fs.ErrNotExist):
		return Unknown.of("tracefs is not there to try")
	case denied == nil && h.uid != 0:
		return OK.of(fmt.Sprintf("user %d, with all permissions", h.uid))
	case denied == nil:
		return OK.of("root")
	case errors.Is(denied, syscall.EPERM):
		return Missing.of(refused + ": the kernel is locked down (/sys/kernel/security/lockdown), or a security module forbids it")
	case errors.Is(denied, syscall.EROFS):
		return Missing.of(path + " is for reading only")
	case h.uid == 0:
		return Missing.of(refused + ": this root has no CAP_DAC_OVERRIDE, as in a container").fixedBy(privileged)
	}
	return Missing.of(refused + ": it takes root, or CAP_DAC_OVERRIDE; see docs/privileges.md").fixedBy(h.asRoot("ftgo doctor"))
}

// lacking lists what fails because this process lacks a capability. If usable is true, the process can use tracefs, and
// needs no CAP_DAC_OVERRIDE.
func (h *host) lacking(usable bool) Finding {
	set, err := h.capabilities()
	if err != nil {
		return Unknown.of(err.Error())
	}
	var texts []string
	for i, use := range uses {
		if mayUse := i == 0 && usable; !mayUse && set&use.bit == 0 {
			texts = append(texts, "without "+use.name+" "+use.without)
		}
	}
	if len(texts) == 0 {
		return OK.of("all that ftgo makes use of")
	}
	return Warning.of(strings.Join(texts, "; "))
}

// asRoot returns a command that needs root as this user types it: ordinary users prepend sudo.
func (h *host) asRoot(command string) string {
	if h.uid == 0 {
		return command
	}
	return "sudo " + command
}

func (h *host) leftBehind(f *tracefs.FS) Finding {
	left, err := f.Leftovers()
	switch {
	case errors.Is(err, os.ErrPermission):
		return Unknown.of("not to be seen without permission")
	case err != nil:
		return Unknown.of(err.Error())
	case len(left) == 0:
		return OK.of("none of killed runs")
	}
	events := 0
	for _, l := range left {
		events += l.Events
	}
	text := fmt.Sprintf("%d of killed runs, with %d probe events, which the next run removes", len(left), events)
	return Warning.of(text).fixedBy(h.asRoot("ftgo clean"))
}

// ProcessNumbers checks that this process is in the first pid namespace, not in a container's, because the
// kernel traces processes by their numbers in the first one.
func ProcessNumbers() Finding { return thisHost().pidNamespace() }

func (h *host) pidNamespace() Finding {
	switch h.pidSpace {
	case procfs.InitialPIDNamespace:
		return OK.of("the initial one")
	case 0:
		return Unknown.of("/proc does not contain it")
	}
	return Warning.of("a container's: the kernel traces by the host's process ids, so that -p, --fork, --comm, --with and --sched can't be used").fixedBy(privileged)
}

// features returns a finding for each feature of this kernel's tracefs.
func (h *host) features(f *tracefs.FS) []Finding {
	if _, err := os.ReadFile(file(f, "README")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []Finding{Unknown.of("not to be seen without permission").as("features")}
	}
	findings, have := []Finding{h.clock(f).as("clock")}, f.Features()
	for _, c := range []struct {
		check string
		has   bool
		good  string
		less  string // the text of the warning if the kernel lacks the feature
	}{
		{"instances", have.Instances && has(f, "instances"), "each run has its own", "since Linux 3.14: runs take the top level, and --force to say so"},
		{"fetching", have.Memory, "values are fetched from memory", "since Linux 3.14: registers only, which is enough for count and trace --entries"},
		{"append", have.Append, "one event has many sites", "since Linux 5.4: an event a site, each of which takes long to remove"},
		{"push", have.PushEmulated, "a probed push of a register is emulated", "since Linux 5.4: entries are probed at the jump of the stack check, which is emulated"},
		{"arrays", have.Arrays, "memory is fetched many words at once", "since Linux 4.20: values of trace are fetched word by word"},
		{"set_event_pid", have.EventPID, "sessions can record single processes", "since Linux 4.4: sessions record all processes of the file"},
		{"event-fork", have.EventFork, "and follow the threads they start", "since Linux 4.9: sessions of single processes miss threads they start"},
		{"record-tgid", have.RecordTGID, "lines name the process", "since Linux 4.14: kernel events find the process of a thread"},
		{"hits", have.ExactHits, "the kernel counts every hit", "since Linux 6.12: hits of several CPUs at once may count as one, so count records them all"},
		{"error_log", has(f, "error_log"), "refusals are explained", "since Linux 5.4: refusals are not explained"},
		{"raw pages", has(f, "per_cpu", "cpu0", "trace_pipe_raw") && has(f, "events", "header_page"), "for many calls, and for long values", "not there: neither many calls are counted nor long values shown"},
	} {
		found := Warning.of(c.less)
		if c.has {
			found = OK.of(c.good)
		}
		if c.check != "push" || runtime.GOARCH == "amd64" { // on other processors no function begins with a push
			findings = append(findings, found.as(c.check))
		}
	}
	return findings
}

func (h *host) clock(f *tracefs.FS) Finding {
	offered, err := os.ReadFile(file(f, "trace_clock"))
	if err != nil {
		return Unknown.of("trace_clock can't be read")
	}
	clock, trusted := h.ChooseClock(string(offered))
	text := clock + ": latencies to the microsecond"
	switch {
	case clock == tracefs.Counter:
		return OK.of(clock + ": cycles, which the kernel trusts")
	case clock == "local":
		return Warning.of("local: CPUs do not agree on the time")
	case !trusted && strings.Contains(string(offered), tracefs.Counter):
		text += ", since the kernel does not trust the cycle counter"
	}
	return Warning.of(text)
}

// State says how a [Finding] affects probing.
type State string

// States, from the best to the worst.
const (
	// OK means that the check passed.
	OK State = "ok"
	// Unknown means that the check could not be made, often for lack of a permission.
	Unknown State = "unknown"
	// Warning means that probing works, but some feature does not.
	Warning State = "warning"
	// Missing means that probing does not work until this is fixed.
	Missing State = "missing"
)

// Finding is the result of one check.
type Finding struct {
	Check string // the name of the check, stable across versions
	State State
	Text  string // one line
	Fix   string // a command that fixes it, or ""
}

func (s State) of(text string) Finding { return Finding{State: s, Text: text} }

func (f Finding) as(check string) Finding {
	f.Check = check
	return f
}

func (f Finding) fixedBy(command string) Finding {
	f.Fix = command
	return f
}

// FirstMissing returns the first finding that keeps probes from working.
func FirstMissing(findings []Finding) (f Finding, ok bool) {
	for _, f := range findings {
		if f.State == Missing {
			return f, true
		}
	}
	return Finding{}, false
}

// host is the machine that [Diagnose] examines. In tests it is a directory with files of another machine.
type host struct {
	tracefs.Machine
	find func() (*tracefs.FS, error)
	uid  int
	// access is access(2) with the effective ids.
	access func(path string, mode uint32) error
	// open opens a file and closes it again.
	open         func(path string, flag int) error
	capabilities func() (uint64, error)
	pidSpace     uint64 // the inode of this process's pid namespace, 0 if unknown
}

func thisHost() *host {
	h := &host{Machine: tracefs.ThisMachine(), find: tracefs.Find, uid: os.Geteuid(), capabilities: effective, pidSpace: procfs.Namespace(procfs.Self, "pid")}
	h.access = func(path string, mode uint32) error {
		return unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS)
	}
	h.open = func(path string, flag int) error {
		f, err := os.OpenFile(path, flag, 0)
		if err != nil {
			return err
		}
		return f.Close()
	}
	return h
}

func (h *host) exists(path string) bool {
	_, err := os.Stat(h.Root + path)
	return err == nil
}

func (h *host) mounts() []procfs.Mount { return procfs.ParseMounts(h.Read("/proc/self/mountinfo")) }

func file(f *tracefs.FS, elem ...string) string {
	return filepath.Join(append([]string{f.Dir()}, elem...)...)
}

// has reports whether a tracefs file exists. It returns true if this user may not look.
func has(f *tracefs.FS, elem ...string) bool {
	_, err := os.Stat(file(f, elem...))
	return !errors.Is(err, fs.ErrNotExist)
}

// usable returns an error if this user can't write definitions or can't make instances. It opens uprobe_events
// without O_TRUNC, which would remove everybody's probes, and writes nothing.
func (h *host) usable(f *tracefs.FS) error {
	if err := h.open(file(f, "uprobe_events"), os.O_WRONLY|os.O_APPEND); err != nil {
		return err
	}
	if err := h.access(file(f, "instances"), unix.W_OK|unix.X_OK); err != nil && !errors.Is(err, unix.ENOSYS) {
		return &os.PathError{Op: "write to", Path: file(f, "instances"), Err: err}
	}
	return nil
}
