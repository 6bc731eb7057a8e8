package tracefs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/tracefs/internal/tree"
)

// maxWrite is how much of uprobe_events the kernel reads at a time: it cuts a
// write into pieces of WRITE_BUFSIZE = 4096 bytes, NUL included, and refuses a line
// longer than one (kernel/trace/trace.c, trace_parse_run_command).
const maxWrite = 4095

// definitions are the lines that define events of the session.
func (s *Session) definitions(events []Event) ([]string, error) {
	// The first site of each event comes before the second of any: to append a site
	// the kernel looks for its event from the beginning of the list of all sites
	// (kernel/trace/trace_uprobe.c, find_probe_event).
	var first, rest []string
	for i := range events {
		lines, err := events[i].Definitions(s.Name, s.target.Path)
		if err != nil {
			return nil, err
		}
		if len(lines) > 1 && !s.features.Append {
			return nil, fmt.Errorf("define event %s with %d sites: %w", events[i].Name, len(lines), ErrNotSupported)
		}
		first, rest = append(first, lines[0]), append(rest, lines[1:]...)
	}
	return append(first, rest...), nil
}

// define writes definitions, and asks whether they still are of the file that was meant.
func (s *Session) define(ctx context.Context, lines []string) error {
	s.defined = true
	if err := s.fs.define(ctx, lines); err != nil {
		return err
	}
	if s.target.Unchanged != nil {
		return s.target.Unchanged()
	}
	return nil
}

// define appends lines to uprobe_events, several to a write. A line that is
// refused ends it: the lines before it stay defined, and the error, an [ErrRefused], shows the line.
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
			return &probeError{line: lines[0], err: fmt.Errorf("%d bytes: longer than the kernel takes", len(lines[0]))}
		}
		text := strings.Join(lines[:n], "\n") + "\n"
		if err := f.tree.Append(f.tree.Path("uprobe_events"), text); err != nil {
			return f.explain(lines[:n], err)
		}
		lines = lines[n:]
	}
	return nil
}

// probeError is a definition that the kernel refused.
type probeError struct {
	line string
	err  error // of the write
	// msg is the kernel's own explanation from error_log (since 5.4), and at the part of the line
	// that it points at; "" where there is none.
	msg, at string
}

func (e *probeError) Error() string {
	const enough = 300
	line := e.line
	if len(line) > enough {
		line = line[:enough] + "…"
	}
	text := fmt.Sprintf("define probe %q: %v", line, e.err)
	if e.msg != "" {
		text += ": " + e.msg
	}
	if e.at != "" {
		text += fmt.Sprintf(" at %q", e.at)
	}
	return text
}

func (e *probeError) Unwrap() []error { return []error{e.err, ErrRefused} }

// explain finds which of the lines of one write was refused, and why, if it was a line: the file
// may not be there, or not be opened.
func (f *FS) explain(lines []string, err error) error {
	at, ok := errors.AsType[*fs.PathError](err)
	switch {
	case tree.IsNotExist(err) && !f.tree.Exists("uprobe_events"):
		return fmt.Errorf("write %s: %w (the kernel needs CONFIG_UPROBE_EVENTS=y)", f.tree.Path("uprobe_events"), err)
	case ok && at.Op == "open" || errors.Is(err, fs.ErrPermission):
		return err
	}
	if log, logErr := f.tree.Read(f.tree.Path("error_log")); logErr == nil {
		if pe := lastRefusal(string(log), lines); pe != nil {
			pe.err = err
			return pe
		}
	}
	// Kernels before 5.4 say nothing: the culprit is the first line that is not
	// defined now, and where that can't be told, the first one written.
	return &probeError{line: lines[f.definedCount(lines)%len(lines)], err: err}
}

// definedCount is how many of the lines, from the first, uprobe_events lists.
func (f *FS) definedCount(lines []string) int {
	b, _ := f.tree.Read(f.tree.Path("uprobe_events")) // without, it lists none
	have := make(map[string]int)
	for l := range strings.SplitSeq(string(b), "\n") {
		have[eventOf(l)]++
	}
	for i, l := range lines {
		if have[eventOf(l)] == 0 {
			return i
		}
		have[eventOf(l)]--
	}
	return len(lines)
}

// eventOf is the "GROUP/EVENT" of a definition as written or as shown, "" if the
// line is none.
func eventOf(line string) string {
	rest, _ := strings.CutPrefix(line, "p:")
	name, _, _ := strings.Cut(rest, " ")
	if rest == line {
		return ""
	}
	return name
}

// lastRefusal reads error_log backwards for the newest entry about one of our
// lines; others write into the same log. An entry is (kernel/trace/trace.c,
// tracing_log_err):
//
//	[  447.809285] trace_uprobe: error: Invalid unsigned integer string
//	  Command: p:g/e /bin/true:zz
//	                           ^
func lastRefusal(log string, lines []string) *probeError {
	const command = "  Command: "
	ours := make(map[string]bool, len(lines))
	for _, l := range lines {
		ours[l] = true
	}
	entries := append(strings.Split(log, "\n"), "")
	for i := len(entries) - 2; i > 0; i-- {
		cmd, ok := strings.CutPrefix(entries[i], command)
		_, msg, told := strings.Cut(entries[i-1], ": error: ")
		line := strings.TrimRight(cmd, " ")
		if !ok || !told || !ours[line] {
			continue
		}
		pe := &probeError{line: line, msg: strings.TrimSpace(msg)}
		if col := strings.IndexByte(entries[i+1], '^') - len(command); pe.msg != "" && 0 <= col && col < len(line) {
			pe.at, _, _ = strings.Cut(line[col:], " ")
		}
		return pe
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
