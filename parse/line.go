package parse

import (
	"bytes"
	"encoding/binary"
)

// lineKind is the kind of a line.
type lineKind uint8

const (
	unreadable lineKind = iota
	// eventLine is the line of a hit.
	eventLine
	// otherLine is a line of a header or a stack trace, or about events that were overwritten before they were read.
	otherLine
)

// parse parses one line, without its newline, into ev and reuses the memory of its Args. It ignores a carriage
// return at the line's end, which a copy over a serial line leaves.
func (p *formats) parse(line []byte, ev *Event) lineKind {
	*ev = Event{Args: ev.Args[:0]}
	line = bytes.TrimSuffix(line, []byte("\r"))
	known := &p.heads[0]
	if len(line) >= maxComm+9 {
		known = &p.heads[binary.LittleEndian.Uint64(line[maxComm+1:])*0x9e3779b97f4a7c15>>58]
	}
	// anchor would find no event in such a beginning: in the line that it is from, the first event is behind the time. And no
	// name begins in it and ends in the time, because it ends with a blank, which names do not contain.
	if n := len(known.text); n > 0 && bytes.HasPrefix(line, known.text) && p.fromTime(line, n, ev) {
		ev.CPU, ev.TID, ev.PID = known.cpu, known.tid, known.pid
		return eventLine
	}
	// Look for events first, because a newline in a thread's name can make an event's line begin like a line of a header or
	// a stack trace.
	if colon := p.anchor(line); colon >= 0 {
		at := digitsBefore(line, colon)
		if at > 0 && line[at-1] == '.' {
			at = digitsBefore(line, at-1)
		}
		if ev.Args = ev.Args[:0]; before(line, at, ev) && p.fromTime(line, at, ev) {
			*known = head{append(known.text[:0], line[:at]...), ev.CPU, ev.TID, ev.PID}
			return eventLine
		}
	} else if isOther(line) {
		return otherLine
	}
	return unreadable
}

// fromTime parses the line of an event from its time at line[i:] on. It returns false for any other line.
func (p *formats) fromTime(line []byte, i int, ev *Event) (ok bool) {
	if ev.Time, i, ok = clock(line, i); !ok || !begins(line[i:], ": ") {
		return false
	}
	i += len(": ")
	ev.Format = p.eventAt(line[i:])
	return ev.Format >= 0 && p.events[ev.Format].values(line, i+len(p.events[ev.Format].marked), ev)
}

// addrMark follows an event's name in every line of a uprobe event.
const addrMark = ": (0x"

// anchor finds ": EVENT: (0x" with a known event. It returns the index in the line of the colon before EVENT, or -1 if the
// line has no known event.
func (p *formats) anchor(line []byte) (colon int) {
	for {
		i := bytes.IndexByte(line[colon:], ':')
		if i < 0 {
			return -1
		}
		colon += i
		if next := colon + len(": "); next < len(line) && line[next-1] == ' ' {
			if p.eventAt(line[next:]) >= 0 {
				return colon
			}
		}
		colon++
	}
}

// eventAt returns the index of the event whose name and addrMark a text begins with, or -1.
func (p *formats) eventAt(text []byte) (format int) {
	if len(text) < minEvent {
		return -1
	}
	if guess := p.guesses[guessOf(text)]; guess > 0 && begins(text, p.events[guess-1].marked) {
		return int(guess - 1)
	}
	n := bytes.IndexByte(text, ':')
	if format, ok := p.byName[string(text[:max(n, 0)])]; ok && begins(text, p.events[format].marked) {
		return format
	}
	return -1
}

// begins reports whether a text begins with a string.
func begins(text []byte, with string) bool {
	return len(text) >= len(with) && string(text[:len(with)]) == with
}

// values parses "ADDR) NAME=VALUE ..." from line[i:] to the end of the line.
func (f *layout) values(line []byte, i int, ev *Event) (ok bool) {
	ev.Addr, i, ok = hex(line, i)
	// The line of a uretprobe has "(0xADDR <- 0xADDR)". ftgo never sets a uretprobe.
	if !ok || i == len(line) || line[i] != ')' {
		return false
	}
	i++
	for k, label := range f.labels {
		if !begins(line[i:], label) {
			return false
		}
		if i += len(label); f.len != nil && f.len[k] > 0 {
			i, ok = array(line, i, f.len[k], ev)
		} else {
			i, ok = value(line, i, ev)
		}
		if !ok {
			return false
		}
	}
	return i == len(line)
}

// array parses n values as "{VALUE,VALUE}", the format of trace_probe_print_args in
// kernel/trace/trace_probe_tmpl.h since 4.20.
func array(line []byte, i, n int, ev *Event) (next int, ok bool) {
	for k := range n {
		opening := byte(',')
		if k == 0 {
			opening = '{'
		}
		if i == len(line) || line[i] != opening {
			return i, false
		}
		if i, ok = value(line, i+1, ev); !ok {
			return i, false
		}
	}
	if i == len(line) || line[i] != '}' {
		return i, false
	}
	return i + 1, true
}

// guessOf returns a hash from 0 to 4095 of the first minEvent bytes of an event's name.
func guessOf(name []byte) uint64 {
	return (binary.LittleEndian.Uint64(name)*31 + binary.LittleEndian.Uint64(name[8:])) * 0x9e3779b97f4a7c15 >> 52
}
