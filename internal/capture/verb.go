package capture

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
)

// Verb is a verb of package fmt with its flags: "%-6d". It formats a value of a kind that the verb does not apply to
// like %v, and an interface like its dynamic value.
type Verb struct {
	Spec   string // the verb as package fmt accepts it
	Letter byte   // one of "dxqstv"
	Left   bool   // aligns text to the left
	Width  int    // the minimum width in columns of a terminal, 0 if the verb has no width
}

// AppendPadded appends text padded to the width.
func (p *Verb) AppendPadded(b []byte, text string) []byte {
	blanks := strings.Repeat(" ", max(0, p.Width-printable.Columns(text)))
	if p.Left {
		return append(b, text+blanks...)
	}
	return append(b, blanks+text...)
}

// AppendValue appends a value formatted by the verb, or its padded text if the verb does not apply.
func (p *Verb) AppendValue(b []byte, v *Value) []byte {
	if !known(v) || v.Type == nil || p.Letter == 'v' {
		return p.AppendPadded(b, v.Text())
	}
	message, isError := v.ErrorMessage()
	for v.Type.Kind == reflect.Interface && known(v.Elem) && v.Elem.Type != nil {
		v = v.Elem
	}
	if isError && p.Letter != 'd' && p.Letter != 'x' { // %d and %x format the number of a syscall.Errno
		v = &message
	}
	if p.Letter == 'd' || p.Letter == 'x' {
		switch v.Type.Kind {
		case reflect.Int, reflect.Uint:
			return fmt.Appendf(b, p.Spec, v.Number())
		case reflect.Pointer, reflect.UnsafePointer:
			if p.Letter == 'x' {
				return fmt.Appendf(b, p.Spec, v.Num)
			}
		}
	}
	text := v.Text()
	ip, isIP := ipOf(v)
	isText := v.Type.Kind == reflect.String || isBytes(v) && !v.Nil()
	switch {
	case p.Letter == 'x' && isText:
		text = string(appendMissing(fmt.Appendf(nil, "%x", v.Bytes), missingBytes(v, v.Bytes)))
	case isIP:
		text = ip.String()
	case p.Letter == 's' && isText:
		known := wholeText(v)
		text = string(appendMissing([]byte(printable.Text(string(known))), missingBytes(v, known)))
	case p.Letter == 'q' && isText:
		return p.AppendPadded(b, string(appendQuoted(nil, v)))
	}
	if p.Letter == 'q' {
		text = strconv.Quote(text)
	}
	return p.AppendPadded(b, text)
}
