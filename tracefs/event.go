package tracefs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Event is one event of uprobe_events: a name, the values it fetches, and the
// places where it fires. It has no kind, because there is only one: a plain probe.
type Event struct {
	// Name is a C identifier of at most 63 bytes, unique in its group.
	Name string
	// Args are fetched at every site.
	Args []Arg
	// Fetch[i], if there is one and it is not nil, is what Sites[i] fetches instead of the
	// Fetch of each of Args: names and types must be the same at all sites, but nothing else.
	Fetch [][]string
	// Sites are file offsets of instructions. More than one needs a kernel that
	// appends probes to an event ([Features].Append).
	Sites []uint64
	// Filter is evaluated by the kernel for each hit; what fails it is counted but
	// not recorded. Empty records everything.
	Filter string

	// group is that of an event of the kernel itself, which has a name and nothing else.
	group string
}

// Arg is one fetched value, in the grammar of Documentation/trace/uprobetracer.rst:
//
//	NAME=FETCHARG:TYPE
type Arg struct {
	// Name is a C identifier of at most 32 bytes.
	Name string
	// Fetch is what is read: "%REGISTER", or memory, as in "+8(%REGISTER)", "+0(+8(%REGISTER))".
	Fetch string
	// Type is how it is printed: "s64" is decimal on every kernel since 3.10,
	// while u64 is hexadecimal before 4.9.
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
		a.Fetch = fromSite(a.Fetch, e.Sites[site])
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
		words := 1
		if _, count, ok := strings.Cut(a.Type, "["); ok {
			words, _ = strconv.Atoi(strings.TrimSuffix(count, "]"))
		}
		length += len(" =") + len(a.Name) + words*word
	}
	return length >= page
}

// fromSite says "@+OFFSET", what is so far behind where the file is mapped, by its distance
// from the probe: "+N(%ip)".
//
// From 4.20 to 2026 kernels add the offset twice, and fetch from somewhere else (commit
// 533059281ee5, "tracing: probeevent: Introduce new argument fetching code", which leaves
// it in the variable that it takes for the dereference); older and newer ones reckon from
// the probe, too (kernel/trace/trace_uprobe.c, translate_user_vaddr).
func fromSite(fetch string, site uint64) string {
	before, after, ok := strings.Cut(fetch, "@+")
	if !ok {
		return fetch
	}
	rest := strings.TrimLeft(after, "0123456789abcdefxABCDEFX")
	offset, err := strconv.ParseInt(after[:len(after)-len(rest)], 0, 64)
	if err != nil {
		return fetch // for the kernel to refuse
	}
	return fmt.Sprintf("%s%+d(%%ip)%s", before, offset-int64(site), rest)
}
