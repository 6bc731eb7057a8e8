package where

import (
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// Ref is a variable, or a part of one, that a filter asks for.
type Ref struct {
	// Path is as in Go, without blanks: "n", "req.URL.Path", "s.items[0].name", "*p".
	Path string
	Part capture.Part
}

// String writes it as filters do.
func (r Ref) String() string {
	if r.Part == capture.Whole {
		return r.Path
	}
	return string(r.Part) + "(" + r.Path + ")"
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
