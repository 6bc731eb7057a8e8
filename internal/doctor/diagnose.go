package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/tracefs"
)

// Diagnose looks at everything that probing on this machine depends on, without
// changing any of it. Sessions are taken to have ring buffers of
// bufferKB per CPU, as in [tracefs.Options].
//
// It tells as much as it can without privileges; what it can't is [Unknown].
func Diagnose(bufferKB int) []Finding { return thisHost().diagnose(bufferKB) }

func (h *host) diagnose(bufferKB int) []Finding {
	f, findErr := h.find()
	findings := []Finding{h.kernel(), h.options(f), h.mounted(f, findErr), h.lockdown()}
	var denied error
	if f == nil && errors.Is(findErr, fs.ErrPermission) {
		denied = findErr
	} else if f != nil {
		denied = h.usable(f)
	}
	findings = append(findings, h.permission(f, denied), h.pidNamespace(), h.mountNamespace())
	if f != nil {
		findings = append(findings, h.features(f)...)
		findings = append(findings, h.leftBehind(f))
	}
	return append(findings, h.memory(bufferKB), h.threads())
}

func (h *host) kernel() Finding {
	found := Finding{Check: "kernel", State: OK, Text: "Linux " + h.Release}
	switch {
	case h.Release == "":
		found.State, found.Text = Unknown, "the kernel's release can't be read"
	case h.Older(4, 0):
		found.State, found.Text = Warning, found.Text+": uprobes before 4.0 can hang the traced program; ftgo takes --force"
	case h.Older(5, 4):
		found.State, found.Text = Warning, found.Text+": before 5.4 every site is an event of its own, which takes long to remove, and another reader can steal lines of trace_pipe"
	default:
		// Deleting an enabled event of several sites by hand: see mustBeOff of tracefs/internal/tree.
		found.Text += "; never remove enabled probes by hand, it can crash the kernel: ftgo clean does it right"
	}
	return found
}

// options are those that the kernel must have been built with.
func (h *host) options(f *tracefs.FS) Finding {
	const option = "CONFIG_UPROBE_EVENTS"
	found := Finding{Check: "uprobe_events", State: OK}
	config, from, known := h.config()
	// Its name until Linux 4.11 was without the S.
	built := configured(config, option) || configured(config, "CONFIG_UPROBE_EVENT")
	switch {
	case known && built:
		found.Text = option + "=y (" + from + ")"
	case f != nil && has(f, "uprobe_events"):
		found.Text = "the file is there"
	case known:
		found.State, found.Text = Missing, option+" is not set ("+from+"): it takes another kernel"
	case f != nil:
		found.State, found.Text = Missing, "there is no such file: the kernel needs "+option+"=y"
	default:
		found.State, found.Text = Unknown, "the kernel keeps no copy of its configuration; it needs "+option+"=y"
	}
	return found
}

// mounted is where tracefs is.
func (h *host) mounted(f *tracefs.FS, err error) Finding {
	found := Finding{Check: "tracefs", State: OK}
	var points []mount
	for _, p := range h.mounts() {
		if p.kind == "tracefs" {
			points = append(points, p)
		}
	}
	switch {
	case f != nil:
		dir := strings.TrimPrefix(f.Dir(), h.Root)
		found.Text = "mounted at " + dir
		at := slices.IndexFunc(points, func(p mount) bool { return p.point == dir })
		if at >= 0 && slices.Contains(points[at].options, "ro") {
			found.State, found.Text = Missing, found.Text+" for reading only"
			found.Fix = h.asRoot("mount -o remount,rw " + dir)
		} else if dir != machine.Tracing {
			found.Text += ", below debugfs only"
		}
	case !errors.Is(err, tracefs.ErrNotMounted):
		found.State, found.Text = Unknown, strings.Join(machine.MountPoints, " and ")+" may not be looked at"
		if len(points) > 0 {
			found.State, found.Text = OK, "mounted at "+points[0].point
		}
	case len(points) > 0:
		found.State, found.Text = Missing, "mounted at "+points[0].point+", where it is not looked for"
		found.Fix = h.asRoot("mount --bind " + points[0].point + " " + machine.Tracing)
	case h.exists(machine.Tracing):
		found.State, found.Text = Missing, "not mounted"
		found.Fix = h.asRoot("mount -t tracefs tracefs " + machine.Tracing)
	case h.exists(machine.Debugfs) && h.Older(4, 1):
		found.State, found.Text = Missing, "not mounted: before 4.1 it is a part of debugfs"
		found.Fix = h.asRoot("mount -t debugfs debugfs " + machine.Debugfs)
	default:
		found.State, found.Text = Missing, "not mounted, and "+machine.Tracing+" is not there: a kernel without tracing, or a container without the host's /sys"
	}
	if found.State == Missing && f == nil && h.readOnlySys() {
		found.Text += "; /sys is read-only, as in a container"
		found.Fix = "docker run --privileged --pid=host ..."
	}
	return found
}

