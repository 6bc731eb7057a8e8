package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
)

func TestExitStatus(t *testing.T) {
	const tracing = "/sys/kernel/tracing/"
	at := func(op, path string, err error) error {
		return fmt.Errorf("do: %w", &fs.PathError{Op: op, Path: path, Err: err})
	}
	for _, c := range []struct {
		name string
		err  error
		code int
		text string
	}{
		{"none", nil, ExitOK, ""},
		{"not mounted", fmt.Errorf("find: %w", tracefs.ErrNotMounted), ExitKernel, "find: tracefs is not mounted"},
		{"not supported", tracefs.ErrNotSupported, ExitKernel, "not supported by this kernel"},
		{"definition refused", fmt.Errorf("define probe \"p:x\": %w: %w", syscall.EINVAL, tracefs.ErrRefused), ExitKernel, `define probe "p:x": invalid argument: definition refused`},
		{"permission", at("open", tracing+"uprobe_events", syscall.EACCES), ExitKernel, "do: open /sys/kernel/tracing/uprobe_events: permission denied"},
		{"read-only", at("mkdir", tracing+"instances/a", syscall.EROFS), ExitKernel, "do: mkdir /sys/kernel/tracing/instances/a: read-only file system"},
		{"locked down", at("mkdir", tracing+"instances/a", syscall.EINVAL), ExitKernel, "do: mkdir /sys/kernel/tracing/instances/a: invalid argument"},
		{"no memory", at("write", tracing+"instances/a/buffer_size_kb", syscall.ENOMEM), ExitKernel, "do: write /sys/kernel/tracing/instances/a/buffer_size_kb: cannot allocate memory"},
		{"no memory of our own", syscall.ENOMEM, ExitFailed, "cannot allocate memory"},
		{"enabling fails", at("write", tracing+"instances/a/events/a/e/enable", syscall.EINVAL), ExitFailed, "do: write /sys/kernel/tracing/instances/a/events/a/e/enable: invalid argument"},
		{"permission elsewhere", at("open", "/root/x", syscall.EACCES), ExitFailed, "do: open /root/x: permission denied"},
		{"reader gone", at("write", "/dev/stdout", syscall.EPIPE), ExitOK, ""},
		{"reader gone, which several have found", errors.Join(syscall.EPIPE, at("write", "/dev/stdout", errors.Join(syscall.EPIPE))), ExitOK, ""},
		{"reader gone, and something failed", errors.Join(at("write", "/dev/stdout", syscall.EPIPE), errors.New("read the counters: a")), ExitFailed, "do: write /dev/stdout: broken pipe; read the counters: a"},
		{"something failed with a status, and the reader gone", fmt.Errorf("end: %w", errors.Join(Nothing("a"), syscall.EPIPE)), ExitNothing, "end: a; broken pipe"},
		{"program's status", ProgramStatus(7), 7, ""},
		{"several lines", errors.Join(errors.New("a"), errors.New("b")), ExitFailed, "a; b"},
		{"the same twice", errors.Join(syscall.ENOSPC, fmt.Errorf("write call: %w", syscall.ENOSPC), syscall.ENOSPC), ExitFailed, "write call: no space left on device"},
		{"not removed", fmt.Errorf("session ftgo_1_2_3 %w: %w", tracefs.ErrRemains, syscall.EBUSY), ExitFailed,
			"session ftgo_1_2_3 remains in the kernel: device or resource busy; ftgo clean removes the rest"},
		{"not removed, and the reader gone", errors.Join(syscall.EPIPE, fmt.Errorf("session ftgo_1_2_3 %w: %w", tracefs.ErrRemains, syscall.EPERM)), ExitFailed,
			"broken pipe; session ftgo_1_2_3 remains in the kernel: operation not permitted; ftgo clean removes the rest"},
	} {
		if code, text := ExitStatus(c.err); code != c.code || text != c.text {
			t.Errorf("%s: %d, %q; want %d, %q", c.name, code, text, c.code, c.text)
		}
	}
}
