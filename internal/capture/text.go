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

// typeNotKnown is the text of a value without a type.
const typeNotKnown = "type not known"

// Text returns a value on one line for people, similar to Go's syntax:
//
//	-42  http.StateActive  true  3.5  (1+2i)  1.5ms  2024-02-29T12:00:00.5Z  127.0.0.1  10.0.0.0/8
//	"hi bob"  "abc"…+4093  []byte("\x00\x01")  [1 2 3 …+97]
//	{Name:"x" Age:3}  &{Name:"x" Age:3}  {Name:"x" Age:3 …+7}  0xc000012345  nil
//	int(3)  *errors.errorString("not found")  *main.T(0xc000012345)
//	map[len 300]  chan[1/8]  main.main.func1
//	{0x4b2f1a, 0x3}  untyped words
//	0x2a?  a word that may be another argument's
//	~"hi bob"  two words that may be a string
//	<unreadable: page not in memory>  <in a floating-point register>
//
// The number of missing bytes, elements or fields follows …. A guess begins with ~. All runes are printable, even if
// the value or the names of its types contain others.
func (v *Value) Text() string { return string(v.AppendText(nil)) }

// AppendText appends the result of Text.
func (v *Value) AppendText(b []byte) []byte {
	switch {
	case v.State == Unreadable:
		return fmt.Appendf(b, "<unreadable: %s>", printable.Text(v.Reason))
	case v.State == Unfetched:
		return fmt.Appendf(b, "<%s>", printable.Text(v.Reason))
	case v.Type == nil || v.Type.Kind == reflect.Invalid:
		return append(b, "<"+typeNotKnown+">"...)
	case v.Nil():
		return append(b, "nil"...)
	}
	switch v.Type.Kind {
	case reflect.Bool:
		return strconv.AppendBool(b, v.Num != 0)
	case reflect.Int, reflect.Uint:
		if v.Type.Name == "time.Duration" {
			return append(b, time.Duration(v.Num).String()...)
		} else if name := v.Type.Constant(v.Num); name != "" {
			return append(b, printable.Text(name)...)
		}
		if v.Type.Kind == reflect.Int {
			return strconv.AppendInt(b, int64(v.Num), 10)
		}
		return strconv.AppendUint(b, v.Num, 10)
	case reflect.Float64:
		return strconv.AppendFloat(b, floatOf(v.Num, v.Type.Size), 'g', -1, int(8*v.Type.Size))
	case reflect.Complex128:
		return append(b, strconv.FormatComplex(v.Number().(complex128), 'g', -1, int(8*v.Type.Size))...)
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
		if text, guess, ok := v.standardText(); ok {
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

// appendWords appends untyped words, or the string that they may be.
func appendWords(b []byte, v *Value) []byte {
	if v.Bytes != nil {
		return appendQuoted(append(b, '~'), v)
	}
	b = appendAll(append(b, '{'), v.Items, ", ", "", 0)
	if more := strings.HasSuffix(v.Type.Name, "…}"); more && len(v.Items) > 0 {
		b = append(b, ", …"...)
	} else if more {
		b = append(b, "…"...)
	}
	return append(b, '}')
}

func appendHex(b []byte, n uint64) []byte { return strconv.AppendUint(append(b, "0x"...), n, 16) }

// appendQuoted appends the quoted bytes of a string. Like [printable.Text], [strconv.AppendQuote] escapes runes that
// are not [unicode.IsPrint]; unlike it, it also escapes quotes and backslashes.
func appendQuoted(b []byte, v *Value) []byte {
	text := wholeText(v)
	return appendMissing(strconv.AppendQuote(b, string(text)), missingBytes(v, text))
}

// appendMissing appends … and the number of bytes, elements or fields that were not fetched. It appends nothing for 0,
// and … alone for a negative number, which means that the number is not known.
func appendMissing(b []byte, n int64) []byte {
	if n < 0 {
		return append(b, "…"...)
	} else if n > 0 {
		b = strconv.AppendInt(append(b, "…+"...), n, 10)
	}
	return b
}

// wholeText returns the bytes of a string or byte slice. If it is cut, they do not end in an incomplete rune, which
// would make valid UTF-8 look invalid.
func wholeText(v *Value) []byte {
	if !v.Cut() {
		return v.Bytes
	}
	return WholeRunes(v.Bytes)
}

// missingBytes returns the number of bytes of a string that follow a text, or -1 if it is not known.
func missingBytes(v *Value, text []byte) int64 {
	if v.Len < 0 {
		return -1
	}
	return v.Len - int64(len(text))
}

// isBytes reports whether a value is a slice of bytes.
func isBytes(v *Value) bool {
	return v.Type != nil && v.Type.Kind == reflect.Slice && (v.Bytes != nil || IsByteSlice(v.Type) && len(v.Items) == 0)
}

func appendBytesText(b []byte, v *Value) []byte {
	name := v.Type.Name
	if name == "" || name == "[]uint8" {
		name = "[]byte"
	}
	return append(appendQuoted(append(append(b, printable.Text(name)...), '('), v), ')')
}

// appendItems appends elements. length is the number of elements that the slice or array has.
func appendItems(b []byte, items []Value, length int64) []byte {
	b = appendAll(append(b, '['), items, " ", "", 0)
	missing := length - int64(len(items))
	if missing > 0 && len(items) > 0 {
		b = append(b, ' ')
	}
	return append(appendMissing(b, missing), ']')
}

// appendInterface appends the dynamic value of a non-nil interface as a conversion to its type.
func appendInterface(b []byte, v *Value) []byte {
	if known(v.Elem) && isBytes(v.Elem) && !v.Elem.Nil() {
		return v.Elem.AppendText(b) // begins with the type
	}
	b = append(append(b, printable.Text(v.Dynamic)...), '(')
	if message, isError := v.ErrorMessage(); isError {
		b = appendQuoted(b, &message)
	} else {
		b = v.Elem.AppendText(b)
	}
	return append(b, ')')
}

// AppendArgs appends the arguments of a call. note is the reason why arguments are missing, or "". It appends only …
// for a note that begins with NotKnown, because that holds for many functions. If width is not 0, it cuts values to fit
// into that many columns.
func AppendArgs(b []byte, args []Value, note string, width int) []byte {
	b = appendAll(append(b, '('), args, ", ", "=", width)
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

// AppendResults appends the results of a call, several of them in parentheses, or end, the Outcome of the call, if end
// is not "return". If width is not 0, it cuts values to fit into that many columns.
func AppendResults(b []byte, end string, results []Value, width int) []byte {
	switch {
	case end != "return":
		return append(append(b, " = "...), end...)
	case len(results) == 0:
		return b
	case len(results) == 1:
		return appendAll(append(b, " = "...), results, "", "", width)
	}
	return append(appendAll(append(b, " = ("...), results, ", ", "", width), ')')
}

// appendAll appends values, separated by between. name is the text between the name of a value and the value. If it is
// "", names are left out. width is as in AppendArgs.
func appendAll(b []byte, values []Value, between, name string, width int) []byte {
	start, texts := len(b), 0
	for i := range values {
		b = appendLabel(b, &values[i], i, between, name)
		before := len(b)
		b = values[i].AppendText(b)
		texts += len(b) - before
	}
	if width == 0 || len(b)-start <= width {
		return b
	}
	return appendCut(b[:start], values, between, name, max(width-(len(b)-start-texts), minText*len(values)))
}

// minText is the smallest width that the text of a value is cut to, on average, in columns.
const minText = 8

// appendCut appends values in width columns, without counting their names. It divides the width evenly, and adds the
// columns that short values do not need to the longer ones.
func appendCut(b []byte, values []Value, between, name string, width int) []byte {
	texts := make([]string, len(values))
	var order []int // indexes of values, the shortest text first
	for i := range values {
		texts[i], order = values[i].Text(), append(order, i)
	}
	slices.SortStableFunc(order, func(i, j int) int { return len(texts[i]) - len(texts[j]) })
	for k, i := range order {
		texts[i] = printable.Cut(texts[i], width/(len(order)-k))
		width -= printable.Columns(texts[i])
	}
	for i := range values {
		b = append(appendLabel(b, &values[i], i, between, name), texts[i]...)
	}
	return b
}

// appendLabel appends the text before value i: the separator and the name.
func appendLabel(b []byte, v *Value, i int, between, name string) []byte {
	if i > 0 {
		b = append(b, between...)
	}
	if name != "" && (v.Type == nil || !v.Type.IsWord()) {
		b = append(append(b, printable.Text(v.Name)...), name...)
	}
	return b
}
