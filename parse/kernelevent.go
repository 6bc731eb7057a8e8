package parse

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// Number returns the number in a field of a kernel event. ok is false if the event has no field of this name, or if the
// field is not a number.
func (e *Event) Number(name string) (n uint64, ok bool) {
	for i := range e.named {
		if f := &e.named[i]; f.name == name {
			v := f.value(e.data)
			return v.Num, v.Text == nil && v.Bytes == nil
		}
	}
	return 0, false
}

// Fields returns the fields of a kernel event in the order of the kernel's description. They are valid as long as the event
// is.
func (e *Event) Fields() []Field {
	fields := make([]Field, len(e.named))
	for i := range e.named {
		fields[i] = e.named[i].value(e.data)
	}
	return fields
}

// Field is a field of a kernel event.
type Field struct {
	Name string
	// Text is the value of a string, else nil. The kernel or the traced program chose its bytes, so that it may
	// hold anything.
	Text []byte
	// Bytes is a value that is neither a string nor a number.
	Bytes []byte
	// Num is a number, in two's complement if Signed. Hex means that it is an address.
	Num         uint64
	Signed, Hex bool
}

// String returns the value as text: a number in digits, a string quoted as in Go, other bytes in hexadecimal.
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

// locates reports whether the field is a word that locates other bytes of the record. by is the prefix of the C type of such a field.
func (f *field) locates(by string) bool { return f.size == 4 && strings.HasPrefix(f.kind, by) }

// value returns the value of the field in a record, which must not be shorter than the event's fixed part. The
// shapes of fields are in Documentation/trace/events.rst, "Event formats".
func (f *field) value(record []byte) Field {
	out := Field{Name: f.name}
	switch {
	case f.locates("__data_loc"): // TRACE_EVENT's __string and __dynamic_array
		out.Bytes = located(record, f.at, 0)
	case f.locates("__rel_loc"): // since 5.16
		out.Bytes = located(record, f.at, f.at+4)
	case isWord(f.size) && !strings.HasSuffix(f.kind, "]"): // pointers are shown in hexadecimal
		out.Num, out.Signed, out.Hex = number(record[f.at:], f.size, f.signed), f.signed, strings.Contains(f.kind, "*")
		return out
	default:
		out.Bytes = record[f.at : f.at+f.size]
	}
	if strings.Contains(f.kind, "char") && !strings.Contains(f.kind, "unsigned") { // a string, which ends with a NUL
		out.Text, _, _ = bytes.Cut(out.Bytes, []byte{0})
		out.Bytes = nil
	}
	return out
}

// located returns the bytes that the word at an offset of a record refers to. The upper half of the word is their
// length, the lower half their offset from base. It returns an empty slice if they are not within the record.
func located(record []byte, at, base int) []byte {
	word := binary.LittleEndian.Uint32(record[at:])
	from, size := base+int(word&0xffff), int(word>>16)
	if from+size > len(record) {
		return []byte{}
	}
	return record[from : from+size]
}
