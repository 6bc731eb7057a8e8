package render

import (
	"fmt"
	"strconv"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/tracefs/uprobe/capture"
)

var (
	uint64Type, _ = gotype.Basic("uint64")
	intType, _    = gotype.Basic("int")
)

// append writes a call.
func (f *CallFormat) append(b []byte, c *CallLine) []byte {
	for i := range f.pieces {
		p := &f.pieces[i]
		b = append(b, p.text...)
		v, text := p.find(c)
		if v == nil {
			if p.verb == 'q' {
				text = strconv.Quote(text)
			} else {
				text = Escape(text)
			}
			b = p.appendPadded(b, text)
			continue
		}
		b = p.appendValue(b, v)
	}
	return append(b, f.end...)
}

// appendPadded writes text that has no width of its own yet.
func (p *formatPiece) appendPadded(b []byte, text string) []byte {
	blanks := p.width - columns(text)
	if p.left {
		b = append(b, text...)
	}
	for range blanks {
		b = append(b, ' ')
	}
	if !p.left {
		b = append(b, text...)
	}
	return b
}

// appendValue writes a value as the verb wants it, or by its own text if it can't be.
func (p *formatPiece) appendValue(b []byte, v *capture.Value) []byte {
	if !known(v) || v.Type == nil || p.verb == 'v' {
		return p.appendPadded(b, ValueText(v))
	}
	message, isError := ErrorMessage(v)
	for v.Type.Kind == gotype.Interface && known(v.Elem) && v.Elem.Type != nil {
		v = v.Elem
	}
	if isError && p.verb != 'd' && p.verb != 'x' { // the number of a syscall.Errno
		v = &message
	}
	switch p.verb {
	case 'd', 'x', 'f', 't':
		if n := p.number(v); n != nil {
			return fmt.Appendf(b, p.spec, n)
		}
		if p.verb == 'x' && (v.Type.Kind == gotype.String || isBytes(v)) && !v.Nil() {
			text := fmt.Appendf(nil, "%x", v.Bytes)
			return p.appendPadded(b, string(appendMissing(text, v.Len-int64(len(v.Bytes)))))
		}
	case 's':
		if ip, ok := ipOf(v); ok {
			return p.appendPadded(b, ip.String())
		}
		if (v.Type.Kind == gotype.String || isBytes(v)) && !v.Nil() {
			text := unbroken(v)
			return p.appendPadded(b, string(appendMissing([]byte(Escape(string(text))), v.Len-int64(len(text)))))
		}
	case 'q':
		if ip, ok := ipOf(v); ok {
			return p.appendPadded(b, strconv.Quote(ip.String()))
		}
		if v.Type.Kind == gotype.String || isBytes(v) && !v.Nil() {
			return p.appendPadded(b, string(appendQuoted(nil, v)))
		}
		return p.appendPadded(b, strconv.Quote(ValueText(v)))
	}
	return p.appendPadded(b, ValueText(v))
}

// number returns what package fmt is to write by a verb for numbers; nil if the value
// is none of the verb's.
func (p *formatPiece) number(v *capture.Value) any {
	kind := v.Type.Kind
	switch {
	case !known(v):
		return nil
	case p.verb == 't':
		if kind == gotype.Bool {
			return v.Num != 0
		}
		return nil
	case p.verb == 'f':
		switch kind {
		case gotype.Float:
			return float(v.Num, v.Type.Size)
		case gotype.Int:
			return float64(int64(v.Num))
		case gotype.Uint:
			return float64(v.Num)
		}
		return nil
	case kind == gotype.Int:
		return int64(v.Num)
	case kind == gotype.Uint:
		return v.Num
	case p.verb == 'x' && (kind == gotype.Pointer || kind == gotype.UnsafePointer):
		return v.Num
	}
	return nil
}

func isReference(v *capture.Value) bool {
	return known(v) && v.Type != nil && (v.Type.Kind == gotype.Pointer || v.Type.Kind == gotype.Interface)
}

// pointee returns what a pointer points to or an interface holds.
func pointee(v *capture.Value) *capture.Value {
	switch {
	case !isReference(v):
		return v
	case v.Nil():
		return missing(capture.Unreadable, "nil pointer")
	case v.Elem == nil:
		return missing(capture.Unfetched, "")
	}
	return v.Elem
}

// missing stands for a value that is not there.
func missing(state capture.State, why string) *capture.Value {
	return &capture.Value{Type: &gotype.Type{}, State: state, Why: why}
}
