package tracefs

import (
	"fmt"
	"strings"
)

// Event is one event of uprobe_events: a name, the values it fetches, and the
// places where it fires. It has no kind, because there is only one: a plain probe.
type Event struct {
	// Name is a C identifier of at most 63 bytes, unique in its group.
	Name string
	// Args are fetched at every site.
	Args []Arg
	// Sites are file offsets of instructions. More than one needs a kernel that
	// appends probes to an event ([Features].Append).
	Sites []uint64
	// Filter is evaluated by the kernel for each hit; what fails it is counted but
	// not recorded. Empty records everything.
	Filter string
}

// Arg is one fetched value, in the grammar of Documentation/trace/uprobetracer.rst:
//
//	NAME=FETCHARG:TYPE
type Arg struct {
	// Name is a C identifier of at most 32 bytes.
	Name string
	// Fetch is what is read: "%sp", "+8(%r14)", "+0(+8(%sp))".
	Fetch string
	// Type is how it is printed: "s64" is decimal on every kernel since 3.10,
	// while u64 is hexadecimal before 4.9.
	Type string
}

func (a Arg) String() string { return a.Name + "=" + a.Fetch + ":" + a.Type }

// Limits of kernel/trace/trace_probe.h: MAX_EVENT_NAME_LEN, MAX_ARG_NAME_LEN,
// MAX_ARGSTR_LEN (with NAME=), MAX_TRACE_ARGS.
const (
	maxEventName = 63
	maxArgName   = 32
	maxArgText   = 63
	maxArgs      = 128
)

// check refuses what the kernel would, and what it would accept to no good.
func (e *Event) check() error {
	if err := checkName(e.Name, maxEventName); err != nil {
		return fmt.Errorf("define event: %w", err)
	}
	if len(e.Sites) == 0 {
		return fmt.Errorf("define event %s: no site", e.Name)
	}
	if len(e.Args) > maxArgs {
		return fmt.Errorf("define event %s: %d arguments (at most %d)", e.Name, len(e.Args), maxArgs)
	}
	for _, a := range e.Args {
		if err := checkName(a.Name, maxArgName); err != nil {
			return fmt.Errorf("define event %s: argument %w", e.Name, err)
		}
		// A blank or newline would end the argument, or the whole definition.
		if strings.ContainsAny(a.Fetch+a.Type, " \t\n\r") {
			return fmt.Errorf("define event %s: argument %q: blank in it", e.Name, a)
		}
		if n := len(a.String()); n > maxArgText {
			return fmt.Errorf("define event %s: argument %q: %d bytes (at most %d)", e.Name, a, n, maxArgText)
		}
	}
	return nil
}

func checkName(name string, limit int) error {
	if name == "" || len(name) > limit {
		return fmt.Errorf("name %q: %d bytes (1 to %d)", name, len(name), limit)
	}
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return fmt.Errorf("name %q: not a C identifier", name)
		}
	}
	return nil
}

// Definitions returns the event's lines for uprobe_events, one a site:
//
//	p:GROUP/EVENT PATH:0xOFFSET NAME=FETCHARG:TYPE ...
func (e *Event) Definitions(group, path string) []string {
	var args strings.Builder
	for _, a := range e.Args {
		args.WriteByte(' ')
		args.WriteString(a.String())
	}
	lines := make([]string, len(e.Sites))
	for i, off := range e.Sites {
		lines[i] = fmt.Sprintf("p:%s/%s %s:0x%x%s", group, e.Name, path, off, args.String())
	}
	return lines
}
