package view

import (
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/valuepath"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// funcFilter is --where for the calls of one function.
type funcFilter struct {
	// kernel is the part that the kernel evaluates, pushed what it stands for; rest is
	// what is left.
	kernel string
	pushed []string
	rest   where.Expr
	// atEntry and atReturn are paths that rest needs.
	atEntry, atReturn []string
	// err is the name of the last result if that is an error, else "".
	err string
}

// newFuncFilter splits a filter for a function. The builders are asked for what it needs.
// whole: nothing of it is for the kernel.
func newFuncFilter(e where.Expr, f *offsets.Func, sig *offsets.Signature, entry, ret *capture.Builder, entriesOnly, whole bool) (*funcFilter, error) {
	ff := &funcFilter{}
	if last, ok := lastError(sig); ok {
		ff.err = last.Name
	}
	// side tells where a path's variable is known.
	side := func(path string) *capture.Builder {
		switch {
		case target.HasRoot(sig.Params, path), target.HasRoot(sig.Captured, path):
			return entry
		case target.HasRoot(sig.Results, path):
			return ret
		}
		return nil
	}
	err := e.Check(func(path string) (*gotype.Type, error) {
		b := side(path)
		if b == nil {
			if t, ok := builtins[path]; ok {
				if entriesOnly && path == "depth" {
					return nil, fmt.Errorf("--entries does not see calls end: %q", path)
				}
				// Calls that the kernel drops would not count as depth.
				whole = whole || path == "depth"
				return t, nil
			}
			return nil, fmt.Errorf("%s has no variable %q", f.Name, valuepath.Root(path))
		}
		if entriesOnly && b == ret {
			return nil, fmt.Errorf("--entries sees no results: %q", path)
		}
		return b.Type(path)
	})
	if err != nil {
		return nil, cli.WithStatus(cli.ExitUsage, err)
	}
	var pushes []where.Push
	pushes, ff.rest = e.Split(func(r where.Ref) (capture.Field, bool) {
		if whole || side(r.Path) != entry {
			return capture.Field{}, false
		}
		return entry.Field(r.Path, r.Part)
	})
	var texts []string
	for _, p := range pushes {
		room := true
		text := p.Filter(func(r where.Ref, piece where.Piece) string {
			name, ok := entry.Piece(r.Path, piece.Offset, piece.Size)
			room = room && ok
			return name
		})
		if !room {
			// What needs pieces is in rest, too.
			continue
		}
		texts = append(texts, text)
		ff.pushed = append(ff.pushed, p.Expr.String())
	}
	ff.kernel = strings.Join(texts, " && ")
	for _, r := range ff.rest.Refs() {
		path := r.Path
		b := side(path)
		if b == nil && path == "err" && ff.err != "" {
			path, b = ff.err, ret
		}
		switch {
		case b == nil:
		case b == entry:
			ff.atEntry = append(ff.atEntry, path)
		default:
			ff.atReturn = append(ff.atReturn, path)
		}
	}
	return ff, nil
}

// filteredCall is a call as a filter sees it.
type filteredCall struct {
	filter *funcFilter
	line   *render.CallLine
	// entry and ret are the values of filter.atEntry and atReturn; nil if the call has
	// not come there.
	entry, ret []capture.Value
}

// Value is what a path leads to.
func (c *filteredCall) Value(path string) *capture.Value {
	if v := pick(c.filter.atEntry, c.entry, path); v != nil {
		return v
	}
	if v := pick(c.filter.atReturn, c.ret, path); v != nil {
		return v
	}
	t := builtins[path]
	if number, ok := callNumbers[path]; ok && (c.line.End == "return" || path != "ns" && path != "latency") {
		return &capture.Value{Type: t, Num: number(c.line)}
	}
	switch {
	case path == "func":
		return &capture.Value{Type: t, Bytes: []byte(c.line.Function), Len: int64(len(c.line.Function))}
	case path == "err" && c.filter.err != "":
		return pick(c.filter.atReturn, c.ret, c.filter.err)
	case path == "err":
		return &capture.Value{Type: t} // what returns no error never has one
	}
	return nil
}

// builtins are the types of what filters call a property of the call itself: its numbers, func
// (its name) and err (its last result). A variable of that name goes first.
var builtins = make(map[string]*gotype.Type)

func init() {
	builtins["func"], _ = gotype.Basic("string")
	builtins["err"], _ = gotype.Basic("error")
	for name := range callNumbers {
		builtins[name], _ = gotype.Basic("int64")
	}
}

// callNumbers are the numbers of a call; latency and ns, a duration, only if it returned.
var callNumbers = map[string]func(*render.CallLine) uint64{
	"latency": func(l *render.CallLine) uint64 { return uint64(l.NS) },
	"ns":      func(l *render.CallLine) uint64 { return uint64(l.NS) },
	"goid":    func(l *render.CallLine) uint64 { return l.Goid },
	"pid":     func(l *render.CallLine) uint64 { return uint64(l.PID) },
	"tid":     func(l *render.CallLine) uint64 { return uint64(l.TID) },
	"cpu":     func(l *render.CallLine) uint64 { return uint64(l.CPU) },
	"depth":   func(l *render.CallLine) uint64 { return uint64(l.Depth) },
}

func pick(paths []string, values []capture.Value, path string) *capture.Value {
	for i, p := range paths {
		if p == path && i < len(values) {
			return &values[i]
		}
	}
	return nil
}

// lastError is the last result, if that is an error.
func lastError(sig *offsets.Signature) (v offsets.Variable, ok bool) {
	if n := len(sig.Results); n > 0 {
		v = sig.Results[n-1]
	}
	return v, v.Type != nil && capture.IsError(v.Type)
}
