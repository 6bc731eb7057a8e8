package main

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"runtime"
	"strconv"
	"time"
	"unicode/utf8"
)

// maxPointers is how many pointers in a row are followed: lists may be long.
const maxPointers = 4

// alive is what the last call took: it has to outlive it (runtime.KeepAlive is of Go 1.7).
var alive []reflect.Value

// recorder makes calls and writes what they took and gave.
type recorder struct {
	out           *bufio.Writer
	strLen, items int
}

// variable is a named value.
type variable struct {
	name  string
	value reflect.Value
}

// call makes a call and returns its results, whose names are in results, if they have any.
func (rec *recorder) call(name string, fn reflect.Value, params, results []string, args []reflect.Value, captured []variable) []reflect.Value {
	if len(params) != len(args) {
		panic(fmt.Sprintf("%s: %d names for %d parameters", name, len(params), len(args)))
	}
	// Before the call: it may change what its arguments hold, or lead to.
	taken := make([]variable, len(args))
	for i, a := range args {
		taken[i] = variable{params[i], a}
	}
	rec.text(`{"function":`)
	rec.quote(name)
	rec.object(`,"args":`, append(taken, captured...))
	var out []reflect.Value
	if fn.Type().IsVariadic() {
		out = fn.CallSlice(args)
	} else {
		out = fn.Call(args)
	}
	given := make([]variable, len(out))
	for i, r := range out {
		given[i] = variable{"r" + strconv.Itoa(i), r}
		if len(results) > 0 {
			given[i].name = results[i]
		}
	}
	rec.object(`,"results":`, given)
	rec.text("}\n")
	alive = args
	return out
}

// The writer keeps its first error until Flush.
func (rec *recorder) text(s string) { rec.out.WriteString(s) }

func (rec *recorder) quote(s string) {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	rec.out.Write(b)
}

func (rec *recorder) object(key string, vars []variable) {
	rec.text(key)
	rec.text("{")
	for i, v := range vars {
		if i > 0 {
			rec.text(",")
		}
		rec.quote(v.name)
		rec.text(":")
		rec.value(v.value, maxPointers)
	}
	rec.text("}")
}

func (rec *recorder) value(v reflect.Value, pointers int) {
	switch v.Kind() {
	case reflect.Bool:
		rec.text(strconv.FormatBool(v.Bool()))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		rec.text(strconv.FormatInt(v.Int(), 10))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		rec.text(strconv.FormatUint(v.Uint(), 10))
	case reflect.Float32, reflect.Float64:
		rec.float(v.Float(), v.Type().Bits())
	case reflect.Complex64, reflect.Complex128:
		rec.text(`{"re":`)
		rec.float(real(v.Complex()), v.Type().Bits()/2)
		rec.text(`,"im":`)
		rec.float(imag(v.Complex()), v.Type().Bits()/2)
		rec.text("}")
	case reflect.String:
		rec.str(v.String(), rec.strLen)
	case reflect.Array:
		rec.array(v, pointers)
	case reflect.Struct:
		if t, ok := rec.time(v); ok {
			rec.quote(t)
		} else {
			rec.text("{")
			rec.fields(v, pointers)
			rec.text("}")
		}
	default:
		rec.reference(v, pointers)
	}
}

// reference writes what can be nil.
func (rec *recorder) reference(v reflect.Value, pointers int) {
	if v.Kind() != reflect.UnsafePointer && v.IsNil() || v.Kind() == reflect.UnsafePointer && v.Pointer() == 0 {
		rec.text("null")
		return
	}
	switch v.Kind() {
	case reflect.Ptr:
		rec.pointer(v, pointers)
	case reflect.UnsafePointer:
		rec.text(fmt.Sprintf(`"%#x"`, v.Pointer()))
	case reflect.Slice:
		rec.slice(v, pointers)
	case reflect.Map:
		rec.text(fmt.Sprintf(`{"len":%d}`, v.Len()))
	case reflect.Chan:
		rec.text(fmt.Sprintf(`{"len":%d,"cap":%d}`, v.Len(), v.Cap()))
	case reflect.Func:
		rec.text(`{"func":`)
		rec.quote(runtime.FuncForPC(v.Pointer()).Name())
		rec.text("}")
	case reflect.Interface:
		rec.iface(v.Elem(), pointers)
	}
}

func (rec *recorder) float(f float64, bits int) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		rec.text(`{"float":"` + strconv.FormatFloat(f, 'g', -1, bits) + `"}`)
		return
	}
	rec.text(strconv.FormatFloat(f, 'g', -1, bits))
}

