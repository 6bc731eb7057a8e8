package capture

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

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
	blanks := strings.Repeat(" ", max(0, p.Width-printable.Columns(text)))
	if p.Left {
		return append(append(b, text...), blanks...)
	}
	return append(append(b, blanks...), text...)
}

// AppendValue writes a value as the verb wants it, or by its own text if it can't be.
func (p *Verb) AppendValue(b []byte, v *Value) []byte {
	if !known(v) || v.Type == nil || p.Letter == 'v' {
		return p.AppendPadded(b, v.Text())
	}
	message, isError := v.ErrorMessage()
	for v.Type.Kind == reflect.Interface && known(v.Elem) && v.Elem.Type != nil {
		v = v.Elem
	}
	if isError && p.Letter != 'd' && p.Letter != 'x' { // the number of a syscall.Errno
		v = &message
	}
	if n := p.number(v); n != nil {
		return fmt.Appendf(b, p.Spec, n)
	}
	text := v.Text()
	ip, isIP := ipOf(v)
	isText := v.Type.Kind == reflect.String || isBytes(v) && !v.Nil()
	switch {
	case p.Letter == 'x' && isText:
		text = string(appendMissing(fmt.Appendf(nil, "%x", v.Bytes), lacking(v, v.Bytes)))
	case isIP:
		text = ip.String() // which is its text
	case p.Letter == 's' && isText:
		known := unbroken(v)
		text = string(appendMissing([]byte(printable.Text(string(known))), lacking(v, known)))
	case p.Letter == 'q' && isText:
		return p.AppendPadded(b, string(appendQuoted(nil, v)))
	}
	if p.Letter == 'q' {
		text = strconv.Quote(text)
	}
	return p.AppendPadded(b, text)
}

// number returns what package fmt is to write by a verb for numbers; nil if the value
// is none of the verb's.
func (p *Verb) number(v *Value) any {
	kind := v.Type.Kind
	switch l := p.Letter; {
	case l == 't' && kind == reflect.Bool:
		return v.Num != 0
	case l == 'f' && kind == reflect.Float64:
		return floatOf(v.Num, v.Type.Size)
	case l == 'f' && kind == reflect.Int:
		return float64(int64(v.Num))
	case l == 'f' && kind == reflect.Uint:
		return float64(v.Num)
	case (l == 'd' || l == 'x') && kind == reflect.Int:
		return int64(v.Num)
	case (l == 'd' || l == 'x') && kind == reflect.Uint, l == 'x' && (kind == reflect.Pointer || kind == reflect.UnsafePointer):
		return v.Num
	}
	return nil
}
