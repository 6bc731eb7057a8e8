package tracefs

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/sys/unix"
)

// maxWrite is how much of uprobe_events the kernel reads at a time: it cuts a
// write into pieces of WRITE_BUFSIZE = 4096 bytes, NUL included, and refuses a line
// longer than one (kernel/trace/trace.c, trace_parse_run_command).
const maxWrite = 4095

// define appends lines to uprobe_events, several to a write. A line that is
// refused ends it: the lines before it stay defined, and the error is a
// [*ProbeError] that shows the line.
func (f *FS) define(ctx context.Context, lines []string) error {
	for len(lines) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, size := 0, 0
		for n < len(lines) && size+len(lines[n])+1 <= maxWrite {
			size += len(lines[n]) + 1
			n++
		}
		if n == 0 {
			return &ProbeError{Line: lines[0], Err: fmt.Errorf("%d bytes: longer than the kernel takes", len(lines[0]))}
		}
		text := strings.Join(lines[:n], "\n") + "\n"
		if err := f.tree.Ops.Append(f.tree.Path("uprobe_events"), text); err != nil {
			return f.explain(lines[:n], err)
		}
		lines = lines[n:]
	}
	return nil
}

// checkFileSystem refuses a file whose probes would never be hit: the kernel reads
// instructions from tmpfs since Linux 3.16 (commit 40814f6805a5, "uprobes: Teach copy_insn()
// to support tmpfs"); before, whoever maps the file later goes without breakpoints, and
// nobody is told.
func checkFileSystem(path string, older func(major, minor int) bool) error {
	var at unix.Statfs_t
	if unix.Statfs(path, &at) != nil || at.Type != unix.TMPFS_MAGIC || !older(3, 16) {
		return nil
	}
	return fmt.Errorf("probe a file on tmpfs: %w (since Linux 3.16): copy it elsewhere", ErrNotSupported)
}

// unreadable explains what the kernel says to files that it can't read instructions from:
// those of overlayfs, until it looked below it (kernel/events/uprobes.c, uprobe_register).
func unreadable(err error) error {
	if errors.Is(err, unix.EIO) {
		return fmt.Errorf("%w (Linux before 4.18 can't probe files on overlayfs: name the one below it)", err)
	}
	return err
}

// What sites and events cost, in nanoseconds: measured on Linux 6.18 in a virtual machine
// with 2 MB of second-level cache, 1 to 15,000 sites (scripts/bench -only split does it
// again). Only their ratio matters, and only by its root.
const (
	// compareCost is of one comparison with an earlier site of the same event: each
	// definition makes one with every one of them (kernel/trace/trace_uprobe.c,
	// trace_uprobe_has_same_uprobe).
	compareCost = 6.5
	// graceCost is of the grace period which each event takes when it is disarmed,
	// whatever it holds (trace_uprobe.c, __probe_event_disable). They come one after
	// the other: the kernel holds event_mutex meanwhile, so disabling the whole group,
	// removing the instance, or several threads don't make it one.
	graceCost = 55e6
)

// SitesPerEvent is how many sites to give each event at most for n of them to be armed and
// disarmed in the shortest time.
//
// In k events of n/k sites they cost n²/2k comparisons and k grace periods. That is least
// where one more event would save less in comparisons than it takes:
//
//	n²/2k·compareCost − n²/2(k+1)·compareCost ≤ graceCost
//
// The other costs don't depend on k, first of all that each definition is also compared
// with all others in the kernel (validate_ref_ctr_offset), the larger part from 15,000
// sites on.
func SitesPerEvent(n int) int {
	comparisons := float64(n) * float64(n) / 2
	k := 1
	for comparisons/float64(k*(k+1))*compareCost > graceCost {
		k++
	}
	return max(1, (n+k-1)/k)
}