// str writes a string of which limit bytes are known.
func (rec *recorder) str(s string, limit int) {
	text, raw, cut := rec.cut(s, limit)
	switch {
	case !utf8.ValidString(text) && cut:
		rec.text(fmt.Sprintf(`{"bytes":"%s","len":%d}`, base64.StdEncoding.EncodeToString([]byte(raw)), len(s)))
	case !utf8.ValidString(text):
		rec.text(fmt.Sprintf(`{"bytes":"%s"}`, base64.StdEncoding.EncodeToString([]byte(raw))))
	case cut:
		rec.text(`{"cut":`)
		rec.quote(text)
		rec.text(fmt.Sprintf(`,"len":%d}`, len(s)))
	default:
		rec.quote(text)
	}
}

// cut returns the bytes within limit: raw all of them, text without a broken rune at the
// end that is only broken by the cut.
func (rec *recorder) cut(s string, limit int) (text, raw string, cut bool) {
	if len(s) <= limit {
		return s, s, false
	}
	raw = s[:limit]
	text = raw
	for n := 1; n < utf8.UTFMax && n <= len(raw); n++ {
		if start := limit - n; utf8.RuneStart(raw[start]) {
			if !utf8.FullRuneInString(raw[start:]) {
				text = raw[:start]
			}
			break
		}
	}
	return text, raw, true
}

func (rec *recorder) slice(v reflect.Value, pointers int) {
	rec.text(fmt.Sprintf(`{"len":%d,"cap":%d,`, v.Len(), v.Cap()))
	if v.Type().Elem().Kind() != reflect.Uint8 {
		rec.text(`"items":`)
		rec.elements(v, pointers)
	} else if text, raw, _ := rec.cut(string(v.Bytes()), rec.strLen); utf8.ValidString(text) {
		rec.text(`"text":`)
		rec.quote(text)
	} else {
		rec.text(`"bytes":"` + base64.StdEncoding.EncodeToString([]byte(raw)) + `"`)
	}
	rec.text("}")
}

func (rec *recorder) array(v reflect.Value, pointers int) {
	if v.Len() <= rec.items {
		rec.elements(v, pointers)
		return
	}
	rec.text(fmt.Sprintf(`{"len":%d,"items":`, v.Len()))
	rec.elements(v, pointers)
	rec.text("}")
}

func (rec *recorder) elements(v reflect.Value, pointers int) {
	rec.text("[")
	for i := 0; i < v.Len() && i < rec.items; i++ {
		if i > 0 {
			rec.text(",")
		}
		rec.value(v.Index(i), pointers)
	}
	rec.text("]")
}

// time is a time.Time, unless it is in a field that is not exported.
func (rec *recorder) time(v reflect.Value) (text string, ok bool) {
	if !v.CanInterface() {
		return "", false
	}
	t, ok := v.Interface().(time.Time)
	return t.UTC().Format(time.RFC3339Nano), ok
}

// fields writes those of a struct, without braces.
func (rec *recorder) fields(v reflect.Value, pointers int) {
	for i := 0; i < v.NumField(); i++ {
		if i > 0 {
			rec.text(",")
		}
		rec.quote(v.Type().Field(i).Name)
		rec.text(":")
		rec.value(v.Field(i), pointers)
	}
}

func (rec *recorder) pointer(v reflect.Value, pointers int) {
	if pointers == 0 {
		rec.text(fmt.Sprintf(`"%#x"`, v.Pointer()))
		return
	}
	rec.text(fmt.Sprintf(`{"&":"%#x"`, v.Pointer()))
	to := v.Elem()
	_, isTime := rec.time(to)
	switch {
	case to.Kind() != reflect.Struct || isTime:
		rec.text(`,"value":`)
		rec.value(to, pointers-1)
	case to.NumField() > 0:
		rec.text(",")
		rec.fields(to, pointers-1)
	}
	rec.text("}")
}

// iface writes what an interface holds.
func (rec *recorder) iface(v reflect.Value, pointers int) {
	rec.text(`{"type":`)
	rec.quote(v.Type().String())
	switch v.Type().String() {
	case "*errors.errorString", "*fmt.wrapError", "*fmt.wrapErrors", "*fs.PathError", "*os.PathError", "syscall.Errno":
		if v.CanInterface() {
			message := v.Interface().(error).Error()
			rec.text(`,"error":`)
			rec.str(message, len(message))
		}
	}
	rec.text(`,"value":`)
	rec.value(v, pointers)
	rec.text("}")
}
