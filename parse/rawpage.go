package parse

import "encoding/binary"

// Layout of a page of per_cpu/cpuN/trace_pipe_raw on 64-bit machines
// (events/header_page; struct buffer_data_page in kernel/trace/ring_buffer.c): a time
// stamp, the number of bytes committed with two flags, and the records.
const (
	rawPageHeader = 16
	// rawMissed: events before the first of the page were overwritten, or dropped.
	rawMissed = 1 << 31
	// rawMissedStored: how many they were is stored after the last record.
	rawMissedStored = 1 << 30
)

// Kinds of records (include/linux/ring_buffer.h, enum ring_buffer_type): the low five
// bits of the first word, above which is the time since the record before. Others are
// data of that many words.
const (
	rawLongData   = 0 // of as many bytes as the next word says, itself included
	rawPadding    = 29
	rawTimeExtend = 30 // adds to the time, in 59 bits
	rawTimeStamp  = 31 // is the time, but for its top five bits
)

// rawTimeTop are the bits of the time that a rawTimeStamp lacks.
const rawTimeTop = 0xf8 << 56

// rawPage reads the records of one page, in the order in which they were written.
type rawPage struct {
	formats *rawFormats
	cpu     int
	data    []byte // records
	at      int    // where the next one is
	time    uint64 // of the last one read, or when the page began
	bad     bool   // something in the page can't be; to be told
}

// page returns a reader of a page as trace_pipe_raw gives it. The page must stay as it
// is meanwhile.
func (r *rawFormats) page(cpu int, page []byte) rawPage {
	p := rawPage{formats: r, cpu: cpu}
	if len(page) < rawPageHeader {
		p.bad = true
		return p
	}
	p.time = binary.LittleEndian.Uint64(page)
	// The flags are added to a long as an int, whose sign fills the upper half.
	commit := binary.LittleEndian.Uint32(page[8:])
	size := int(commit &^ (rawMissed | rawMissedStored))
	page = page[rawPageHeader:]
	if size > len(page) {
		p.bad = true
		return p
	}
	p.data = page[:size]
	return p
}

// next reads the next record; an event that is not ok can't be read, be it unknown or damaged.
// more is false at the end of the page.
func (p *rawPage) next(ev *Event) (ok, more bool) {
	if data, found := p.step(); found {
		if ok = p.formats.decode(data, ev); ok {
			ev.Time, ev.CPU = p.time, p.cpu
		}
		return ok, true
	}
	more, p.bad = p.bad, false
	return false, more
}

// last is the time of the page's last record.
func (p rawPage) last() uint64 {
	for {
		if _, ok := p.step(); !ok {
			return p.time
		}
	}
}

// step goes to the next record that holds data. Every round takes at least four bytes.
func (p *rawPage) step() (data []byte, ok bool) {
	for len(p.data)-p.at >= 4 {
		rest := p.data[p.at:]
		head := binary.LittleEndian.Uint32(rest)
		kind, delta := head&31, uint64(head>>5)
		if 0 < kind && kind < rawPadding {
			end := 4 + 4*int(kind)
			if end > len(rest) {
				break
			}
			p.at += end
			p.time += delta
			return rest[4:end], true
		}
		if kind == rawPadding && delta == 0 { // to the end of the page
			p.at = len(p.data)
			return nil, false
		}
		if len(rest) < 8 {
			break
		}
		word := binary.LittleEndian.Uint32(rest[4:])
		switch kind {
		case rawTimeExtend:
			p.time += uint64(word)<<27 + delta
			p.at += 8
		case rawTimeStamp:
			p.time = fixTime(uint64(word)<<27+delta, p.time)
			p.at += 8
		default:
			end := 4 + uint64(word)
			if word < 4 || end > uint64(len(rest)) {
				p.at, p.bad = len(p.data), true
				return nil, false
			}
			p.at += int(end)
			// An event that a filter has dropped after it was given its place is padding,
			// and the time of the next one counts from its own.
			p.time += delta
			if kind == rawLongData {
				return rest[8:end], true
			}
		}
	}
	p.bad = p.bad || p.at < len(p.data)
	p.at = len(p.data)
	return nil, false
}

// fixTime completes an absolute time stamp by the top of the one before
// (kernel/trace/ring_buffer.c, rb_fix_abs_ts).
func fixTime(stamp, before uint64) uint64 {
	if before&rawTimeTop == 0 {
		return stamp
	}
	stamp |= before & rawTimeTop
	if stamp < before {
		stamp += 1 << 59
	}
	return stamp
}
