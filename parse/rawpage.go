package parse

import "encoding/binary"

// Layout of a page of per_cpu/cpuN/trace_pipe_raw on 64-bit machines (events/header_page; struct buffer_data_page in
// kernel/trace/ring_buffer.c): a time stamp, the number of committed bytes with two flags, and the records.
const (
	rawPageHeader = 16
	// rawMissed is the flag that events before the page's first one were overwritten or dropped.
	rawMissed = 1 << 31
	// rawMissedStored is the flag that the number of these events is stored after the last record.
	rawMissedStored = 1 << 30
)

// Kinds of records (include/linux/ring_buffer.h, enum ring_buffer_type). The kind is in the low five bits of the
// first word. The bits above are the time since the record before. Kinds from 1 to 28 are data of that many
// words.
const (
	rawLongData   = 0 // data; the next word is its length in bytes, including that word
	rawPadding    = 29
	rawTimeExtend = 30 // an increment of the time, in 59 bits
	rawTimeStamp  = 31 // the time without its top five bits
)

// rawTimeTop is the mask of the bits of the time that a rawTimeStamp lacks.
const rawTimeTop = 0xf8 << 56

// rawPage reads the records of one page in the order in which they were written.
type rawPage struct {
	formats *formats
	cpu     int
	data    []byte // the records
	at      int    // the offset of the next record
	time    uint64 // the time of the last record read; before the first record, the time of the page
	bad     bool   // the page is damaged, which next has not reported yet
}

// page returns a reader of a page of trace_pipe_raw. The bytes of the page must not change while they are read.
func (r *formats) page(cpu int, page []byte) rawPage {
	p := rawPage{formats: r, cpu: cpu}
	if len(page) < rawPageHeader {
		p.bad = true
		return p
	}
	p.time = binary.LittleEndian.Uint64(page)
	// Read only the lower half of the long. The kernel adds flags to it, and flag 1<<31 is a negative int, which changes the
	// upper half.
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

// next decodes the next record. ok is false if the record is of an unknown event or damaged. more is false at the end
// of the page.
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

// last returns the time of the page's last record.
func (p rawPage) last() uint64 {
	for {
		if _, ok := p.step(); !ok {
			return p.time
		}
	}
}

// step moves to the next record with data and returns its data. Every iteration consumes at least four bytes.
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
		if kind == rawPadding && delta == 0 { // this padding reaches to the end of the page
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
			// When a filter drops an event after the kernel has reserved its record, the kernel turns the record into
			// padding. The next record's time is still relative to the time of this padding.
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

// fixTime completes an absolute time stamp with the top bits of the time before (kernel/trace/ring_buffer.c,
// rb_fix_abs_ts).
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
