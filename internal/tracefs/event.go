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

// Event is one event of uprobe_events: a name, the values that it fetches, and the sites where it fires. All events
// are plain ("p:") probes.
type Event struct {
	Name string `json:"name"`           // a C identifier of at most 63 bytes, unique in its group
	Args []Arg  `json:"args,omitempty"` // fetched at every site
	// Fetch[i], if it exists and is not nil, replaces the Fetch of each of Args at Sites[i]. Names and types of
	// arguments are the same at all sites.
	Fetch [][]string `json:"-"`
	// Sites are file offsets of instructions. Several sites need a kernel that appends probes to an event
	// ([Features].Append).
	Sites []uint64 `json:"-"`
	// Filter is an expression that the kernel evaluates for each hit. If it is false, the hit is counted, but
	// not recorded. An empty filter records all hits.
	Filter string `json:"filter,omitempty"`
	// PC is the fetcharg of the program counter. "@+OFFSET" in Fetch is replaced by a distance from the
	// program counter. "" means "%ip", as on x86.
	PC string `json:"-"`
	// Recorded says that each hit needs a record, although no Args are fetched.
	Recorded bool `json:"-"`

	group string // the group of a kernel event, which has no other field than Name; "" for probes
}

// Arg is one fetched value, in the grammar of Documentation/trace/uprobetracer.rst:
//
//	NAME=FETCHARG:TYPE
type Arg struct {
	Name  string // a C identifier of at most 32 bytes
	Fetch string // the operand: "%REGISTER", or memory, as in "+8(%REGISTER)", "+0(+8(%REGISTER))"
	// Type selects how the kernel prints the value: "s64" is decimal since Linux 3.10, "u64" is hexadecimal before 4.9.
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

// Definitions returns the event's lines for uprobe_events, one for each site:
//
//	p:GROUP/EVENT PATH:0xOFFSET NAME=FETCHARG:TYPE ...
//
// It returns an error for events that the kernel would refuse, and for arguments with white space, which would end
// the definition early.
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
		return nil, fmt.Errorf("define event %s: %d lists of fetchargs for %d sites", e.Name, len(e.Fetch), len(e.Sites))
	}
	for _, a := range e.Args {
		if err := checkName(a.Name, maxArgName); err != nil {
			return nil, fmt.Errorf("define event %s: argument %w", e.Name, err)
		}
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

// argsAt returns the arguments of a site, as they are written to uprobe_events.
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
		a.Fetch = siteRelative(a.Fetch, e.Sites[site], cmp.Or(e.PC, "%ip"))
		text := a.Name + "=" + a.Fetch + ":" + a.Type
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

// textMayOverflow reports whether the text of a hit may be longer than the kernel's buffer for it. Then the kernel
// cuts the line off, and the next line follows without a newline. The buffer has one page before Linux 6.8 (struct
// trace_seq in include/linux/trace_seq.h). A number takes at most 20 characters plus a separator, and the text before
// the arguments at most maxHead.
func (e Event) textMayOverflow() bool {
	const page, word, maxHead = 4096, len(",-9223372036854775808"), 256
	length := maxHead
	for _, a := range e.Args {
		_, words, _ := strings.Cut(a.Type, "[")
		n, _ := strconv.Atoi(strings.TrimSuffix(words, "]"))
		length += len(" =") + len(a.Name) + max(n, 1)*word
	}
	return length >= page
}

// siteRelative replaces "@+OFFSET", an offset in the mapped file, by "+N(%ip)", a distance from the probed instruction.
// pc is the fetcharg of that instruction's address.
//
// Kernels from 4.20 to 2026 add the offset twice and fetch from a wrong address (commit 533059281ee5, "tracing:
// probeevent: Introduce new argument fetching code", which leaves the offset in the variable that it uses for the
// dereference). Older and newer kernels also compute the address from the probe's (kernel/trace/trace_uprobe.c,
// translate_user_vaddr).
func siteRelative(fetch string, site uint64, pc string) string {
	before, after, ok := strings.Cut(fetch, "@+")
	if !ok {
		return fetch
	}
	rest := strings.TrimLeft(after, "0123456789abcdefxABCDEFX")
	offset, err := strconv.ParseInt(after[:len(after)-len(rest)], 0, 64)
	if err != nil {
		return fetch // the kernel refuses it
	}
	return fmt.Sprintf("%s%+d(%s)%s", before, offset-int64(site), pc, rest)
}

// maxWrite is the number of bytes of a write that the kernel reads at a time: it splits a write to uprobe_events into
// pieces of WRITE_BUFSIZE = 4096 bytes, NUL included, and refuses longer lines (kernel/trace/trace.c,
// trace_parse_run_command).
const maxWrite = 4095

// definitions returns the lines that define events in the session's group.
func (s *Session) definitions(events []Event) ([]string, error) {
	// The first sites of all events come before the second ones: to append a site, the kernel searches the list of
	// all sites from its beginning for the event (kernel/trace/trace_uprobe.c, find_probe_event).
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

// define writes definitions, and then checks that the file has not changed meanwhile.
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

// define appends lines to uprobe_events, several at a write. If the kernel refuses a line, define returns an
// [ErrRefused] that shows it; the lines before it stay defined.
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
			return refused(lines[0], fmt.Sprintf(" with %d bytes", len(lines[0])), unix.E2BIG)
		}
		text := strings.Join(lines[:n], "\n") + "\n"
		if err := f.files.Append(f.path("uprobe_events"), text); err != nil {
			return f.explain(lines[:n], err)
		}
		lines = lines[n:]
	}
	return nil
}

