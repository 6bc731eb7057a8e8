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

// minEvent is the minimum length of an event's name. A thread's name has at most 15 bytes (TASK_COMM_LEN in
// include/linux/sched.h) and can't hold it.
const minEvent = 16

// maxArray is the kernel's limit of array elements (MAX_ARRAY_LEN in kernel/trace/trace_probe.h).
const maxArray = 64

// formats holds the layouts of events. Only heads changes after it was made.
type formats struct {
	events  []layout
	byName  map[string]int // the index in events of each event's name, for lines
	byID    []int32        // common_type → index in events plus 1, for records
	heads   [64]head       // of the latest lines, by the digits of the thread's id
	guesses [4096]uint32   // guessOf an event's name → index in events plus 1
}

// head is the beginning of a line up to its time, with the values there. Most lines of a thread begin alike.
type head struct {
	text          []byte
	cpu, tid, pid int
}

// layout describes the lines and the records of an event.
type layout struct {
	// The fixed texts in a line: the event's name and addrMark, and " NAME=" for each argument. len is the Len of the Format.
	marked string
	labels []string
	len    []int

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

// newFormats returns the layouts of events. texts are the contents of their files events/GROUP/EVENT/format
// (kernel/trace/trace_events.c, f_show), nil if the events are read from lines. events is nil for kernel events.
func newFormats(events []Format, texts []string) (*formats, error) {
	if events != nil && texts != nil && len(events) != len(texts) {
		return nil, fmt.Errorf("parse formats: %d texts for %d events", len(texts), len(events))
	}
	r := &formats{events: make([]layout, max(len(events), len(texts))), byName: make(map[string]int, len(events))}
	for i := range r.events {
		var name string
		var ev *Format // nil for a kernel event
		var err error
		if events != nil {
			ev = &events[i]
			name, err = ev.Event, r.layLine(i, ev)
		} else {
			name, _, _ = strings.Cut(strings.TrimPrefix(texts[i], "name: "), "\n")
		}
		if texts != nil && err == nil {
			err = r.layRecord(i, ev, texts[i])
		}
		if err != nil {
			return nil, fmt.Errorf("parse format of event %q: %w", name, err)
		}
	}
	return r, nil
}

// layLine sets the layout of the lines of event i. It returns an error if the Format is invalid or another event has the
// same name.
func (r *formats) layLine(i int, ev *Format) error {
	_, dup := r.byName[ev.Event]
	switch {
	case !isIdentifier(ev.Event):
		return errors.New("name is not a C identifier")
	case len(ev.Event) < minEvent:
		return fmt.Errorf("name is shorter than %d bytes: a thread's name could hold it", minEvent)
	case ev.Len != nil && len(ev.Len) != len(ev.Args):
		return fmt.Errorf("%d lengths for %d arguments", len(ev.Len), len(ev.Args))
	case dup:
		return errors.New("duplicate event")
	}
	l := &r.events[i]
	l.marked, l.len = ev.Event+addrMark, ev.Len
	for k, a := range ev.Args {
		if !isIdentifier(a) {
			return fmt.Errorf("argument name %q is not a C identifier", a)
		}
		if n := ev.lenOf(k); n < 0 || n > maxArray {
			return fmt.Errorf("argument %q has length %d, not 0 to %d", a, n, maxArray)
		}
		l.labels = append(l.labels, " "+a+"=")
	}
	r.byName[ev.Event] = i
	r.guesses[guessOf([]byte(ev.Event))] = uint32(i + 1)
	return nil
}

// isIdentifier reports whether a text is a C identifier.
var isIdentifier = regexp.MustCompile(`^[A-Za-z_][0-9A-Za-z_]*$`).MatchString

// layRecord sets the layout of the records of event i, from the text of its format file. ev is nil for a kernel event.
func (r *formats) layRecord(i int, ev *Format, text string) error {
	id, fields, err := parseFormat(text)
	if err != nil {
		return err
	}
	for len(r.byID) <= id {
		r.byID = append(r.byID, 0)
	}
	if other := r.byID[id]; other != 0 {
		return fmt.Errorf("ID %d is also the ID of event %d", id, other-1)
	}
	r.byID[id] = int32(i + 1)
	// Every record begins with its type (struct trace_entry in include/linux/trace_events.h), which decode reads
	// before it knows the event.
	l := &r.events[i]
	if f, err := l.take(fields, "common_type", 0, 2); err != nil || f.at != 0 {
		return cmp.Or(err, fmt.Errorf("field \"common_type\" is at %d", f.at))
	}
	pid, err := l.take(fields, "common_pid", 0, 4)
	if l.pid = pid.at; err != nil {
		return err
	}
	if ev == nil {
		l.kernel = true
		for _, f := range fields {
			if strings.HasPrefix(f.name, "common_") || f.name == "__syscall_nr" { // the event's name contains the system call
				continue
			}
			l.named = append(l.named, f)
			l.size = max(l.size, f.at+f.size)
		}
		return nil
	}
	ip, err := l.take(fields, "__probe_ip", 0, 8)
	l.ip = ip.at
	for k := 0; k < len(ev.Args) && err == nil; k++ {
		var arg field
		arg, err = l.take(fields, ev.Args[k], ev.lenOf(k), 0)
		l.args = append(l.args, arg)
	}
	return err
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
// l.size, so that decode rejects a record that is too short for the field.
func (l *layout) take(fields []field, name string, count, word int) (field, error) {
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
	l.size = max(l.size, f.at+f.size)
	return f, nil
}

// isWord reports whether a number can have this many bytes.
func isWord(size int) bool { return size == 1 || size == 2 || size == 4 || size == 8 }

// decode decodes one record. It returns false if the record is of an unknown event or too short, or if its thread id is
// negative.
func (r *formats) decode(data []byte, ev *Event) bool {
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
		words := data[f.at : f.at+f.size]
		for ; f.word == 8 && len(words) > 0; words = words[8:] { // nearly all words have this size
			args = append(args, binary.LittleEndian.Uint64(words))
		}
		for ; len(words) > 0; words = words[f.word:] {
			args = append(args, number(words, f.word, f.signed))
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
