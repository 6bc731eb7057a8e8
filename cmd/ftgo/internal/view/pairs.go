package view

import (
	"github.com/ftgo/ftgo/cmd/ftgo/internal/where"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
)

// pairKey implements Key of [pairing.Options], with the memories of processes.
func (s *Scene) pairKey(memory *engine.Memories, c *pairing.Call, buf []byte) (key []byte, ok bool) {
	f := &s.Plan.Funcs[c.Func].Values
	at, words := f.Entry, c.Args
	if c.Results != nil {
		at, words = f.Return, c.Results
	}
	values := at.AppendValues(nil, words, memory.Process(c))
	for i := range s.Target.Pair.Keys() {
		if buf, ok = values[i].AppendKey(buf); !ok {
			return buf, false
		}
	}
	return buf, true
}

func (v *Table) pairKey(c *pairing.Call, buf []byte) ([]byte, bool) {
	return v.Scene.pairKey(v.memory, c, buf)
}

func (v *Lines) pairKey(c *pairing.Call, buf []byte) ([]byte, bool) {
	return v.Scene.pairKey(v.memory, c, buf)
}

// keep implements Keep of [pairing.Options]: it reports whether a call meets --where.
func (v *Table) keep(c *pairing.Call) bool {
	vf, call := v.line(c)
	is := vf.filter.Eval(call)
	if is == where.Unknown {
		v.undecided++
	}
	return is == where.True
}

// sayUndecided prints the number of calls that were left out because --where needs an unknown value.
func (o *Options) sayUndecided(calls uint64) {
	if calls > 0 {
		o.Say("%s left out: a value that --where needs was not readable, not whole, or not there", printable.Plural(calls, "call"))
	}
}
