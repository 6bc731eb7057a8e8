package offsets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// Signature is what a function takes and gives, and where it lies: parameters at entry (at the
// function's first instruction, and after its stack check as well), results at every RET.
type Signature struct {
	// Params are the receiver first, then the parameters. Captured are the variables
	// that a closure refers to, readable at entry only.
	Params, Results, Captured []Variable
	// Note says what is not known, for people to read; "" if nothing is missing.
	Note string
	// Source is where it comes from, for people to read: "debug information", "twin", which is that of another
	// file with the same code, "run-time type", or "words".
	Source string
	// Untyped: it is words, of which the function table has parameters without types, and no results.
	Untyped bool
}

// The sources of signatures, the best first.
const (
	fromDebug = "debug information"
	fromTwin  = "twin"
	fromTypes = "run-time type"
	fromWords = "words"
)

// Variable is a value and where it lies.
type Variable struct {
	// Name is as in the source; results without a name are r0, r1 …, parameters p0 ….
	Name string
	Type *gotype.Type
	// Pieces are where the bytes of the value are: each in a register or in memory. A
	// value of size 0 has none.
	Pieces []Piece
	// Through: the pieces are a pointer instead, and so many bytes on from where it points to is the next
	// pointer, or at last the value.
	Through []int64
	// Real is the address of the type that the value has, where Type is but its shape, as in generic code; else nil.
	// If it is an array, the first of its words that is the address of a type is that of T where Type is *T, or of *T.
	Real *Variable
	// Err says why the value as a whole can't be read, else nil.
	Err error
}

// Piece is a part of a value: where in it, and which register holds it or leads to it.
type Piece = arch.Piece

// newAssignment hands out registers and stack slots as functions of the binary do.
func (b *Binary) newAssignment(abi ABI) *arch.Assignment {
	p := b.image.Processor
	if abi == SystemV {
		return arch.NewAssignment(p, p.C(), true)
	}
	return arch.NewAssignment(p, p.Go(b.goVer.Minor, abi != ABIInternal), false)
}

// placeAll places variables one behind the other.
func placeAll(a *arch.Assignment, vars []Variable) {
	for i := range vars {
		vars[i].Pieces, vars[i].Err = a.Place(vars[i].Type)
	}
}

// Signature finds out what a function takes and gives, by debug information of Go, gccgo and C, or,
// where there is none, by what a program of Go has for its own runtime.
// What that leaves out has no place but an Err, or is told in Note: nothing is assumed. Words that
// may be in another register have a type that ends with "?". The error
// wraps ErrNoDebugInfo if there is none of the file, or of the function, and nothing else.
func (b *Binary) Signature(f *Func) (*Signature, error) {
	s, err := b.byDebug(f)
	if err == nil {
		if s.Source = fromDebug; b.image.Described != b.image && b.image.Described.HasCode() {
			s.Source = fromTwin
		}
		if f.ABI != ABI0 || len(s.Params)+len(s.Results) > 0 {
			return s, nil
		}
	}
	// Debug information may have nothing of assembly.
	if f.ABI != SystemV && (err == nil || errors.Is(err, ErrNoDebugInfo)) {
		words, ok := b.byWords(f)
		if method, ok := b.byMethod(f, words); ok && err != nil {
			return method, nil
		}
		if ok && (err != nil || len(words.Params) > 0) {
			return words, nil
		}
	}
	if err != nil {
		return nil, fmt.Errorf("find parameters of %s: %w", f.Name, err)
	}
	return s, nil
}

func (b *Binary) byDebug(f *Func) (*Signature, error) {
	d, err := b.debug()
	if err != nil {
		return nil, err
	}
	fn, err := d.Function(f.Addr)
	if err != nil {
		return nil, err
	}
	if f.ABI == SystemV {
		return b.cSignature(f, fn), nil
	}
	// Assembly has no entry of its parameters; what lets Go call it may have.
	if name, ok := strings.CutSuffix(f.Name, abi0Suffix); ok && len(fn.Params)+len(fn.Results) == 0 {
		if twin, ok := b.Lookup(name); ok {
			if of, err := d.Function(twin.Addr); err == nil {
				fn = of
			}
		}
	}
	return b.goSignature(f, fn, d), nil
}

// TypeNamed finds a type as debug information names it: "main.T", "time.Duration",
// "map[string]int".
func (b internals) TypeNamed(name string) (*gotype.Type, bool) {
	d, err := b.debug()
	if err != nil {
		return nil, false
	}
	return d.TypeNamed(name)
}

// LayOut tells where parameters and results are whose types are known: by the function's calling
// convention, as if debug information had told the types.
func (b internals) LayOut(f *Func, s *Signature) {
	if f.ABI == SystemV {
		b.layOutC(s)
		return
	}
	(&goLayout{binary: b.Binary, f: f, sig: s}).byTypes()
}

// variablesOf gives formal parameters their names. Those of blank ones, "~p1", in wrappers
// ".anon1", of gccgo "p.1", and of results without a name, "~r1", are the compiler's.
func variablesOf(formals []debug.Formal, prefix string) (vars []Variable) {
	for i, v := range formals {
		name := strings.TrimPrefix(v.Name, ".") // the receiver of wrappers: .this
		if name == "" || name == "_" || name == "UNNAMED" || name[0] == '~' || strings.HasPrefix(v.Name, ".anon") ||
			strings.Contains(name, ".") || strings.HasPrefix(name, "$ret") {
			name = fmt.Sprintf("%s%d", prefix, i)
		}
		vars = append(vars, Variable{Name: name, Type: v.Type})
	}
	return vars
}

// in is the variable where all of it is in one piece, if its size is known.
func (v Variable) in(whole Piece) Variable {
	switch whole.Size = v.Type.Size; {
	case whole.Size < 0:
		v.Err = arch.UnknownType(v.Type)
	case whole.Size > 0:
		v.Pieces = []Piece{whole}
	}
	return v
}

// lose notes why it is not known where values lie.
func lose(vars []Variable, err error) {
	for i := range vars {
		vars[i].Pieces, vars[i].Err = nil, err
	}
}
