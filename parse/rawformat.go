package parse

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// rawFormats say how the records of our events lie in a raw page. They aren't changed
// by use.
type rawFormats struct {
	events []rawEvent
	byID   []int32 // common_type → index in events plus 1
}

// rawEvent is the layout of one event's records.
type rawEvent struct {
	size   int        // in bytes, of the fields below together
	fields []rawField // neighbours of 8 bytes are one
	ip     rawField
	pid    rawField
	// named are the fields of an event of the kernel itself, whose record is kept as it is.
	named []kernelField
	whole bool
}

// rawField is a number in a record, or an array of them.
type rawField struct {
	at     int
	size   int // of a number: 1, 2, 4 or 8
	count  int
	signed bool
}

// newRawFormats makes a decoder for these events from what the kernel says of each in
// its file events/GROUP/EVENT/format (kernel/trace/trace_events.c, f_show).
func newRawFormats(events []Format, texts []string) (*rawFormats, error) {
	names := make([]string, len(events))
	for i := range events {
		names[i] = events[i].Event
	}
	return newFormats("event", names, texts, func(i int, e *rawEvent) (int, error) { return e.parse(&events[i], texts[i]) })
}

// newFormats reads the format files of events of a kind. parse makes a layout of one, and returns
// its ID.
func newFormats(kind string, names, texts []string, parse func(i int, e *rawEvent) (id int, err error)) (*rawFormats, error) {
	if len(names) != len(texts) {
		return nil, fmt.Errorf("parse formats: %d texts for %d %ss", len(texts), len(names), kind)
	}
	r := &rawFormats{events: make([]rawEvent, len(names))}
	for i := range names {
		id, err := parse(i, &r.events[i])
		if err == nil {
			for len(r.byID) <= id {
				r.byID = append(r.byID, 0)
			}
			if other := r.byID[id]; other != 0 {
				err = fmt.Errorf("ID %d is that of event %d, too", id, other-1)
			}
			r.byID[id] = int32(i + 1)
		}
		if err != nil {
			return nil, fmt.Errorf("parse format of %s %q: %w", kind, names[i], err)
		}
	}
	return r, nil
}

// rawType is where every record has its type (struct trace_entry in
// include/linux/trace_events.h), which has to be read before anything of the event is known.
var rawType = rawField{at: 0, size: 2}

// parseFormat reads a format file: the ID, and the fields, which field gets in order. Those
// that it returns are by name.
func parseFormat(text string, field func(name, kind string, f rawField)) (id int, fields map[string]rawField, err error) {
	fields = make(map[string]rawField)
	id = -1
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if word, ok := strings.CutPrefix(line, "ID:"); ok {
			n, err := strconv.ParseUint(strings.TrimSpace(word), 10, 16) // common_type has 16 bits
			if err != nil {
				return 0, nil, fmt.Errorf("line %q: %w", line, err)
			}
			id = int(n)
		}
		if !strings.HasPrefix(line, "field:") {
			continue
		}
		name, kind, f, err := parseRawField(line)
		if err != nil {
			return 0, nil, fmt.Errorf("line %q: %w", line, err)
		}
		fields[name] = f
		if field != nil {
			field(name, kind, f)
		}
	}
	if id < 0 {
		return 0, nil, errors.New("no ID")
	}
	return id, fields, nil
}

