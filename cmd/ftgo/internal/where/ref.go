package where

import (
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// Part is what of a variable is asked for.
type Part uint8

const (
	Whole Part = iota
	Len
	Cap
)

// measured are the kinds of types whose values have a capacity, and behind those that have a
// length alone.
var measured = [...]reflect.Kind{reflect.Invalid, reflect.Slice, reflect.Array, reflect.Chan, reflect.String, reflect.Map}

// of tells whether values of a type have that part.
func (p Part) of(t *gotype.Type) bool {
	if p == Cap {
		return slices.Contains(measured[:4], t.Kind)
	}
	return slices.Contains(measured[:], t.Kind)
}

// Ref is a variable, or a part of one, that a filter asks for.
type Ref struct {
	// Path is as in Go, without blanks: "n", "req.URL.Path", "s.items[0].name", "*p".
	Path string
	Part Part
}

// String writes it as filters do.
func (r Ref) String() string {
	switch r.Part {
	case Len:
		return "len(" + r.Path + ")"
	case Cap:
		return "cap(" + r.Path + ")"
	}
	return r.Path
}

// Builtin returns the type of what filters call a property of the call itself: its
// latency or ns (a duration), goid, tid, pid, cpu, depth, func (its name) and err (its
// last result). A variable of that name goes first.
func Builtin(name string) (t *gotype.Type, ok bool) {
	basic, ok := builtins[name]
	if !ok {
		return nil, false
	}
	return gotype.Basic(basic)
}

var builtins = map[string]string{
	"latency": "int64", "ns": "int64", "goid": "int64", "tid": "int64", "pid": "int64", "cpu": "int64", "depth": "int64",
	"func": "string", "err": "error",
}
