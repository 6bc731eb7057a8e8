package parse

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rawFormats holds the layouts of the records of events in raw pages. It is not changed after it was made.
type rawFormats struct {
	events []rawEvent
	byID   []int32 // common_type → index in events plus 1
}

// rawEvent is the layout of one event's records.
type rawEvent struct {
	size   int        // the minimum size of a record in bytes
	fields []rawField // the arguments; adjacent arguments of 8 bytes are merged
	ip     int        // the offset of the address, which has 8 bytes
	pid    int        // the offset of the thread id, which has 4 bytes
	// kernel means that this is a kernel event. decode keeps its record as it is, and named describes the record's fields.
	kernel bool
	named  []formatField
}

// rawField is a number in a record, or an array of them.
type rawField struct {
	at     int
	size   int // the size of one number in bytes: 1, 2, 4 or 8
	count  int
	signed bool
}

// newRawFormats returns the layouts of events. texts are the contents of their files events/GROUP/EVENT/format
// (kernel/trace/trace_events.c, f_show).
func newRawFormats(events []Format, texts []string) (*rawFormats, error) {
	if len(events) != len(texts) {
		return nil, fmt.Errorf("parse formats: %d texts for %d events", len(texts), len(events))
	}
	r := &rawFormats{events: make([]rawEvent, len(events))}
	for i := range events {
		fields, err := r.read(i, texts[i])
		if err == nil {
			err = r.events[i].lay(&events[i], fields)
		}
		if err != nil {
			return nil, fmt.Errorf("parse format of event %q: %w", events[i].Event, err)
		}
	}
	return r, nil
}

// newKernelFormats returns the layouts of kernel events from their format files.
func newKernelFormats(texts []string) (*rawFormats, error) {
	r := &rawFormats{events: make([]rawEvent, len(texts))}
	for i, text := range texts {
		fields, err := r.read(i, text)
		if err != nil {
			name, _, _ := strings.Cut(strings.TrimPrefix(text, "name: "), "\n")
			return nil, fmt.Errorf("parse format of kernel event %q: %w", name, err)
		}
		e := &r.events[i]
		for _, f := range fields {
			if strings.HasPrefix(f.name, "common_") || f.name == "__syscall_nr" { // the event's name contains the system call
				continue
			}
			e.named = append(e.named, f)
			e.size = max(e.size, f.at+f.size)
		}
		e.kernel = true
	}
	return r, nil
}

// read parses the format file of event i, notes its ID and the place of its thread id, and returns its fields.
func (r *rawFormats) read(i int, text string) ([]formatField, error) {
	id, fields, err := parseFormat(text)
	if err != nil {
		return nil, err
	}
	for len(r.byID) <= id {
		r.byID = append(r.byID, 0)
	}
	if other := r.byID[id]; other != 0 {
		return nil, fmt.Errorf("ID %d is also the ID of event %d", id, other-1)
	}
	r.byID[id] = int32(i + 1)
	// Every record begins with its type (struct trace_entry in include/linux/trace_events.h), which decode reads
	// before it knows the event.
	e := &r.events[i]
	if at, err := e.takeOf(2, fields, "common_type"); err != nil || at != 0 {
		return nil, cmp.Or(err, fmt.Errorf("field \"common_type\" is at %d", at))
	}
	e.pid, err = e.takeOf(4, fields, "common_pid")
	return fields, err
}

// takeOf is take for a field that is one number of size bytes. It returns the field's offset.
func (e *rawEvent) takeOf(size int, fields []formatField, name string) (at int, err error) {
	f, err := e.take(fields, name, 0)
	if err == nil && f.size != size {
		err = fmt.Errorf("field %q: of %d bytes, not %d", name, f.size, size)
	}
	return f.at, err
}

// formatField is a field of a format file. kind is its C type, with "[LEN]" if it is an array. size is the size of the whole
// field, and count is not set.
type formatField struct {
	name, kind string
	rawField
}

// parseFormat parses a format file and returns the event's ID and its fields in order.
func parseFormat(text string) (id int, fields []formatField, err error) {
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
		f, err := parseRawField(line)
		if err != nil {
			return 0, nil, fmt.Errorf("line %q: %w", line, err)
		}
		fields = append(fields, f)
	}
	if id < 0 {
		return 0, nil, errors.New("no ID")
	}
	return id, fields, nil
}

