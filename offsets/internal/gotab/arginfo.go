package gotab

import (
	"iter"
	"math"
	"slices"
)

// Arg is a parameter as tracebacks print it, or a part of one: a word, or an aggregate in braces.
type Arg struct {
	// Offset is where a word lies, from where arguments on the stack begin: what registers
	// hold has a place there, too. It is -1 if that is not told. Size is the word's bytes, 0 if Offset is not told.
	Offset, Size int64
	// Aggregate: a string, a struct …, of which Parts are the parts. Cut: it has more than these.
	Aggregate, Cut bool
	Parts          []Arg
}

// Leaves yields the words of arguments, in order.
func Leaves(args []Arg) iter.Seq[*Arg] {
	return func(yield func(*Arg) bool) {
		for i := range args {
			if !args[i].Aggregate {
				if !yield(&args[i]) {
					return
				}
				continue
			}
			for l := range Leaves(args[i].Parts) {
				if !yield(l) {
					return
				}
			}
		}
	}
}

// Abridged tells whether there are words that are not told.
func Abridged(args []Arg) bool {
	return slices.ContainsFunc(args, func(a Arg) bool { return a.Cut || Abridged(a.Parts) })
}

// First is the offset of the argument's first word.
func (a Arg) First() int64 {
	for l := range Leaves([]Arg{a}) {
		return l.Offset
	}
	return math.MaxInt64
}

// The bytes of FUNCDATA_ArgInfo that are no offsets (internal/abi/symtab.go, TraceArgs…; in
// cmd/compile/internal/ssagen up to Go 1.22).
const (
	argsEnd       = 0xff
	argsOpen      = 0xfe
	argsClose     = 0xfd
	argsMore      = 0xfc
	argsFarAway   = 0xfb // an offset that is not told
	maxArgNesting = 5
	maxArgWords   = 10
	maxArgInfo    = (maxArgNesting*3+2)*maxArgWords + 1
)

// What a function has of data, by their numbers (internal/abi/symtab.go).
const (
	funcdataArgInfo     = 5 // since Go 1.17
	funcdataArgLiveInfo = 6 // since Go 1.18
)

// Args are the parameters of the function at an address by FUNCDATA_ArgInfo (EmitArgInfo in
// cmd/compile/internal/ssagen), in Go 1.17 and later. It stops after ten words: then it is not
// complete. Of a function whose name has a bracket it leaves out the first one. args is nil if the function has
// no parameters at all: it was compiled of Go, which has source files, and there is no such list.
func (g *Tables) Args(addr uint64) (args []Arg, complete, ok bool) {
	f, ok := g.only(addr)
	if !ok || g.Version.Minor < 17 {
		return nil, false, false
	}
	at := g.funcdata(f, funcdataArgInfo)
	if at == 0 {
		return nil, true, f.table(wordFile) != 0 && !f.Assembly() && !f.t.damaged
	}
	var code [maxArgInfo]byte
	n := len(code)
	for n > 0 && !g.image.Read(at, code[:n]) { // the last one may be shorter than any may be
		n /= 2
	}
	return readArgs(code[:n])
}

// readArgs decodes what runtime.printArgs prints.
func readArgs(code []byte) (args []Arg, complete, ok bool) {
	var open [maxArgNesting + 1]Arg // open[0] holds the parameters
	depth, words := 0, 0
	for len(code) > 0 {
		c := code[0]
		code = code[1:]
		in := &open[depth]
		switch {
		case c == argsEnd:
			return append([]Arg{}, open[0].Parts...), !open[0].Cut, depth == 0
		case in.Cut && c != argsClose:
			return nil, false, false
		case c == argsOpen:
			if depth++; depth == len(open) {
				return nil, false, false
			}
			open[depth] = Arg{Aggregate: true}
			continue
		case c == argsClose:
			if depth--; depth < 0 {
				return nil, false, false
			}
			open[depth].Parts = append(open[depth].Parts, *in)
			continue
		case c == argsMore:
			in.Cut = true
			continue
		}
		word := Arg{Offset: -1}
		if c != argsFarAway {
			if len(code) == 0 || code[0] == 0 {
				return nil, false, false
			}
			word.Offset, word.Size, code = int64(c), int64(code[0]), code[1:]
		}
		if words++; words > maxArgWords {
			return nil, false, false
		}
		in.Parts = append(in.Parts, word)
	}
	return nil, false, false
}

// InRegisters tells where the first argument is, as Args counts, that is known to be in registers: optimized
// functions of Go 1.18 and later have a table of which of those are spilled
// (cmd/compile/internal/liveness/arg.go).
func (g *Tables) InRegisters(addr uint64) (from int64, ok bool) {
	f, ok := g.only(addr)
	if !ok || f.t.form.oldest < 18 {
		return 0, false
	}
	var first [1]byte
	at := g.funcdata(f, funcdataArgLiveInfo)
	if at == 0 || !g.image.Read(at, first[:]) {
		return 0, false
	}
	return int64(first[0]), true
}
