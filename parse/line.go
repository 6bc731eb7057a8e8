package parse

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"regexp"
)

// minEvent is the minimum length of an event's name. A thread's name has at most 15 bytes (TASK_COMM_LEN in
// include/linux/sched.h) and can't hold it.
const minEvent = 16

// maxArray is the kernel's limit of array elements (MAX_ARRAY_LEN in kernel/trace/trace_probe.h).
const maxArray = 64

// lineParser parses lines of a fixed set of events. It caches the columns left of the time (thread, process, CPU and
// flags), because most lines of a thread begin with the same text.
//
// A line that begins with a cached text and continues with a time and a known event needs no further check. The cached text
// can't hold another event, because the parser would have found that event in the line from which it cached the text. No
// event's name can begin in the cached text and end in the time, because names contain no blank and begin with no digit.
type lineParser struct {
	formats []lineFormat
	byEvent map[string]int
	// guesses maps each value of guessOf to an event whose name has this value: its index in formats plus 1, or 0 for no
	// event.
	guesses [4096]uint32
	// known caches the beginnings of lines by a hash of the bytes where the kernel prints the thread id.
	known [64]struct {
		text          [64]byte
		len           int // 0 for an empty entry
		cpu, tid, pid int
	}
}

// lineFormat holds the fixed texts in the lines of an event.
type lineFormat struct {
	marked string // the event's name and addrMark
	args   []lineArg
}

type lineArg struct {
	label string // " name="
	len   int    // the number of elements of an array, 0 if the argument is not an array
}

// newLineParser returns a parser for lines of events. It returns an error if a Format is invalid or two events have the same
// name.
func newLineParser(events []Format) (*lineParser, error) {
	p := &lineParser{byEvent: make(map[string]int, len(events))}
	for i := range events {
		name := events[i].Event
		lf, err := newLineFormat(&events[i])
		if _, dup := p.byEvent[name]; dup && err == nil {
			err = errors.New("duplicate event")
		}
		if err != nil {
			return nil, fmt.Errorf("parse format of event %q: %w", name, err)
		}
		p.formats = append(p.formats, lf)
		p.byEvent[name] = i
		p.guesses[guessOf([]byte(name))] = uint32(i + 1)
	}
	return p, nil
}

func newLineFormat(ev *Format) (f lineFormat, err error) {
	switch {
	case !isIdentifier(ev.Event):
		return f, errors.New("name is not a C identifier")
	case len(ev.Event) < minEvent:
		return f, fmt.Errorf("name is shorter than %d bytes: a thread's name could hold it", minEvent)
	case ev.Len != nil && len(ev.Len) != len(ev.Args):
		return f, fmt.Errorf("%d lengths for %d arguments", len(ev.Len), len(ev.Args))
	}
	f.marked = ev.Event + addrMark
	for i, a := range ev.Args {
		if !isIdentifier(a) {
			return f, fmt.Errorf("argument name %q is not a C identifier", a)
		}
		arg := lineArg{label: " " + a + "="}
		if ev.Len != nil {
			arg.len = ev.Len[i]
		}
		if arg.len < 0 || arg.len > maxArray {
			return f, fmt.Errorf("argument %q has length %d, not 0 to %d", a, arg.len, maxArray)
		}
		f.args = append(f.args, arg)
	}
	return f, nil
}

// lineKind is the kind of a line.
type lineKind uint8

const (
	unreadable lineKind = iota
	// eventLine is the line of a hit.
	eventLine
	// otherLine is a line of a header or a stack trace, or about events that were overwritten before they were read.
	otherLine
)

// whole parses a line without the cache. The time of an event's line begins at byte time.
func (p *lineParser) whole(line []byte, ev *Event) (kind lineKind, time int) {
	*ev = Event{Args: ev.Args[:0]}
	// Look for events first, because a newline in a thread's name can make an event's line begin like a line of a header or
	// a stack trace.
	if colon, format := p.anchor(line); format >= 0 {
		time = timeBefore(line, colon)
		t, _, ok := clock(line, time)
		if ok && beforeTime(line, time, ev) && p.event(line, colon+len(": "), t, format, ev) {
			return eventLine, time
		}
	} else if isOther(bytes.TrimSuffix(line, []byte("\r"))) {
		return otherLine, 0
	}
	return unreadable, 0
}

// addrMark follows an event's name in every line of a uprobe event.
const addrMark = ": (0x"

