package capture

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
)

// typeNotKnown is shown for values that nothing is known of, not even their type.
const typeNotKnown = "type not known"

// Text writes a value on one line, for people, much as Go would spell it:
//
//	-42  http.StateActive  true  3.5  (1+2i)  1.5ms  2024-02-29T12:00:00.5Z  127.0.0.1  10.0.0.0/8
//	"hi bob"  "abc"…+4093  []byte("\x00\x01")  [1 2 3 …+97]
//	{Name:"x" Age:3}  &{Name:"x" Age:3}  {Name:"x" Age:3 …+7}  0xc000012345  nil
//	int(3)  *errors.errorString("not found")  *main.T(0xc000012345)
//	map[len 300]  chan[1/8]  main.main.func1
//	{0x4b2f1a, 0x3}  0x2a?  ~"hi bob": words of no known type, one that may be another's, two that may be a string
//	<unreadable: page not in memory>  <in a floating-point register>
//
// After … stands the number of bytes, elements or fields that are missing. Nothing in it is
// not printable, whatever the value and the names of its types hold. A guess begins with ~.
func (v *Value) Text() string { return string(v.AppendText(nil)) }

// AppendText appends what Text returns.
func (v *Value) AppendText(b []byte) []byte {
	switch {
	case v.State == Unreadable:
		if v.Why == "" {
			return append(b, "<unreadable>"...)
		}
		return fmt.Appendf(b, "<unreadable: %s>", printable.Text(v.Why))
	case v.State == Unfetched && v.Why == "":
		return append(b, "<not fetched>"...)
	case v.State == Unfetched:
		return append(append(append(b, '<'), printable.Text(v.Why)...), '>')
	case v.Type == nil || v.Type.Kind == reflect.Invalid:
		return append(b, "<"+typeNotKnown+">"...)
	case v.Nil():
		return append(b, "nil"...)
	}
	switch v.Type.Kind {
	case reflect.Bool:
		return strconv.AppendBool(b, v.Num != 0)
	case reflect.Int:
		if v.Type.Name == "time.Duration" {
			return append(b, time.Duration(v.Num).String()...)
		} else if name := v.Type.Constant(v.Num); name != "" {
			return append(b, printable.Text(name)...)
		}
		return strconv.AppendInt(b, int64(v.Num), 10)
	case reflect.Uint:
		if name := v.Type.Constant(v.Num); name != "" {
			return append(b, printable.Text(name)...)
		}
		return strconv.AppendUint(b, v.Num, 10)
	case reflect.Float64:
		return strconv.AppendFloat(b, floatOf(v.Num, v.Type.Size), 'g', -1, int(8*v.Type.Size))
	case reflect.Complex128:
		return append(b, strconv.FormatComplex(v.complex(), 'g', -1, int(8*v.Type.Size))...)
	case reflect.Pointer, reflect.UnsafePointer:
		if v.Elem != nil {
			return v.Elem.AppendText(append(b, '&'))
		}
		if v.Dynamic != "" {
			name := strings.TrimPrefix(printable.Short(v.Dynamic), "*")
			return append(appendHex(fmt.Appendf(b, "*%s(", printable.Text(name)), v.Num), ')')
		}
		b = appendHex(b, v.Num)
		if v.Type.IsWord() && strings.HasSuffix(v.Type.Name, "?") {
			b = append(b, '?')
		}
		return b
	case reflect.String:
		return appendQuoted(b, v)
	case reflect.Slice:
		if ip, ok := ipOf(v); ok {
			return ip.AppendTo(b)
		} else if isBytes(v) {
			return appendBytesText(b, v)
		}
		return appendItems(b, v.Items, v.Len)
	case reflect.Array:
		return appendItems(b, v.Items, v.Type.Len)
	case reflect.Struct:
		if v.Type.IsWord() {
			return appendWords(b, v)
		}
		if text, guess, ok := v.standard(); ok {
			if guess {
				b = append(b, '~')
			}
			return append(b, printable.Text(text)...)
		}
		b = appendAll(append(b, '{'), v.Items, " ", ":", 0)
		if missing := len(v.Type.Fields) - len(v.Items); missing > 0 && len(v.Items) > 0 {
			b = appendMissing(append(b, ' '), int64(missing))
		}
		return append(b, '}')
	case reflect.Interface:
		return appendInterface(b, v)
	case reflect.Map:
		return fmt.Appendf(b, "map[len %d]", v.Len)
	case reflect.Chan:
		return fmt.Appendf(b, "chan[%d/%d]", v.Len, v.Cap)
	default: // reflect.Func
		if v.Dynamic != "" {
			return append(b, printable.Text(v.Dynamic)...)
		}
		return appendHex(b, v.Num)
	}
}

// appendWords writes words, or the text that they may be.
func appendWords(b []byte, v *Value) []byte {
	if v.Bytes != nil {
		return appendQuoted(append(b, '~'), v)
	}
	b = appendAll(append(b, '{'), v.Items, ", ", "", 0)
	switch {
	case !strings.HasSuffix(v.Type.Name, "…}"):
	case len(v.Items) > 0:
		b = append(b, ", …"...)
	default:
		b = append(b, "…"...)
	}
	return append(b, '}')
}

func appendHex(b []byte, n uint64) []byte { return strconv.AppendUint(append(b, "0x"...), n, 16) }

