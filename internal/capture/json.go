package capture

import (
	"encoding/base64"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/printable"
)

// AppendJSON appends a value as JSON on one line. docs/formats.md lists the forms and the order of their keys. In all
// strings, it escapes unprintable runes by \u, so that the line can be printed on a terminal.
func (v *Value) AppendJSON(b []byte) []byte {
	switch {
	case v.State != Known || v.Type == nil || v.Type.Kind == reflect.Invalid:
		return append(appendUnknown(append(b, '{'), v), '}')
	case v.Nil():
		return append(b, "null"...)
	}
	switch v.Type.Kind {
	case reflect.Bool:
		return strconv.AppendBool(b, v.Num != 0)
	case reflect.Int:
		return strconv.AppendInt(b, int64(v.Num), 10)
	case reflect.Uint:
		return strconv.AppendUint(b, v.Num, 10)
	case reflect.Float64:
		return appendFloatJSON(b, v.Num, v.Type.Size)
	case reflect.Complex128:
		b = appendFloatJSON(append(b, `{"re":`...), v.Num, v.Type.Size/2)
		b = appendFloatJSON(append(b, `,"im":`...), v.Imag, v.Type.Size/2)
		return append(b, '}')
	case reflect.Pointer, reflect.UnsafePointer:
		if v.Elem != nil {
			return appendPointerJSON(b, v)
		}
		if v.Type.IsWord() {
			return append(v.AppendText(append(b, '"')), '"')
		}
		return appendNamed(b, "", v.Num)
	case reflect.String:
		return appendStringJSON(b, v)
	case reflect.Slice:
		b = fmt.Appendf(b, `{"len":%d,"cap":%d,`, v.Len, v.Cap)
		if isBytes(v) {
			return append(appendBytesJSON(b, v, `"text":`), '}')
		}
		return append(appendItemsJSON(append(b, `"items":`...), v.Items), '}')
	case reflect.Array:
		if int64(len(v.Items)) >= v.Type.Len {
			return appendItemsJSON(b, v.Items)
		}
		b = fmt.Appendf(b, `{"len":%d,"items":`, v.Type.Len)
		return append(appendItemsJSON(b, v.Items), '}')
	case reflect.Struct:
		if v.Type.IsWord() {
			return appendWordsJSON(b, v)
		}
		if text, guess, ok := v.standardText(); ok && guess {
			return append(printable.AppendJSON(append(b, `{"guess":`...), text), '}')
		} else if ok {
			return printable.AppendJSON(b, text)
		}
		return AppendObject(b, v.Items)
	case reflect.Interface:
		return appendInterfaceJSON(b, v)
	case reflect.Map:
		return fmt.Appendf(b, `{"len":%d}`, v.Len)
	case reflect.Chan:
		return fmt.Appendf(b, `{"len":%d,"cap":%d}`, v.Len, v.Cap)
	default: // reflect.Func
		return append(appendNamed(append(b, `{"func":`...), v.Dynamic, v.Num), '}')
	}
}

// appendUnknown appends the member with the reason why a value is not known.
func appendUnknown(b []byte, v *Value) []byte {
	key, reason := `"unfetched":`, v.Reason
	switch v.State {
	case Unreadable:
		key = `"unreadable":`
	case Known:
		reason = typeNotKnown
	}
	return printable.AppendJSON(append(b, key...), reason)
}

// appendNamed appends a name, or the address if the name is "".
func appendNamed(b []byte, name string, addr uint64) []byte {
	if name == "" {
		return append(appendHex(append(b, '"'), addr), '"')
	}
	return printable.AppendJSON(b, name)
}

// appendFloatJSON appends the shortest number that parses to the same float.
func appendFloatJSON(b []byte, bits uint64, size int64) []byte {
	f := floatOf(bits, size)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Appendf(b, `{"float":"%g"}`, f)
	}
	return strconv.AppendFloat(b, f, 'g', -1, int(8*size))
}

func appendStringJSON(b []byte, v *Value) []byte {
	cut := v.Cut()
	if !cut && utf8.Valid(v.Bytes) {
		return printable.AppendJSON(b, v.Bytes)
	}
	if b = appendBytesJSON(append(b, '{'), v, `"cut":`); cut && v.Len >= 0 {
		b = fmt.Appendf(b, `,"len":%d`, v.Len)
	}
	return append(b, '}')
}

// appendBytesJSON appends the member with the bytes of a value: with the given key if they are UTF-8, and otherwise
// "bytes".
func appendBytesJSON(b []byte, v *Value, key string) []byte {
	if text := wholeText(v); utf8.Valid(text) {
		return printable.AppendJSON(append(b, key...), text)
	}
	return append(base64.StdEncoding.AppendEncode(append(b, `"bytes":"`...), v.Bytes), '"')
}

func appendItemsJSON(b []byte, items []Value) []byte {
	b = append(b, '[')
	for i := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = items[i].AppendJSON(b)
	}
	return append(b, ']')
}

func appendWordsJSON(b []byte, v *Value) []byte {
	guessed := v.Bytes != nil
	if guessed {
		text := *v
		text.Type = stringType
		b = append(appendStringJSON(append(b, `{"guess":`...), &text), `,"words":`...)
	}
	b = appendItemsJSON(b, v.Items)
	if more := strings.HasSuffix(v.Type.Name, "…}"); more && len(v.Items) > 0 {
		b = append(b[:len(b)-1], `,"…"]`...)
	} else if more {
		b = append(b[:len(b)-1], `"…"]`...)
	}
	if guessed {
		b = append(b, '}')
	}
	return b
}

// AppendObject appends values as an object whose keys are their names.
func AppendObject(b []byte, values []Value) []byte {
	return append(appendMembers(append(b, '{'), values), '}')
}

func appendMembers(b []byte, values []Value) []byte {
	for i := range values {
		if i > 0 {
			b = append(b, ',')
		}
		name, nth := values[i].Name, 1
		for j := range values[:i] {
			if values[j].Name == name {
				nth++
			}
		}
		if nth > 1 { // most JSON parsers keep only one of several members with the same key
			name += "#" + strconv.Itoa(nth)
		}
		b = append(printable.AppendJSON(b, name), ':')
		b = values[i].AppendJSON(b)
	}
	return b
}

// appendPointerJSON appends a pointer with its target, which may be unreadable.
func appendPointerJSON(b []byte, v *Value) []byte {
	b = appendNamed(append(b, `{"&":`...), "", v.Num)
	to := v.Elem
	if to.State != Known {
		return append(appendUnknown(append(b, ','), to), '}')
	}
	_, _, isText := to.standardText()
	switch {
	case isText || to.Type.Kind != reflect.Struct:
		b = to.AppendJSON(append(b, `,"value":`...))
	case len(to.Items) > 0:
		b = appendMembers(append(b, ','), to.Items)
	}
	return append(b, '}')
}

func appendInterfaceJSON(b []byte, v *Value) []byte {
	b = printable.AppendJSON(append(b, `{"type":`...), v.Dynamic)
	if message, ok := v.ErrorMessage(); ok {
		b = appendStringJSON(append(b, `,"error":`...), &message)
	}
	return append(v.Elem.AppendJSON(append(b, `,"value":`...)), '}')
}
