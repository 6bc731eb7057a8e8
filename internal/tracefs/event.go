package tracefs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Event is one event of uprobe_events: a name, the values it fetches, and the
// places where it fires. It has no kind, because there is only one: a plain probe.
type Event struct {
	Name string // a C identifier of at most 63 bytes, unique in its group
	Args []Arg  // fetched at every site
	// Fetch[i], if there is one and it is not nil, is what Sites[i] fetches instead of the
	// Fetch of each of Args: names and types must be the same at all sites, but nothing else.
	Fetch [][]string
	// Sites are file offsets of instructions. More than one needs a kernel that
	// appends probes to an event ([Features].Append).
	Sites []uint64
	// Filter is the kernel's for each hit; what fails it is counted but not recorded. Empty records all.
	Filter string
	// PC is the fetcharg of the address of the instruction that was hit, by which "@+OFFSET" in Fetch is
	// reckoned; "" is that of x86.
	PC string

	group string // that of an event of the kernel itself, which has a name and nothing else
}

// Arg is one fetched value, in the grammar of Documentation/trace/uprobetracer.rst:
//
//	NAME=FETCHARG:TYPE
type Arg struct {
	Name  string // a C identifier of at most 32 bytes
	Fetch string // what is read: "%REGISTER", or memory, as in "+8(%REGISTER)", "+0(+8(%REGISTER))"
	// Type is how it is printed: "s64" is decimal since Linux 3.10, u64 hexadecimal before 4.9.
	Type string
}

// Limits of kernel/trace/trace_probe.h: MAX_EVENT_NAME_LEN, MAX_ARG_NAME_LEN,
// MAX_ARGSTR_LEN (with :TYPE, without NAME=), MAX_TRACE_ARGS.
const (
	maxEventName = 63
	maxArgName   = 32
	maxArgText   = 63
	maxArgs      = 128
)

// Definitions returns the event's lines for uprobe_events, one a site:
//
//	p:GROUP/EVENT PATH:0xOFFSET NAME=FETCHARG:TYPE ...
//
// It refuses what the kernel would, and what it would accept to no good.
func (e *Event) Definitions(group, path string) ([]string, error) {
	if err := checkName(e.Name, maxEventName); err != nil {
		return nil, fmt.Errorf("define event: %w", err)
	}
	switch {
	case len(e.Sites) == 0:
		return nil, fmt.Errorf("define event %s: no site", e.Name)
	case len(e.Args) > maxArgs:
		return nil, fmt.Errorf("define event %s: %d arguments (at most %d)", e.Name, len(e.Args), maxArgs)
	case len(e.Fetch) > 0 && len(e.Fetch) != len(e.Sites):
		return nil, fmt.Errorf("define event %s: %d lists of what to fetch for %d sites", e.Name, len(e.Fetch), len(e.Sites))
	}
	differs := len(e.Fetch) > 0 || slices.ContainsFunc(e.Args, func(a Arg) bool { return strings.Contains(a.Fetch, "@+") })
	lines := make([]string, len(e.Sites))
	var args string
	for i, off := range e.Sites {
		if i == 0 || differs {
			var err error
			if args, err = e.argsAt(i); err != nil {
				return nil, fmt.Errorf("define event %s: %w", e.Name, err)
			}
		}
		lines[i] = fmt.Sprintf("p:%s/%s %s:0x%x%s", group, e.Name, path, off, args)
	}
	return lines, nil
}

// argsAt is what a site fetches, as it is written to the kernel.
func (e *Event) argsAt(site int) (string, error) {
	var fetch []string
	if len(e.Fetch) > 0 {
		fetch = e.Fetch[site]
	}
	if fetch != nil && len(fetch) != len(e.Args) {
		return "", fmt.Errorf("site %d fetches %d values, not %d", site, len(fetch), len(e.Args))
	}
	var b strings.Builder
	for i, a := range e.Args {
		if fetch != nil {
			a.Fetch = fetch[i]
		}
		a.Fetch = fromSite(a.Fetch, e.Sites[site], cmp.Or(e.PC, "%ip"))
		text := a.Name + "=" + a.Fetch + ":" + a.Type
		if err := checkName(a.Name, maxArgName); err != nil {
			return "", fmt.Errorf("argument %w", err)
		}
		// A blank or newline would end the argument, or the whole definition.
		if strings.ContainsAny(a.Fetch+a.Type, " \t\n\r") {
			return "", fmt.Errorf("argument %q: blank in it", text)
		}
		if n := len(text) - len(a.Name) - 1; n > maxArgText {
			return "", fmt.Errorf("argument %q: %d bytes (at most %d)", text, n, maxArgText)
		}
		b.WriteString(" " + text)
	}
	return b.String(), nil
}

