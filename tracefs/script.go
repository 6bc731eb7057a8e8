package tracefs

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// recorder and recording are what scripts have in common: what is to be done, and when.
//
//go:embed recorder.sh
var recorder string

//go:embed recording.sh
var recording string

// Script is a session that a shell runs, on a machine that has nothing but that: it checks
// that the binary there is the one that was planned for, defines the events, records their
// text as [Session.Read] would give it, and removes them.
type Script struct {
	// Title is what is said of the script in its first lines.
	Title string
	// Nonce is in the names of all events.
	Nonce  string
	Events []Event
	// Binary is where the file is expected, Shown the same for people to read.
	Binary, Shown string
	// Size, SHA256 (in hexadecimal) and CRC (of cksum) tell it from others.
	Size   int64
	SHA256 string
	CRC    uint32
	// Header is what the recording begins with: lines that begin with "#".
	Header string
	// Seconds ends the recording if no other time is given to the script; "" is none.
	Seconds string
	// BufferKB is the size of the ring buffer per CPU, 0 for what suits the machine.
	BufferKB int
}

// Text is the script, for any POSIX shell, or an error for events that the kernel would
// not take.
func (s *Script) Text() (string, error) {
	var names, probes strings.Builder
	places, appends, arrays := 0, 0, 0
	for i := range s.Events {
		ev := &s.Events[i]
		if err := ev.check(); err != nil {
			return "", err
		}
		fmt.Fprintf(&names, "\n%s", ev.Name)
		places += len(ev.Sites)
		if len(ev.Sites) > 1 {
			appends = 1
		}
		for _, a := range ev.Args {
			if strings.Contains(a.Type, "[") {
				arrays = 1
			}
		}
		ev.script(&probes)
	}
	for i := range s.Events {
		if ev := &s.Events[i]; ev.Filter != "" {
			fmt.Fprintf(&probes, "\tfilter %s %s\n", ev.Name, shellQuote(ev.Filter))
		}
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\n")
	for line := range strings.Lines(s.Title) {
		b.WriteString("# " + strings.TrimSpace(line) + "\n")
	}
	b.WriteString("# shellcheck disable=SC2016,SC2317,SC2329 # quotes are meant, traps call functions\n")
	fmt.Fprintf(&b, "\n%sshown=%s\nsize=%d\nsha256=%s\ncrc=%d\n", shellAssign("binary", s.Binary), shellQuote(s.Shown), s.Size, s.SHA256, s.CRC)
	fmt.Fprintf(&b, "seconds=%s\nbuffer_kb=%d\nnonce=%s\nplaces=%d\nappend=%d\narrays=%d\n", shellQuote(s.Seconds), s.BufferKB, s.Nonce, places, appends, arrays)
	fmt.Fprintf(&b, "events='%s'\n\nprobes() {\n%s}\n\n", names.String(), probes.String())
	fmt.Fprintf(&b, "header() {\n\tcat <<'END_%s'\n%sEND_%s\n}\n\n", s.Nonce, s.Header, s.Nonce)
	b.WriteString(recorder + recording)
	return b.String(), nil
}

// script writes the commands that define the event: one for all sites, unless these differ
// in what they fetch.
func (e *Event) script(b *strings.Builder) {
	const perLine = 8
	for i, site := range e.Sites {
		switch {
		case i == 0 || e.differs() && argsText(e.argsAt(i)) != argsText(e.argsAt(i-1)):
			if i > 0 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(b, "\tat %s %s", e.Name, shellQuote(argsText(e.argsAt(i))))
		case i%perLine == 0:
			b.WriteString(" \\\n\t\t")
			fmt.Fprintf(b, "%#x", site)
			continue
		}
		fmt.Fprintf(b, " %#x", site)
	}
	b.WriteByte('\n')
}

// shellAssign sets a variable to any text. Where that would control the terminal of who looks at
// the script, its bytes are spelled out; the "." keeps the shell from taking newlines off its end.
func shellAssign(name, text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool { return r == utf8.RuneError || !unicode.IsPrint(r) }) {
		return name + "=" + shellQuote(text) + "\n"
	}
	var b strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&b, "\\%03o", text[i])
	}
	return fmt.Sprintf("%s=$(printf '%s.')\n%[1]s=${%[1]s%%.}\n", name, b.String())
}

// shellQuote makes a word of any text.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
