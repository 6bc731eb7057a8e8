package view

import (
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
)

// pairKey implements Key of [pairing.Options].
func (v *common) pairKey(c *pairing.Call, buf []byte) (key []byte, ok bool) {
	f := &v.Plan.Funcs[c.Func].Values
	at, words := f.Entry, c.Args
	if c.Results != nil {
		at, words = f.Return, c.Results
	}
	values := at.AppendValues(nil, words, v.memory.Process(c))
	for i := range v.Target.Pair.Keys() {
		if buf, ok = values[i].AppendKey(buf); !ok {
			return buf, false
		}
	}
	return buf, true
}

// passes reports whether a call meets a filter.
func (v *common) passes(filter where.Expr, call *render.Line) bool {
	is := filter.Eval(call)
	if is == where.Unknown {
		v.undecided++
	}
	return is == where.True
}

// sayUndecided prints the number of calls that were left out because --where needs an unknown value.
func (v *common) sayUndecided() {
	if v.undecided > 0 {
		v.opt.Say("%s left out: a value that --where needs was not readable, not whole, or not there", printable.Plural(v.undecided, "call"))
	}
}
