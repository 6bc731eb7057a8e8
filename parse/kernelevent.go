package parse

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Number is the value of a number of an event of the kernel itself, by its name.
func (e *Event) Number(name string) (n uint64, ok bool) {
	for i := range e.named {
		if f := &e.named[i]; f.name == name {
			v := f.value(e.data)
			return v.Num, v.Text == nil && v.Bytes == nil
		}
	}
	return 0, false
}

// Fields are the values of an event of the kernel itself, in the order in which the kernel describes
// them. They are valid as long as the event.
func (e *Event) Fields() []Field {
	fields := make([]Field, len(e.named))
	for i := range e.named {
		fields[i] = e.named[i].value(e.data)
	}
	return fields
}

// Field is a value of an event of the kernel itself.
type Field struct {
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
func (f *Field) String() string {
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

func (f *formatField) locates(by string) bool { return f.size == 4 && strings.HasPrefix(f.kind, by) }

// value is the field of a record that holds its fixed part at least. The field has one of the shapes
// that Documentation/trace/events.rst ("Event formats") has.
func (f *formatField) value(record []byte) Field {
	out := Field{Name: f.name}
	switch {
	case f.locates("__data_loc"): // TRACE_EVENT's __string and __dynamic_array
		out.Bytes = located(record, f.at, 0)
	case f.locates("__rel_loc"): // since 5.16
		out.Bytes = located(record, f.at, f.at+4)
	case isWord(f.size) && !strings.HasSuffix(f.kind, "]"): // addresses are better known by their hexadecimal digits
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