func (e *rawEvent) parse(ev *Format, text string) (id int, err error) {
	strung := make(map[string]bool)
	id, fields, err := parseFormat(text, func(name, kind string, _ rawField) {
		strung[name] = strings.HasPrefix(kind, "__data_loc")
	})
	if err != nil {
		return 0, err
	}
	if fields["common_type"] != rawType {
		return 0, fmt.Errorf("common_type is %+v", fields["common_type"])
	}
	take := func(name string, count int) (rawField, error) {
		field, ok := fields[name]
		if !ok {
			return field, fmt.Errorf("no field %q", name)
		}
		if strung[name] {
			return field, fmt.Errorf("field %q: a string is no number", name)
		}
		field.count = max(1, count)
		field.size /= field.count
		switch whole := fields[name].size; {
		case field.size*field.count != whole || field.size != 1 && field.size != 2 && field.size != 4 && field.size != 8:
			return field, fmt.Errorf("field %q: %d bytes are not %d numbers", name, whole, field.count)
		}
		e.size = max(e.size, field.at+field.size*field.count)
		return field, nil
	}
	if e.pid, err = take("common_pid", 0); err != nil {
		return 0, err
	}
	if e.ip, err = take("__probe_ip", 0); err != nil {
		return 0, err
	}
	for i, a := range ev.Args {
		count := 0
		if ev.Len != nil {
			count = ev.Len[i]
		}
		field, err := take(a, count)
		if err != nil {
			return 0, err
		}
		if last := len(e.fields) - 1; last >= 0 && field.size == 8 && e.fields[last].size == 8 && e.fields[last].at+8*e.fields[last].count == field.at {
			e.fields[last].count += field.count // one run of words; most records are nothing else
			continue
		}
		e.fields = append(e.fields, field)
	}
	return id, nil
}

// maxRawField bounds offsets and sizes: records are no longer than a page, of which the
// kernel's largest has 512 KB (ring_buffer_subbuf_order_set in
// kernel/trace/ring_buffer.c).
const maxRawField = 1 << 19

// parseRawField reads "field:TYPE NAME[LEN]; offset:N; size:N; signed:N;". kind is TYPE
// with "[LEN]" behind it, as far as there is any.
func parseRawField(line string) (name, kind string, f rawField, err error) {
	for part := range strings.SplitSeq(line, ";") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			continue
		}
		if key == "field" {
			at := strings.LastIndexByte(value, ' ') + 1
			var length string
			name, length, _ = strings.Cut(value[at:], "[")
			if kind = strings.TrimSpace(value[:at]); length != "" {
				kind += "[" + length
			}
			continue
		}
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return name, kind, f, err
		}
		if n > maxRawField {
			return name, kind, f, fmt.Errorf("%s %d is beyond any page", key, n)
		}
		switch key {
		case "offset":
			f.at = int(n)
		case "size":
			f.size = int(n)
		case "signed":
			f.signed = n != 0
		}
	}
	if !isIdentifier(name) {
		return name, kind, f, fmt.Errorf("name %q is no C identifier", name)
	}
	return name, kind, f, nil
}

// decode reads one record. It is false for what is no record of ours.
func (r *rawFormats) decode(data []byte, ev *Event) bool {
	if len(data) < 2 {
		return false
	}
	id := int(binary.LittleEndian.Uint16(data))
	if id >= len(r.byID) || r.byID[id] == 0 {
		return false
	}
	ev.Format = int(r.byID[id] - 1)
	e := &r.events[ev.Format]
	if len(data) < e.size {
		return false
	}
	tid := e.pid.number(data, e.pid.at)
	if tid > math.MaxInt32 {
		return false
	}
	ev.TID, ev.PID = int(tid), 0
	if e.whole {
		ev.data = data
		return true
	}
	ev.Addr = e.ip.number(data, e.ip.at)
	args := ev.Args[:0]
	for i := range e.fields {
		f := &e.fields[i]
		if f.size == 8 {
			for words := data[f.at : f.at+8*f.count]; len(words) >= 8; words = words[8:] {
				args = append(args, binary.LittleEndian.Uint64(words))
			}
			continue
		}
		for at := f.at; at < f.at+f.size*f.count; at += f.size {
			args = append(args, f.number(data, at))
		}
	}
	ev.Args = args
	return true
}

// number is the one at an offset, in two's complement if it has a sign.
func (f *rawField) number(data []byte, at int) uint64 {
	switch f.size {
	case 8:
		return binary.LittleEndian.Uint64(data[at:])
	case 4:
		v := binary.LittleEndian.Uint32(data[at:])
		if f.signed {
			return uint64(int64(int32(v)))
		}
		return uint64(v)
	case 2:
		v := binary.LittleEndian.Uint16(data[at:])
		if f.signed {
			return uint64(int64(int16(v)))
		}
		return uint64(v)
	}
	if f.signed {
		return uint64(int64(int8(data[at])))
	}
	return uint64(data[at])
}
