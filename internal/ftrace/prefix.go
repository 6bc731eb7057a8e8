package ftrace

import (
	"encoding/binary"
	"math"
)

// prefixes read lines as a lineParser does, but what stands left of the time – thread,
// process, CPU and flags – only once for each text of it: the lines of a thread begin
// alike, most of the time.
//
// That a line begins like one that has been read, and goes on with a time and one of our
// events, makes it as good as that one. Nothing in the part that is alike can hold another
// event: it would have been found there before; nor can one begin there and end in the
// time, as names of events hold no blank and begin with no digit.
type prefixes struct {
	lines *lineParser
	known [64]prefix // by the bytes where thread ids stand
}

// prefix is what the lines of a thread have in common.
type prefix struct {
	text          [64]byte
	len           int // 0: none is known
	cpu, tid, pid int
}

// tidColumn is where the kernel prints thread ids ("%16s-%-7d"); only the choice of a
// prefix to compare with depends on it.
const tidColumn = maxComm + 1

// parse is lineParser.parse.
func (p *prefixes) parse(line []byte, ev *Event) lineKind {
	if len(line) < tidColumn+8 {
		kind, _ := p.lines.parse(line, ev)
		return kind
	}
	known := &p.known[binary.LittleEndian.Uint64(line[tidColumn:])*0x9e3779b97f4a7c15>>58]
	if n := known.len; n > 0 && len(line) > n && string(line[:n]) == string(known.text[:n]) && p.lines.fromTime(line, n, ev) {
		ev.CPU, ev.TID, ev.PID = known.cpu, known.tid, known.pid
		return eventLine
	}
	kind, time := p.lines.parse(line, ev)
	if kind == eventLine && time <= len(known.text) {
		known.len = copy(known.text[:], line[:time])
		known.cpu, known.tid, known.pid = ev.CPU, ev.TID, ev.PID
	}
	return kind
}

// fromTime reads an event's line from the time on, which begins at line[i]. It is false
// for whatever is not as it should be; parse will tell what that is.
func (p *lineParser) fromTime(line []byte, i int, ev *Event) bool {
	if line[len(line)-1] == '\r' {
		line = line[:len(line)-1]
	}
	t, i, ok := decimal(line, i)
	if !ok {
		return false
	}
	if i < len(line) && line[i] == '.' {
		us, end, ok := decimal(line, i+1)
		if !ok || end-i != len(".123456") || t > (math.MaxUint64-us*1000)/1e9 {
			return false
		}
		t, i = t*1e9+us*1000, end
	}
	if len(line)-i < len(": ") || line[i] != ':' || line[i+1] != ' ' {
		return false
	}
	i += len(": ")
	format := p.eventAt(line[i:])
	if format < 0 {
		return false
	}
	f := &p.formats[format]
	ev.Args = ev.Args[:0]
	ev.Format, ev.Time = format, t
	return f.values(line, i+len(f.event)+len(": "), ev)
}