// refused returns the error for a definition that the kernel refused. err is the error of write(2), and why is the
// explanation of it, which may be "".
func refused(line, why string, err error) error {
	const enough = 300
	if len(line) > enough {
		line = line[:enough] + "…"
	}
	return fmt.Errorf("define probe %q: %w: %w%s", line, ErrRefused, err, why)
}

// explain adds the refused line to an error of a write to uprobe_events. It adds no line to
// errors that do not depend on one: the file does not exist, can't be opened, or permission is denied.
func (f *FS) explain(lines []string, err error) error {
	at, ok := errors.AsType[*fs.PathError](err)
	switch {
	case isNotExist(err) && !f.exists("uprobe_events"):
		return fmt.Errorf("write %s: %w (the kernel needs CONFIG_UPROBE_EVENTS=y)", f.path("uprobe_events"), err)
	case ok && at.Op == "open" || errors.Is(err, fs.ErrPermission):
		return err
	}
	log, _ := f.files.Read(f.path("error_log")) // since Linux 5.4
	line, why := lastRefusal(string(log), lines)
	if line == "" {
		// The refused line is the first one that is not defined now. If all seem to be defined, take the first one.
		defined := f.dynamicEvents()
		line = lines[max(0, slices.IndexFunc(lines, func(l string) bool { return !defined[eventOf(l)] }))]
	}
	return refused(line, why, err)
}

// eventOf returns the "GROUP/EVENT" of a definition in uprobe_events, kprobe_events or dynamic_events:
// "p:GROUP/EVENT PLACE ...", "r4:GROUP/EVENT ...", "s:synthetic/EVENT ...". It returns "" for other lines.
func eventOf(line string) string {
	_, rest, _ := strings.Cut(line, ":")
	name, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	return name
}

// lastRefusal returns the line that the newest entry of error_log about one of lines shows, and why the kernel has refused it.
// line is "" if there is no such entry. Other processes write to error_log, too. An entry is (kernel/trace/trace.c,
// tracing_log_err):
//
//	[  447.809285] trace_uprobe: error: Invalid unsigned integer string
//	  Command: p:g/e /bin/true:zz
//	                           ^
func lastRefusal(log string, lines []string) (line, why string) {
	const command = "  Command: "
	entries := append(strings.Split(log, "\n"), "")
	for i := len(entries) - 2; i > 0; i-- {
		cmd, ok := strings.CutPrefix(entries[i], command)
		_, msg, found := strings.Cut(entries[i-1], ": error: ")
		line := strings.TrimRight(cmd, " ")
		if !ok || !found || !slices.Contains(lines, line) {
			continue
		}
		why = ": " + strings.TrimSpace(msg)
		if col := strings.IndexByte(entries[i+1], '^') - len(command); 0 <= col && col < len(line) {
			at, _, _ := strings.Cut(line[col:], " ")
			why += fmt.Sprintf(" at %q", at)
		}
		return line, why
	}
	return "", ""
}

// checkFileSystem returns an error if the file is on tmpfs and the kernel is older than Linux 3.16. Such a kernel can't
// read instructions from tmpfs (commit 40814f6805a5, "uprobes: Teach copy_insn() to support tmpfs"). When a process maps
// the file, the kernel places no breakpoints and reports no error, so the probes would never be hit.
func checkFileSystem(path string, older func(major, minor int) bool) error {
	var at unix.Statfs_t
	if unix.Statfs(path, &at) != nil || at.Type != unix.TMPFS_MAGIC || !older(3, 16) {
		return nil
	}
	return fmt.Errorf("probe a file on tmpfs: %w (since Linux 3.16): copy it elsewhere", ErrNotSupported)
}

// explainEIO adds an explanation to EIO, which means that the kernel can't read instructions from the file system.
// Before 4.18 this happens for overlayfs (kernel/events/uprobes.c, uprobe_register). It returns other errors unchanged.
func explainEIO(err error) error {
	if errors.Is(err, unix.EIO) {
		return fmt.Errorf("%w (Linux before 4.18 can't probe files on overlayfs: name the one below it)", err)
	}
	return err
}
