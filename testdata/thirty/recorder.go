package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"reflect"
)

// recorder writes calls.
type recorder struct {
	out   *bufio.Writer
	quiet bool
}

func (rec *recorder) object(names []string, values []reflect.Value) {
	rec.out.WriteString("{")
	for i, v := range values {
		rec.member(i, names[i])
		rec.value(v)
	}
	rec.out.WriteString("}")
}

func (rec *recorder) member(i int, name string) {
	if i > 0 {
		rec.out.WriteString(",")
	}
	fmt.Fprintf(rec.out, "%q:", name)
}

func (rec *recorder) fields(v reflect.Value) {
	for i := 0; i < v.NumField(); i++ {
		rec.member(i, v.Type().Field(i).Name)
		rec.value(v.Field(i))
	}
}

// value writes a value of one of the kinds that this program has.
func (rec *recorder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Ptr, reflect.Interface, reflect.Slice:
		if v.IsNil() {
			rec.out.WriteString("null")
			return
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		rec.out.WriteString("{")
		rec.fields(v)
		rec.out.WriteString("}")
	case reflect.Ptr:
		fmt.Fprintf(rec.out, `{"&":"%#x",`, v.Pointer())
		if v.Elem().Kind() == reflect.Struct {
			rec.fields(v.Elem())
		} else {
			rec.out.WriteString(`"value":`)
			rec.value(v.Elem())
		}
		rec.out.WriteString("}")
	case reflect.Interface:
		fmt.Fprintf(rec.out, `{"type":%q,"error":%q,"value":`, v.Elem().Type(), v.Interface())
		rec.value(v.Elem())
		rec.out.WriteString("}")
	case reflect.Slice:
		fmt.Fprintf(rec.out, `{"len":%d,"cap":%d,"items":[`, v.Len(), v.Cap())
		for i := 0; i < v.Len(); i++ {
			if i > 0 {
				rec.out.WriteString(",")
			}
			rec.value(v.Index(i))
		}
		rec.out.WriteString("]}")
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		fmt.Fprint(rec.out, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		fmt.Fprint(rec.out, v.Uint())
	case reflect.Bool:
		fmt.Fprint(rec.out, v.Bool())
	case reflect.String:
		b, err := json.Marshal(v.String())
		if err != nil {
			panic(err)
		}
		rec.out.Write(b)
	default:
		panic("no such value: " + v.Type().String())
	}
}