// anchor finds ": EVENT: (0x" with a known event. It returns the index in the line of the colon
// before EVENT, and the index of the event. format is -1 if the line has no known event.
func (p *lineParser) anchor(line []byte) (colon, format int) {
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
func (p *lineParser) eventAt(text []byte) (format int) {
	if len(text) < minEvent+len(addrMark) {
		return -1
	}
	if guess := p.guesses[guessOf(text)]; guess > 0 && begins(text, p.formats[guess-1].marked) {
		return int(guess - 1)
	}
	n := bytes.IndexByte(text, ':')
	if format, ok := p.byEvent[string(text[:max(n, 0)])]; ok && begins(text, p.formats[format].marked) {
		return format
	}
	return -1
}

// begins reports whether a text begins with a string.
func begins(text []byte, with string) bool {
	return len(text) >= len(with) && string(text[:len(with)]) == with
}

// guessOf returns a hash from 0 to 4095 of the first minEvent bytes of an event's name.
func guessOf(name []byte) uint64 {
	a, b := binary.LittleEndian.Uint64(name), binary.LittleEndian.Uint64(name[8:])
	return (a*31 + b) * 0x9e3779b97f4a7c15 >> 52
}

// values parses "ADDR) NAME=VALUE ..." from line[i:] to the end of the line.
func (f *lineFormat) values(line []byte, i int, ev *Event) (ok bool) {
	ev.Addr, i, ok = hex(line, i)
	// The line of a uretprobe has "(0xADDR <- 0xADDR)". ftgo never sets a uretprobe.
	if !ok || i == len(line) || line[i] != ')' {
		return false
	}
	i++
	for k := range f.args {
		arg := &f.args[k]
		if !begins(line[i:], arg.label) {
			return false
		}
		i += len(arg.label)
		if arg.len > 0 {
			if i, ok = array(line, i, arg.len, ev); !ok {
				return false
			}
			continue
		}
		v, n := shortDecimal(line, i)
		if i += n; n == 0 {
			if v, i, ok = value(line, i); !ok {
				return false
			}
		}
		ev.Args = append(ev.Args, v)
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
		var v uint64
		if v, i, ok = value(line, i+1); !ok {
			return i, false
		}
		ev.Args = append(ev.Args, v)
	}
	if i == len(line) || line[i] != '}' {
		return i, false
	}
	return i + 1, true
}

// isIdentifier reports whether a text is a C identifier.
var isIdentifier = regexp.MustCompile(`^[A-Za-z_][0-9A-Za-z_]*$`).MatchString

// tidColumn is the column where the kernel prints thread ids ("%16s-%-7d"). The cache is keyed by the bytes there.
const tidColumn = maxComm + 1

// parse parses one line, without its newline, into ev and reuses the memory of its Args. It ignores a carriage
// return at the line's end, which a copy over a serial line leaves.
func (p *lineParser) parse(line []byte, ev *Event) lineKind {
	if len(line) < tidColumn+8 {
		kind, _ := p.whole(line, ev)
		return kind
	}
	known := &p.known[binary.LittleEndian.Uint64(line[tidColumn:])*0x9e3779b97f4a7c15>>58]
	if n := known.len; n > 0 && len(line) > n && string(line[:n]) == string(known.text[:n]) && p.fromTime(line, n, ev) {
		ev.CPU, ev.TID, ev.PID = known.cpu, known.tid, known.pid
		return eventLine
	}
	kind, time := p.whole(line, ev)
	if kind == eventLine && time <= len(known.text) {
		known.len = copy(known.text[:], line[:time])
		known.cpu, known.tid, known.pid = ev.CPU, ev.TID, ev.PID
	}
	return kind
}

// fromTime parses an event's line from its time on, which begins at line[i]. It returns false for any other line.
func (p *lineParser) fromTime(line []byte, i int, ev *Event) bool {
	t, i, ok := clock(line, i)
	if !ok || len(line)-i < len(": ") || line[i] != ':' || line[i+1] != ' ' {
		return false
	}
	i += len(": ")
	format := p.eventAt(line[i:])
	return format >= 0 && p.event(line, i, t, format, ev)
}

// clock parses the time at line[i:]: seconds and six digits of microseconds, which it returns as nanoseconds, or a
// count.
func clock(line []byte, i int) (t uint64, next int, ok bool) {
	t, i, ok = decimal(line, i)
	if ok && i < len(line) && line[i] == '.' {
		us, end, ok := decimal(line, i+1)
		return t*1e9 + us*1000, end, ok && end-i == len(".123456") && t <= (math.MaxUint64-us*1000)/1e9
	}
	return t, i, ok
}

// event parses an event's line from its name on.
func (p *lineParser) event(line []byte, i int, time uint64, format int, ev *Event) bool {
	if line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	f := &p.formats[format]
	ev.Args = ev.Args[:0]
	ev.Format, ev.Time = format, time
	return f.values(line, i+len(f.marked), ev)
}
