package ftrace

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// kernelFormats say how the records of events of the kernel itself lie in raw pages.
type kernelFormats struct {
	raw    *rawFormats
	events [][]kernelField
}

// kernelField is a field of an event, of one of the shapes that
// Documentation/trace/events.rst ("Event formats") has.
type kernelField struct {
	name string
	kind fieldKind
	rawField
	// hex: addresses are better known by their hexadecimal digits.
	hex bool
}

type fieldKind uint8

const (
	numberField fieldKind = iota
	// textField is char NAME[N], ended by a NUL.
	textField
	// bytesField is an array of something else.
	bytesField
	// locField is "__data_loc TYPE[] NAME": a word of length and offset (TRACE_EVENT's
	// __string and __dynamic_array).
	locField
	// relField is "__rel_loc", whose offset counts from the end of the word (since 5.16).
	relField
)

// newKernelFormats reads the files events/GROUP/EVENT/format of events.
func newKernelFormats(names, texts []string) (*kernelFormats, error) {
	if len(names) != len(texts) {
		return nil, fmt.Errorf("parse formats: %d texts for %d kernel events", len(texts), len(names))
	}
	k := &kernelFormats{raw: &rawFormats{events: make([]rawEvent, len(names))}, events: make([][]kernelField, len(names))}
	for i, text := range texts {
		fields, e := &k.events[i], &k.raw.events[i]
		id, common, err := parseFormat(text, func(name, kind string, f rawField) {
			if strings.HasPrefix(name, "common_") || name == "__syscall_nr" { // the event's name says it
				return
			}
			*fields = append(*fields, newKernelField(name, kind, f))
			e.size = max(e.size, f.at+f.size)
		})
		if err == nil {
			e.pid = common["common_pid"]
			e.whole = true
			e.size = max(e.size, e.pid.at+e.pid.size)
			err = k.raw.number(i, id)
		}
		if err == nil && (e.pid.size != 4 || common["common_type"] != rawType) {
			err = fmt.Errorf("common_pid is %+v, common_type %+v", e.pid, common["common_type"])
		}
		if err != nil {
			return nil, fmt.Errorf("parse format of kernel event %q: %w", names[i], err)
		}
	}
	return k, nil
}

func newKernelField(name, kind string, f rawField) kernelField {
	out := kernelField{name: name, rawField: f, hex: strings.Contains(kind, "*")}
	isChar := strings.Contains(kind, "char") && !strings.Contains(kind, "unsigned")
	switch {
	case strings.HasPrefix(kind, "__data_loc") && f.size == 4:
		out.kind = locField
	case strings.HasPrefix(kind, "__rel_loc") && f.size == 4:
		out.kind = relField
	case strings.HasSuffix(kind, "]") && isChar:
		out.kind = textField
	case strings.HasSuffix(kind, "]"), f.size != 1 && f.size != 2 && f.size != 4 && f.size != 8:
		out.kind = bytesField
	}
	if out.kind == locField || out.kind == relField {
		out.hex = !isChar
	}
	return out
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

// appendFields decodes a record of an event, which is as long as its fixed fields at least.
func (k *kernelFormats) appendFields(out []KernelField, event int, data []byte) []KernelField {
	for i := range k.events[event] {
		f := &k.events[event][i]
		v := KernelField{Name: f.name, Signed: f.signed, Hex: f.hex}
		switch f.kind {
		case numberField:
			v.Num = f.number(data, f.at)
		case textField:
			v.Text = untilNUL(data[f.at : f.at+f.size])
		case bytesField:
			v.Bytes = append([]byte{}, data[f.at:f.at+f.size]...)
		default:
			part := located(data, f)
			if f.hex {
				v.Bytes = part
			} else {
				v.Text = untilNUL(part)
			}
		}
		out = append(out, v)
	}
	return out
}

// located is what a field's word points at: its length in the upper half, its offset in the
// lower; nothing if that is outside of the record.
func located(data []byte, f *kernelField) []byte {
	word := binary.LittleEndian.Uint32(data[f.at:])
	from, size := int(word&0xffff), int(word>>16)
	if f.kind == relField {
		from += f.at + 4
	}
	if from+size > len(data) {
		return []byte{}
	}
	return data[from : from+size]
}

func untilNUL(b []byte) []byte {
	for i, c := range b {
		if c == 0 {
			return b[:i:i]
		}
	}
	return b
}