func (h *host) readOnlySys() bool {
	return slices.ContainsFunc(h.mounts(), func(p mount) bool {
		return p.point == "/sys" && p.kind == "sysfs" && slices.Contains(p.options, "ro")
	})
}

// lockdown=confidentiality closes tracefs to root (security/security.c,
// LOCKDOWN_TRACEFS; since Linux 5.4), integrity does not.
func (h *host) lockdown() Finding {
	found := Finding{Check: "lockdown", State: OK, Text: "none"}
	text := h.Read("/sys/kernel/security/lockdown")
	_, after, _ := strings.Cut(text, "[")
	mode, _, ok := strings.Cut(after, "]")
	switch {
	case ok && mode == "confidentiality":
		found.State = Missing
		found.Text = "the kernel is locked down for confidentiality, which ends with a boot without lockdown=confidentiality"
	case ok && mode != "none":
		found.Text = mode + ", which lets tracing be"
	case !ok:
		found.Text = "nothing to be seen of it"
	}
	return found
}

// permission is whether this user can write definitions and make instances; denied is
// what the kernel said to the attempt.
func (h *host) permission(f *tracefs.FS, denied error) Finding {
	found := Finding{Check: "permission", State: OK, Text: "root"}
	if h.uid != 0 {
		found.Text = fmt.Sprintf("user %d, with what it takes", h.uid)
	}
	switch {
	case f == nil && denied == nil && h.uid != 0:
		found.State, found.Text = Missing, "it takes root to mount tracefs and to use it"
		found.Fix = h.asRoot("ftgo doctor")
		return found
	case f == nil && denied == nil, errors.Is(denied, fs.ErrNotExist):
		found.State, found.Text = Unknown, "there is nothing to try it on"
		return found
	case denied == nil:
		return found
	}
	path := machine.Tracing
	if at, ok := errors.AsType[*fs.PathError](denied); ok {
		path = strings.TrimPrefix(at.Path, h.Root)
	}
	found.State, found.Text = Missing, fmt.Sprintf("user %d may not use %s", h.uid, path)
	switch {
	case errors.Is(denied, syscall.EPERM):
		found.Text += ": the kernel is locked down, or a security module forbids it"
	case errors.Is(denied, syscall.EROFS):
		found.Text = path + " is for reading only"
	case h.uid == 0:
		found.Text += ": this root has no CAP_DAC_OVERRIDE, as in a container"
		found.Fix = "docker run --privileged --pid=host ..."
	default:
		found.Text += ": it takes root, or CAP_DAC_OVERRIDE" + h.group()
		found.Fix = h.asRoot("ftgo doctor")
	}
	return found
}

// asRoot is a command as this user has to type it.
func (h *host) asRoot(command string) string {
	if h.uid == 0 {
		return command
	}
	return "sudo " + command
}

// group tells what the mount option gid= does not do: its group may read, but what a
// session makes belongs to root's group again, or is not for it to write
// (include/linux/tracefs.h, TRACE_MODE_WRITE 0640).
func (h *host) group() string {
	for _, p := range h.mounts() {
		for _, o := range p.options {
			if gid, ok := strings.CutPrefix(o, "gid="); ok && p.kind == "tracefs" {
				return "; gid=" + gid + " of the mount lets a group read, not write"
			}
		}
	}
	return ""
}

// leftBehind is what killed runs have left.
func (h *host) leftBehind(f *tracefs.FS) Finding {
	found := Finding{Check: "leftovers", State: OK, Text: "none of killed runs"}
	left, err := f.Leftovers()
	switch {
	case errors.Is(err, os.ErrPermission):
		found.State, found.Text = Unknown, "not to be seen without permission"
	case err != nil:
		found.State, found.Text = Unknown, err.Error()
	case len(left) > 0:
		events := 0
		for _, l := range left {
			events += l.Events
		}
		found.State, found.Fix = Warning, h.asRoot("ftgo clean")
		found.Text = fmt.Sprintf("%d of killed runs, with %d probe events, which the next run removes", len(left), events)
	}
	return found
}
