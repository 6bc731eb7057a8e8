package tracefs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// ProbeError is a definition that the kernel refused.
type ProbeError struct {
	// Line is the definition.
	Line string
	// Err is the error of the write.
	Err error
	// msg is the kernel's own explanation from error_log (since 5.4), and col the
	// column of Line, from 0, that it points at; -1 where there is none.
	msg string
	col int
}

func (e *ProbeError) Error() string {
	if e.msg == "" {
		return fmt.Sprintf("define probe %q: %v", e.short(), e.Err)
	}
	if w := e.word(); w != "" {
		return fmt.Sprintf("define probe %q: %v: %s at %q", e.short(), e.Err, e.msg, w)
	}
	return fmt.Sprintf("define probe %q: %v: %s", e.short(), e.Err, e.msg)
}

func (e *ProbeError) Unwrap() error { return e.Err }

// word is the part of the line that the kernel points at, "" if it points nowhere.
func (e *ProbeError) word() string {
	if e.msg == "" || e.col < 0 || e.col >= len(e.Line) {
		return ""
	}
	w := e.Line[e.col:]
	if i := strings.IndexByte(w, ' '); i >= 0 {
		w = w[:i]
	}
	return w
}

// explain finds which of the lines of one write was refused, and why, if it was a line: the file
// may not be there, or not be opened.
func (f *FS) explain(lines []string, err error) error {
	at, ok := errors.AsType[*fs.PathError](err)
	if ok && at.Op == "open" || errors.Is(err, fs.ErrPermission) || files.IsNotExist(err) && !f.tree.Exists("uprobe_events") {
		return files.Refused("write", f.tree.Path("uprobe_events"), err)
	}
	log, logErr := f.tree.Ops.Read(f.tree.Path("error_log"))
	if logErr == nil {
		if pe := lastRefusal(string(log), lines); pe != nil {
			pe.Err = err
			return pe
		}
	}
	// Kernels before 5.4 say nothing: the culprit is the first line that is not
	// defined now, and where that can't be told, the first one written.
	return &ProbeError{Line: lines[f.definedCount(lines)%len(lines)], col: -1, Err: err}
}

// definedCount is how many of the lines, from the first, uprobe_events lists.
func (f *FS) definedCount(lines []string) int {
	b, err := f.tree.Ops.Read(f.tree.Path("uprobe_events"))
	if err != nil {
		return 0
	}
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
	rest, ok := strings.CutPrefix(line, "p:")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, " ")
	return name
}

// lastRefusal reads error_log backwards for the newest entry about one of our
// lines; others write into the same log. An entry is (kernel/trace/trace.c,
// tracing_log_err):
//
//	[  447.809285] trace_uprobe: error: Invalid unsigned integer string
//	  Command: p:g/e /bin/true:zz
//	                           ^
func lastRefusal(log string, lines []string) *ProbeError {
	ours := make(map[string]bool, len(lines))
	for _, l := range lines {
		ours[l] = true
	}
	entries := strings.Split(log, "\n")
	for i := len(entries) - 1; i > 0; i-- {
		cmd, ok := strings.CutPrefix(entries[i], "  Command: ")
		if !ok || !ours[strings.TrimRight(cmd, " ")] {
			continue
		}
		_, msg, ok := strings.Cut(entries[i-1], ": error: ")
		if !ok {
			continue
		}
		col := -1
		if i+1 < len(entries) {
			if c := strings.IndexByte(entries[i+1], '^'); c >= 0 {
				col = c - len("  Command: ")
			}
		}
		return &ProbeError{Line: strings.TrimRight(cmd, " "), msg: strings.TrimSpace(msg), col: col}
	}
	return nil
}

// short is the definition, or the beginning of one that is long.
func (e *ProbeError) short() string {
	const enough = 300
	if len(e.Line) <= enough {
		return e.Line
	}
	return e.Line[:enough] + "…"
}
