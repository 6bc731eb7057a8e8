package parse

import "bytes"

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
	// Look for events first, because a newline in a thread's name can make an event's line begin like a line of a header or
	// a stack trace.
	if colon, format := p.anchor(line); format >= 0 {
		f := &p.events[format]
		ev.Format = format
		if before(line, colon, ev) && f.values(line, colon+len(": ")+len(f.marked), ev) {
			return eventLine
		}
	} else if isOther(line) {
		return otherLine
	}
	return unreadable
}

// addrMark follows an event's name in every line of a uprobe event.
const addrMark = ": (0x"

// anchor finds ": EVENT: (0x" with a known event. It returns the index in the line of the colon
// before EVENT, and the index of the event. format is -1 if the line has no known event.
func (p *formats) anchor(line []byte) (colon, format int) {
	for {
		i := bytes.IndexByte(line[colon:], ':')
		if i < 0 {
			return 0, -1
		}
		colon += i
		if next := colon + len(": "); next < len(line) && line[next-1] == ' ' {
			if format = p.eventAt(line[next:]); format >= 0 {
				return colon, format
			}
		}
		colon++
	}
}

// eventAt returns the index of the event whose name and addrMark a text begins with, or -1.
func (p *formats) eventAt(text []byte) (format int) {
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
