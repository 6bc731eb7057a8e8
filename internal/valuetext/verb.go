package valuetext

import (
	"fmt"
	"reflect"
	"strconv"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/printable"
)

// Verb is one of package fmt's, with its flags: "%-6d". A value that does not suit it is written
// as by %v, and an interface is taken for what it holds.
type Verb struct {
	Spec   string // for package fmt
	Letter byte   // of "dxfqstv"
	Left   bool   // aligned to the left
	Width  int    // in columns of a terminal, 0 if none is given
}

// AppendPadded writes text that has no width of its own yet.
func (p *Verb) AppendPadded(b []byte, text string) []byte {
	blanks := p.Width - printable.Columns(text)
	if p.Left {
		b = append(b, text...)
	}
	for range blanks {
		b = append(b, ' ')
	}
	if !p.Left {
		b = append(b, text...)
	}
	return b
}

// AppendValue writes a value as the verb wants it, or by its own text if it can't be.
func (p *Verb) AppendValue(b []byte, v *capture.Value) []byte {
	if !known(v) || v.Type == nil || p.Letter == 'v' {
		return p.AppendPadded(b, Text(v))
	}
	message, isError := ErrorMessage(v)
	for v.Type.Kind == reflect.Interface && known(v.Elem) && v.Elem.Type != nil {
		v = v.Elem
	}
	if isError && p.Letter != 'd' && p.Letter != 'x' { // the number of a syscall.Errno
		v = &message
	}
	switch p.Letter {
	case 'd', 'x', 'f', 't':
		if n := p.number(v); n != nil {
			return fmt.Appendf(b, p.Spec, n)
		}
		if p.Letter == 'x' && (v.Type.Kind == reflect.String || isBytes(v)) && !v.Nil() {
			text := fmt.Appendf(nil, "%x", v.Bytes)
			return p.AppendPadded(b, string(appendMissing(text, v.Len-int64(len(v.Bytes)))))
		}
	case 's':
		if ip, ok := ipOf(v); ok {
			return p.AppendPadded(b, ip.String())
		}
		if (v.Type.Kind == reflect.String || isBytes(v)) && !v.Nil() {
			text := unbroken(v)
			return p.AppendPadded(b, string(appendMissing([]byte(printable.Text(string(text))), v.Len-int64(len(text)))))
		}
	case 'q':
		if ip, ok := ipOf(v); ok {
			return p.AppendPadded(b, strconv.Quote(ip.String()))
		}
		if v.Type.Kind == reflect.String || isBytes(v) && !v.Nil() {
			return p.AppendPadded(b, string(appendQuoted(nil, v)))
		}
		return p.AppendPadded(b, strconv.Quote(Text(v)))
	}
	return p.AppendPadded(b, Text(v))
}

// number returns what package fmt is to write by a verb for numbers; nil if the value
// is none of the verb's.
func (p *Verb) number(v *capture.Value) any {
	kind := v.Type.Kind
	switch {
	case !known(v):
		return nil
	case p.Letter == 't':
		if kind == reflect.Bool {
			return v.Num != 0
		}
		return nil
	case p.Letter == 'f':
		switch kind {
		case reflect.Float64:
			return Float(v.Num, v.Type.Size)
		case reflect.Int:
			return float64(int64(v.Num))
		case reflect.Uint:
			return float64(v.Num)
		}
		return nil
	case kind == reflect.Int:
		return int64(v.Num)
	case kind == reflect.Uint:
		return v.Num
	case p.Letter == 'x' && (kind == reflect.Pointer || kind == reflect.UnsafePointer):
		return v.Num
	}
	return nil
}