// appendQuoted quotes the bytes of a string. [strconv.Quote] keeps what
// [unicode.IsPrint] allows, as [printable.Text] does, and loses nothing.
func appendQuoted(b []byte, v *Value) []byte {
	text := unbroken(v)
	return appendMissing(strconv.AppendQuote(b, string(text)), lacking(v, text))
}

// appendMissing tells how much the target has beyond what was fetched; less than nothing is not known how much.
func appendMissing(b []byte, n int64) []byte {
	if n < 0 {
		return append(b, "…"...)
	} else if n > 0 {
		b = strconv.AppendInt(append(b, "…+"...), n, 10)
	}
	return b
}

// unbroken returns the bytes of a value, in a cut one without the beginning of a rune
// that the cut went through: it would make text look like something else.
func unbroken(v *Value) []byte {
	if !v.Cut() {
		return v.Bytes
	}
	return WholeRunes(v.Bytes)
}

// lacking is how many bytes of a string there are behind a text, less than 0 if nobody knows.
func lacking(v *Value, text []byte) int64 {
	if v.Len < 0 {
		return -1
	}
	return v.Len - int64(len(text))
}

// isBytes tells whether a value is a slice of bytes.
func isBytes(v *Value) bool {
	return v.Type != nil && v.Type.Kind == reflect.Slice && (v.Bytes != nil || OfBytes(v.Type) && len(v.Items) == 0)
}

func appendBytesText(b []byte, v *Value) []byte {
	switch v.Type.Name {
	case "", "[]byte", "[]uint8":
		b = append(b, "[]byte"...)
	default:
		b = append(b, printable.Text(v.Type.Name)...)
	}
	return append(appendQuoted(append(b, '('), v), ')')
}

// appendItems writes the first elements of length.
func appendItems(b []byte, items []Value, length int64) []byte {
	b = appendAll(append(b, '['), items, " ", "", 0)
	missing := length - int64(len(items))
	if missing > 0 && len(items) > 0 {
		b = append(b, ' ')
	}
	return append(appendMissing(b, missing), ']')
}

// appendInterface writes what a non-nil interface holds as a conversion to its type.
func appendInterface(b []byte, v *Value) []byte {
	if known(v.Elem) && isBytes(v.Elem) && !v.Elem.Nil() {
		return v.Elem.AppendText(b) // which names the type already
	}
	if v.Dynamic == "" {
		b = append(appendHex(append(b, '<'), v.TypeWord), '>')
	} else {
		b = append(b, printable.Text(v.Dynamic)...)
	}
	b = append(b, '(')
	message, isError := v.ErrorMessage()
	switch {
	case isError:
		b = appendQuoted(b, &message)
	case v.Elem != nil:
		b = v.Elem.AppendText(b)
	case v.Num == 0:
		b = append(b, "nil"...)
	default:
		b = appendHex(b, v.Num)
	}
	return append(b, ')')
}

// AppendArgs writes the arguments of a call; note says why there are none, or more than these: just …
// if that is said of many functions, and so not here. Values that do not fit into room columns are cut; 0 is room for all.
func AppendArgs(b []byte, args []Value, note string, room int) []byte {
	b = appendAll(append(b, '('), args, ", ", "=", room)
	if note != "" {
		if len(args) > 0 {
			b = append(b, ", "...)
		}
		if strings.HasPrefix(note, NotKnown) {
			b = append(b, "…"...)
		} else {
			b = fmt.Appendf(b, "<%s>", printable.Text(note))
		}
	}
	return append(b, ')')
}

// AppendResults writes how a call ended, "return" or otherwise, in room columns: one result alone,
// several in parentheses.
func AppendResults(b []byte, end string, results []Value, room int) []byte {
	switch {
	case end != "return":
		return append(append(b, " = "...), end...)
	case len(results) == 0:
		return b
	case len(results) == 1:
		return appendAll(append(b, " = "...), results, "", "", room)
	}
	return append(appendAll(append(b, " = ("...), results, ", ", "", room), ')')
}

// appendAll writes values, each behind its name and what joins it to that, or without.
func appendAll(b []byte, values []Value, between, name string, room int) []byte {
	start, texts := len(b), 0
	for i := range values {
		b = appendLabel(b, &values[i], i, between, name)
		before := len(b)
		b = values[i].AppendText(b)
		texts += len(b) - before
	}
	if over := len(b) - start - room; room == 0 || over <= 0 {
		return b
	}
	return appendCut(b[:start], values, between, name, max(room-(len(b)-start-texts), leastText*len(values)))
}

// leastText is what is left at least of a value's text that is cut.
const leastText = 8

// appendCut writes values in room columns, names aside. What short ones leave of their part is the
// others', which are cut.
func appendCut(b []byte, values []Value, between, name string, room int) []byte {
	texts := make([]string, len(values))
	var order []int // the shortest first
	for i := range values {
		texts[i], order = values[i].Text(), append(order, i)
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(texts[i]) - len(texts[j]) })
	for k, i := range order {
		texts[i] = printable.Cut(texts[i], room/(len(order)-k))
		room -= printable.Columns(texts[i])
	}
	for i := range values {
		b = append(appendLabel(b, &values[i], i, between, name), texts[i]...)
	}
	return b
}

// appendLabel writes what stands before the value with the number i.
func appendLabel(b []byte, v *Value, i int, between, name string) []byte {
	if i > 0 {
		b = append(b, between...)
	}
	if name != "" && (v.Type == nil || !v.Type.IsWord()) {
		b = append(append(b, printable.Text(v.Name)...), name...)
	}
	return b
}
