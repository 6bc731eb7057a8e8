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
	"github.com/ftgo/ftgo/internal/valuetext"
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
	if n := len(sig.Results); n > 0 && isErrorType(sig.Results[n-1].Type) {
		ff.err = sig.Results[n-1].Name
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
			if t, ok := where.Builtin(path); ok {
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
		switch b {
		case entry:
			ff.atEntry = append(ff.atEntry, path)
		case ret:
			if b != nil {
				ff.atReturn = append(ff.atReturn, path)
			}
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
	number := func(n int64) *capture.Value {
		t, _ := gotype.Basic("int64")
		return &capture.Value{Type: t, Num: uint64(n)}
	}
	switch l := c.line; path {
	case "ns", "latency":
		if l.End == "return" {
			return number(l.NS)
		}
	case "goid":
		return number(int64(l.Goid))
	case "pid":
		return number(int64(l.PID))
	case "tid":
		return number(int64(l.TID))
	case "cpu":
		return number(int64(l.CPU))
	case "depth":
		return number(int64(l.Depth))
	case "func":
		t, _ := gotype.Basic("string")
		return &capture.Value{Type: t, Bytes: []byte(l.Function), Len: int64(len(l.Function))}
	case "err":
		if c.filter.err != "" {
			return pick(c.filter.atReturn, c.ret, c.filter.err)
		}
		t, _ := gotype.Basic("error")
		return &capture.Value{Type: t} // what returns no error never has one
	}
	return nil
}

func pick(paths []string, values []capture.Value, path string) *capture.Value {
	for i, p := range paths {
		if p == path && i < len(values) {
			return &values[i]
		}
	}
	return nil
}

// Message is what an error says.
func (c *filteredCall) Message(v *capture.Value) (capture.Value, bool) {
	return valuetext.ErrorMessage(v)
}

func isErrorType(t *gotype.Type) bool {
	return t != nil && capture.IsError(t)
}
