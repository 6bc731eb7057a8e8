package parse

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
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
	size int     // the minimum size of a record in bytes
	args []field // the arguments of a probe
	ip   int     // the offset of the address, which has 8 bytes
	pid  int     // the offset of the thread id, which has 4 bytes
	// kernel means that this is a kernel event. decode keeps its record as it is, and named describes the record's fields.
	kernel bool
	named  []field
}

// field is a field of a record: a number, an array of numbers, or a string.
type field struct {
	name, kind string // kind is the C type, with "[LEN]" if it is an array
	at, size   int    // the offset in the record, and the size of the whole field
	signed     bool
	word       int // the size of one number in bytes, set only by take
}

// newRawFormats returns the layouts of events. texts are the contents of their files events/GROUP/EVENT/format
// (kernel/trace/trace_events.c, f_show). events is nil for kernel events.
func newRawFormats(events []Format, texts []string) (*rawFormats, error) {
	if events != nil && len(events) != len(texts) {
		return nil, fmt.Errorf("parse formats: %d texts for %d events", len(texts), len(events))
	}
	r := &rawFormats{events: make([]rawEvent, len(texts))}
	for i, text := range texts {
		fields, err := r.read(i, text)
		switch e := &r.events[i]; {
		case err != nil:
		case events == nil:
			e.layKernel(fields)
		default:
			err = e.lay(&events[i], fields)
		}
		if err != nil {
			name, _, _ := strings.Cut(strings.TrimPrefix(text, "name: "), "\n")
			return nil, fmt.Errorf("parse format of event %q: %w", name, err)
		}
	}
	return r, nil
}

// layKernel stores the fields of a kernel event.
func (e *rawEvent) layKernel(fields []field) {
	e.kernel = true
	for _, f := range fields {
		if strings.HasPrefix(f.name, "common_") || f.name == "__syscall_nr" { // the event's name contains the system call
			continue
		}
		e.named = append(e.named, f)
		e.size = max(e.size, f.at+f.size)
	}
}

// read parses the format file of event i, notes its ID and the place of its thread id, and returns its fields.
func (r *rawFormats) read(i int, text string) ([]field, error) {
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
	if f, err := e.take(fields, "common_type", 0, 2); err != nil || f.at != 0 {
		return nil, cmp.Or(err, fmt.Errorf("field \"common_type\" is at %d", f.at))
	}
	pid, err := e.take(fields, "common_pid", 0, 4)
	e.pid = pid.at
	return fields, err
}

// parseFormat parses a format file and returns the event's ID and its fields in order.
func parseFormat(text string) (id int, fields []field, err error) {
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
		parts := fieldLine.FindStringSubmatch(line)
		if parts == nil {
			return 0, nil, fmt.Errorf("line %q does not describe a field", line)
		}
		f := field{name: parts[2], kind: parts[1] + parts[3], signed: parts[6] != "0"}
		f.at, _ = strconv.Atoi(parts[4]) // at most six digits
		f.size, _ = strconv.Atoi(parts[5])
		fields = append(fields, f)
	}
	if id < 0 {
		return 0, nil, errors.New("no ID")
	}
	return id, fields, nil
}

// fieldLine matches "field:TYPE NAME[LEN]; offset:N; size:N; signed:N;". Offsets and sizes have at most six digits: a record
// is no longer than a page of the ring buffer, which has at most 512 KB (ring_buffer_subbuf_order_set in
// kernel/trace/ring_buffer.c).
var fieldLine = regexp.MustCompile(`^field:(.*\S) ([A-Za-z_]\w*)(\[.*\])?;\s*offset:(\d{1,6});\s*size:(\d{1,6});\s*signed:(\d);`)

// take returns a field of count numbers, or of one number if count is 0. word is the size of a number, 0 for any. take raises
// e.size, so that decode rejects a record that is too short for the field.
func (e *rawEvent) take(fields []field, name string, count, word int) (field, error) {
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return field{}, fmt.Errorf("no field %q", name)
	}
	f := fields[i]
	count = max(1, count)
	f.word = f.size / count
	switch {
	case strings.HasPrefix(f.kind, "__data_loc"):
		return f, fmt.Errorf("field %q: a string is not a number", name)
	case f.word*count != f.size || !isWord(f.word) || word != 0 && f.word != word:
		return f, fmt.Errorf("field %q: %d bytes, not %d numbers", name, f.size, count)
	}
	e.size = max(e.size, f.at+f.size)
	return f, nil
}

// isWord reports whether a number can have this many bytes.
func isWord(size int) bool { return size == 1 || size == 2 || size == 4 || size == 8 }

// lay stores the places of the address and the arguments in the records of a probe's event.
func (e *rawEvent) lay(ev *Format, fields []field) error {
	ip, err := e.take(fields, "__probe_ip", 0, 8)
	e.ip = ip.at
	for i := 0; i < len(ev.Args) && err == nil; i++ {
		var arg field
		arg, err = e.take(fields, ev.Args[i], ev.lenOf(i), 0)
		e.args = append(e.args, arg)
	}
	return err
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
	for i := range e.args {
		f := &e.args[i]
		for at := f.at; at < f.at+f.size; at += f.word {
			args = append(args, number(data[at:], f.word, f.signed))
		}
	}
	ev.Args = args
	return true
}

// number returns the number of a size in bytes at the beginning of data, in two's complement if it is signed.
func number(data []byte, size int, signed bool) (v uint64) {
	switch size {
	case 8:
		return binary.LittleEndian.Uint64(data)
	case 4:
		v = uint64(binary.LittleEndian.Uint32(data))
	case 2:
		v = uint64(binary.LittleEndian.Uint16(data))
	default:
		v = uint64(data[0])
	}
	if signed {
		above := 64 - 8*size
		v = uint64(int64(v<<above) >> above)
	}
	return v
}
