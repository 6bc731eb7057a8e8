package gotab

import (
	"iter"
	"math"
	"slices"
)

// Arg is a parameter as tracebacks print it, or a part of one: a word, or an aggregate in braces.
type Arg struct {
	// Offset is the offset of a word from the start of the stack arguments. A word in a register has a stack slot,
	// too. Offset is -1 if it is unknown. Size is the word's number of bytes, 0 if Offset is unknown.
	Offset, Size int64
	// Aggregate means that the Arg is a string, a struct or the like, and Parts are its parts. Cut means that Parts lacks
	// some of them.
	Aggregate, Cut bool
	Parts          []Arg
}

// Leaves returns the words of arguments in order.
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

// Abridged reports whether some words of arguments are missing.
func Abridged(args []Arg) bool {
	return slices.ContainsFunc(args, func(a Arg) bool { return a.Cut || Abridged(a.Parts) })
}

// First returns the offset of the argument's first word, or [math.MaxInt64] if the argument has no word.
func (a Arg) First() int64 {
	for l := range Leaves([]Arg{a}) {
		return l.Offset
	}
	return math.MaxInt64
}

// The bytes of FUNCDATA_ArgInfo that are not offsets (TraceArgs… in internal/abi/symtab.go, up to Go 1.22 in
// cmd/compile/internal/ssagen).
const (
	argsEnd       = 0xff
	argsOpen      = 0xfe
	argsClose     = 0xfd
	argsMore      = 0xfc
	argsFarAway   = 0xfb // a word with an offset too large for a byte
	maxArgNesting = 5
	maxArgWords   = 10
	maxArgInfo    = (maxArgNesting*3+2)*maxArgWords + 1
)

// Numbers of a function's data tables (internal/abi/symtab.go).
const (
	funcdataArgInfo     = 5 // since Go 1.17
	funcdataArgLiveInfo = 6 // since Go 1.18
)

// Args returns the parameters of the function at an address from FUNCDATA_ArgInfo (EmitArgInfo in
// cmd/compile/internal/ssagen), which Go 1.17 and later write. The compiler stops after ten words; complete is false then.
// If the function's name has a bracket, the compiler leaves out the first parameter. A function that was compiled from Go
// source and has no such data has no parameters: then args is nil, and complete and ok are true. In other cases without such
// data ok is false.
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
	for n > 0 && !g.image.Read(at, code[:n]) { // the data may end at the end of the segment
		n /= 2
	}
	return readArgs(code[:n])
}

// readArgs decodes FUNCDATA_ArgInfo, like runtime.printArgs.
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

// InRegisters returns the Offset, as in Arg, from which on words are in registers. It is the first byte of a table of
// spilled register arguments (cmd/compile/internal/liveness/arg.go), which only optimized functions of Go 1.18 and later
// have.
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