func checkName(name string, limit int) error {
	if name == "" || len(name) > limit {
		return fmt.Errorf("name %q: %d bytes (1 to %d)", name, len(name), limit)
	}
	const digits, letters = "0123456789", "_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	if strings.Trim(name, letters+digits) != "" || strings.Contains(digits, name[:1]) {
		return fmt.Errorf("name %q: not a C identifier", name)
	}
	return nil
}

// longText tells whether the kernel's text of a hit may be longer than it makes it: then the line
// is cut off, and the next one follows in it. The text has a page, before Linux 6.8 (struct
// trace_seq in include/linux/trace_seq.h). A word has at most 20 characters, with what is around
// it, and what precedes the arguments no more than maxHead.
func (e Event) longText() bool {
	const page, word, maxHead = 4096, len(",-9223372036854775808"), 256
	length := maxHead
	for _, a := range e.Args {
		_, words, _ := strings.Cut(a.Type, "[")
		n, _ := strconv.Atoi(strings.TrimSuffix(words, "]"))
		length += len(" =") + len(a.Name) + max(n, 1)*word
	}
	return length >= page
}

// fromSite says "@+OFFSET", so far into the mapped file, by its distance from the probe, whose address a
// register has: "+N(%ip)".
//
// From 4.20 to 2026 kernels add the offset twice, and fetch from somewhere else (commit
// 533059281ee5, "tracing: probeevent: Introduce new argument fetching code", which leaves
// it in the variable that it takes for the dereference); older and newer ones reckon from
// the probe, too (kernel/trace/trace_uprobe.c, translate_user_vaddr).
func fromSite(fetch string, site uint64, pc string) string {
	before, after, ok := strings.Cut(fetch, "@+")
	if !ok {
		return fetch
	}
	rest := strings.TrimLeft(after, "0123456789abcdefxABCDEFX")
	offset, err := strconv.ParseInt(after[:len(after)-len(rest)], 0, 64)
	if err != nil {
		return fetch // for the kernel to refuse
	}
	return fmt.Sprintf("%s%+d(%s)%s", before, offset-int64(site), pc, rest)
}

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
	tell, all := f.telling("probes defined"), len(lines)
	for len(lines) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		tell(all-len(lines), all)
		n, size := 0, 0
		for n < len(lines) && size+len(lines[n])+1 <= maxWrite {
			size += len(lines[n]) + 1
			n++
		}
		if n == 0 {
			return &probeError{line: lines[0], err: fmt.Errorf("%d bytes: longer than the kernel takes", len(lines[0]))}
		}
		text := strings.Join(lines[:n], "\n") + "\n"
		if err := f.files.Append(f.path("uprobe_events"), text); err != nil {
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
	// msg is the kernel's explanation (error_log, since 5.4), at the part that it points at, or "".
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

// explain finds which line of a write was refused, and why, if the file is there and can be opened.
func (f *FS) explain(lines []string, err error) error {
	at, ok := errors.AsType[*fs.PathError](err)
	switch {
	case isNotExist(err) && !f.exists("uprobe_events"):
		return fmt.Errorf("write %s: %w (the kernel needs CONFIG_UPROBE_EVENTS=y)", f.path("uprobe_events"), err)
	case ok && at.Op == "open" || errors.Is(err, fs.ErrPermission):
		return err
	}
	if log, logErr := f.files.Read(f.path("error_log")); logErr == nil {
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
	b, _ := f.files.Read(f.path("uprobe_events")) // without, it lists none
	have := make(map[string]int)
	for l := range strings.Lines(string(b)) {
		have[eventOf(l)]++
	}
	for i, l := range lines {
		if have[eventOf(l)]--; have[eventOf(l)] < 0 {
			return i
		}
	}
	return len(lines)
}

// eventOf is the "GROUP/EVENT" of a definition as written or as shown, "" if the line is none:
// "p:GROUP/EVENT PLACE ...", "r4:GROUP/EVENT ...", "s:synthetic/EVENT ...".
func eventOf(line string) string {
	_, rest, _ := strings.Cut(line, ":")
	name, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return name
}

// lastRefusal reads error_log, which others write to, too, backwards for the newest entry about one
// of our lines. An entry is (kernel/trace/trace.c, tracing_log_err):
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

// checkFileSystem refuses a file whose probes would never be hit: the kernel reads instructions from
// tmpfs since Linux 3.16 (commit 40814f6805a5, "uprobes: Teach copy_insn() to support tmpfs");
// before, whoever maps the file later goes without breakpoints, and nobody is told.
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
