package parse

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// KernelEvent is an event of the kernel itself.
type KernelEvent struct {
	// Event is its index in the list of names that the source has.
	Event int
	// Time is in the units of the trace clock.
	Time uint64
	// TID is the thread that ran when it happened, PID its process: 0 is the idle thread, or
	// a process that is not known. Of an event that is about another thread, like
	// sched:sched_waking, it is the one that did it.
	CPU, TID, PID int
	data          []byte
	named         []formatField
}

// Number is the value of a number by its name.
func (e *KernelEvent) Number(name string) (n uint64, ok bool) {
	for i := range e.named {
		if f := &e.named[i]; f.name == name && f.isNumber() {
			return f.number(e.data, f.at), true
		}
	}
	return 0, false
}

// KernelSource is where kernel events come from: see tracefs.StartKernel.
type KernelSource interface {
	pageSource // which never waits
	// Names are the events.
	Names() []string
	// Process returns the process of a thread: printed is 0.
	Process(tid, printed int) int
}

// newKernelFormats makes a decoder for events of the kernel itself, as newRawFormats does.
func newKernelFormats(names, texts []string) (*rawFormats, error) {
	events := make([]Format, len(names))
	for i := range names {
		events[i].Event = names[i]
	}
	return newFormats("kernel event", events, texts, func(e *rawEvent, _ *Format, fields []formatField) error {
		for _, f := range fields {
			if strings.HasPrefix(f.name, "common_") || f.name == "__syscall_nr" { // the event's name says it
				continue
			}
			e.named = append(e.named, f)
			e.size = max(e.size, f.at+f.size)
		}
		e.whole = true
		return nil
	})
}

// KernelField is a value of a kernel event.
type KernelField struct {
	Name string
	// Text is the value of a string, nil otherwise. It is the kernel's, or the traced
	// program's, byte by byte: anything may be in it.
	Text []byte
	// Bytes is the value of what is neither a string nor a number.
	Bytes []byte
	// Num is a number, in two's complement if it is Signed; Hex says that it is an address.
	Num         uint64
	Signed, Hex bool
}

// String is the value's text: a number's digits, a string quoted as Go does, other bytes in
// hexadecimal.
func (f *KernelField) String() string {
	switch {
	case f.Text != nil:
		return strconv.Quote(string(f.Text))
	case f.Bytes != nil:
		return fmt.Sprintf("%x", f.Bytes)
	case f.Hex:
		return fmt.Sprintf("%#x", f.Num)
	case f.Signed:
		return strconv.FormatInt(int64(f.Num), 10)
	}
	return strconv.FormatUint(f.Num, 10)
}

// AppendFields appends the event's values in the order in which the kernel describes them.
// They are valid as long as the event.
func (e *KernelEvent) AppendFields(out []KernelField) []KernelField {
	for i := range e.named {
		out = append(out, e.named[i].value(e.data))
	}
	return out
}

// isNumber tells whether the field is none of the other shapes that value knows.
func (f *formatField) isNumber() bool {
	return isWord(f.size) && !strings.HasSuffix(f.kind, "]") && !f.locates("__data_loc") && !f.locates("__rel_loc")
}

func (f *formatField) locates(by string) bool { return f.size == 4 && strings.HasPrefix(f.kind, by) }

// value is the field of a record that holds its fixed part at least. The field has one of the shapes
// that Documentation/trace/events.rst ("Event formats") has.
func (f *formatField) value(record []byte) KernelField {
	out := KernelField{Name: f.name}
	switch {
	case f.locates("__data_loc"): // TRACE_EVENT's __string and __dynamic_array
		out.Bytes = located(record, f.at, 0)
	case f.locates("__rel_loc"): // since 5.16
		out.Bytes = located(record, f.at, f.at+4)
	case f.isNumber(): // addresses are better known by their hexadecimal digits
		out.Num, out.Signed, out.Hex = f.number(record, f.at), f.signed, strings.Contains(f.kind, "*")
		return out
	default:
		out.Bytes = record[f.at : f.at+f.size]
	}
	if strings.Contains(f.kind, "char") && !strings.Contains(f.kind, "unsigned") { // ended by a NUL
		out.Text, _, _ = bytes.Cut(out.Bytes, []byte{0})
		out.Bytes = nil
	}
	return out
}

// located is what the word at an offset of a record points at: its length in the upper half, its
// offset from base in the lower; nothing if that is outside of the record.
func located(record []byte, at, base int) []byte {
	word := binary.LittleEndian.Uint32(record[at:])
	from, size := base+int(word&0xffff), int(word>>16)
	if from+size > len(record) {
		return []byte{}
	}
	return record[from : from+size]
}