// take returns a field of count numbers, or of one number if count is 0. It raises e.size, so that decode rejects a record
// that is too short for the field.
func (e *rawEvent) take(fields []formatField, name string, count int) (rawField, error) {
	i := slices.IndexFunc(fields, func(f formatField) bool { return f.name == name })
	if i < 0 {
		return rawField{}, fmt.Errorf("no field %q", name)
	}
	field := fields[i].rawField
	if strings.HasPrefix(fields[i].kind, "__data_loc") {
		return field, fmt.Errorf("field %q: a string is not a number", name)
	}
	field.count = max(1, count)
	field.size /= field.count
	if whole := fields[i].size; field.size*field.count != whole || !isWord(field.size) {
		return field, fmt.Errorf("field %q: %d bytes are not %d numbers", name, whole, field.count)
	}
	e.size = max(e.size, field.at+field.size*field.count)
	return field, nil
}

// isWord reports whether a number can have this many bytes.
func isWord(size int) bool { return size == 1 || size == 2 || size == 4 || size == 8 }

// lay stores the places of the address and the arguments in the records of a probe's event.
func (e *rawEvent) lay(ev *Format, fields []formatField) (err error) {
	if e.ip, err = e.takeOf(8, fields, "__probe_ip"); err != nil {
		return err
	}
	for i, a := range ev.Args {
		count := 0
		if ev.Len != nil {
			count = ev.Len[i]
		}
		field, err := e.take(fields, a, count)
		if err != nil {
			return err
		}
		if last := len(e.fields) - 1; last >= 0 && field.size == 8 && e.fields[last].size == 8 && e.fields[last].at+8*e.fields[last].count == field.at {
			e.fields[last].count += field.count // most records are a single run of words
			continue
		}
		e.fields = append(e.fields, field)
	}
	return nil
}

// maxRawField bounds offsets and sizes in bytes. A record is no longer than a page of the ring buffer, which has at
// most 512 KB (ring_buffer_subbuf_order_set in kernel/trace/ring_buffer.c).
const maxRawField = 1 << 19

// parseRawField parses "field:TYPE NAME[LEN]; offset:N; size:N; signed:N;".
func parseRawField(line string) (f formatField, err error) {
	for part := range strings.SplitSeq(line, ";") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			continue
		}
		if key == "field" {
			at := strings.LastIndexByte(value, ' ') + 1
			var length string
			f.name, length, _ = strings.Cut(value[at:], "[")
			if f.kind = strings.TrimSpace(value[:at]); length != "" {
				f.kind += "[" + length
			}
			continue
		}
		n, err := strconv.ParseUint(value, 10, 32)
		if err != nil {
			return f, err
		}
		if n > maxRawField {
			return f, fmt.Errorf("%s %d is beyond any page", key, n)
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
	if !isIdentifier(f.name) {
		return f, fmt.Errorf("name %q is not a C identifier", f.name)
	}
	return f, nil
}

// decode decodes one record. It returns false if the record is of an unknown event or too short, or if its thread id is
// negative.
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
	tid := int32(binary.LittleEndian.Uint32(data[e.pid:]))
	if tid < 0 {
		return false
	}
	ev.TID, ev.PID = int(tid), 0
	if ev.Kernel = e.kernel; e.kernel {
		ev.data, ev.named = data, e.named
		return true
	}
	ev.Addr = binary.LittleEndian.Uint64(data[e.ip:])
	args := ev.Args[:0]
	for i := range e.fields {
		f := &e.fields[i]
		if f.size == 8 {
			from := len(args)
			args = slices.Grow(args, f.count)[:from+f.count]
			for k, words := from, data[f.at:f.at+8*f.count]; len(words) >= 8; k, words = k+1, words[8:] {
				args[k] = binary.LittleEndian.Uint64(words)
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

// number returns the number at an offset of data, in two's complement if the field is signed.
func (f *rawField) number(data []byte, at int) (v uint64) {
	switch f.size {
	case 8:
		return binary.LittleEndian.Uint64(data[at:])
	case 4:
		v = uint64(binary.LittleEndian.Uint32(data[at:]))
	case 2:
		v = uint64(binary.LittleEndian.Uint16(data[at:]))
	default:
		v = uint64(data[at])
	}
	if f.signed {
		above := 64 - 8*f.size
		v = uint64(int64(v<<above) >> above)
	}
	return v
}
