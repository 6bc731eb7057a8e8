package offsets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// Signature describes the parameters and results of a function and their locations. The locations of parameters are
// valid at the first instruction and after the stack check, the locations of results at each RET.
type Signature struct {
	// Params starts with the receiver of a method. Captured are the variables that a closure captures; their
	// locations are valid at entry only.
	Params, Results, Captured []Variable
	// Note is a text for users that says which information is missing, "" if none is missing.
	Note string
	// Source says where the signature is from, for users: "debug information", "twin" (the debug information of
	// another file with the same code), "run-time type", or "words".
	Source string
	// Untyped means that Params are words: the function table lists parameters without types, and no results.
	Untyped bool
}

// These are the values of Signature.Source, the most detailed first.
const (
	fromDebug = "debug information"
	fromTwin  = "twin"
	fromTypes = "run-time type"
	fromWords = "words"
)

// Variable is a value and its location.
type Variable struct {
	// Name is the name in the source. Unnamed results are called r0, r1 …, unnamed parameters p0, p1 ….
	Name string
	Type *gotype.Type
	// Pieces are the locations of the bytes of the value: each piece is in a register or in memory. A value of size 0
	// has no pieces.
	Pieces []Piece
	// Through, if not empty, means that Pieces is a pointer. Each element is the offset from the current pointer to the next
	// pointer. The last element is the offset to the value.
	Through []int64
	// Err, if not nil, says why the whole value can't be read.
	Err error
}

// Piece is a part of a value with its offset in the value and its location.
type Piece = arch.Piece

// newAssignment returns an allocator of registers and stack slots for the parameters of a function of the binary.
func (b *Binary) newAssignment(abi ABI) *arch.Assignment {
	p := b.image.Processor
	if abi == SystemV {
		return arch.NewAssignment(p, &p.Machine().C, true)
	}
	return arch.NewAssignment(p, p.Machine().Go(b.goVer.Minor, abi != ABIInternal), false)
}

// placeAll sets the locations of consecutive variables.
func placeAll(a *arch.Assignment, vars []Variable) {
	for i := range vars {
		vars[i].Pieces, vars[i].Err = a.Place(vars[i].Type)
	}
}

// Signature returns the parameters and results of a Go function. It reads debug information, or else the data that the
// program has for its runtime. If the location of a variable is unknown, its Err is set; Note describes other
// missing information. Words that may be in another register have a type that ends with "?". The error wraps ErrNoDebugInfo
// only if the file has no information about the function at all.
func (b *Binary) Signature(f *Func) (*Signature, error) {
	if f.ABI == SystemV {
		return nil, fmt.Errorf("find parameters of %s: %w of Go", f.Name, ErrNoDebugInfo)
	}
	s, err := b.signatureFromDebug(f)
	if err == nil {
		if s.Source = fromDebug; b.image.Description != b.image && b.image.Description.HasCode() {
			s.Source = fromTwin
		}
		if f.ABI != ABI0 || len(s.Params)+len(s.Results) > 0 {
			return s, nil
		}
	}
	// Debug information may lack the parameters of assembly functions.
	if err == nil || errors.Is(err, ErrNoDebugInfo) {
		words, ok := b.signatureFromWords(f)
		if method, ok := b.signatureFromMethod(f, words); ok && err != nil {
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

func (b *Binary) signatureFromDebug(f *Func) (*Signature, error) {
	d, err := b.debug()
	if err != nil {
		return nil, err
	}
	fn, err := d.Function(f.Addr)
	if err != nil {
		return nil, err
	}
	// Debug information has no parameters for assembly functions, but may have them for the wrapper through which Go
	// calls the function.
	if name, ok := strings.CutSuffix(f.Name, abi0Suffix); ok && len(fn.Params)+len(fn.Results) == 0 {
		if twin, ok := b.Lookup(name); ok {
			if of, err := d.Function(twin.Addr); err == nil {
				fn = of
			}
		}
	}
	return b.goSignature(f, fn, d), nil
}

// TypeNamed finds a type by its name in debug information: "main.T", "time.Duration", "map[string]int".
func (b internals) TypeNamed(name string) (*gotype.Type, bool) {
	d, err := b.debug()
	if err != nil {
		return nil, false
	}
	return d.TypeNamed(name)
}

// LayOut sets the locations of parameters and results by their types and the calling convention of the function.
func (b internals) LayOut(f *Func, s *Signature) {
	if f.ABI != SystemV {
		(&goLayout{binary: b.Binary, f: f, sig: s}).layOutByTypes()
		return
	}
	// The location of the result comes first, because a large result takes a register of the parameters.
	a := b.newAssignment(SystemV)
	if len(s.Results) == 1 {
		r := &s.Results[0]
		r.Pieces, r.Err = a.ReturnC(r.Type)
	} else {
		markUnknown(s.Results, errors.New("a function of C has one result"))
	}
	placeAll(a, s.Params)
}

// variablesOf returns variables for formal parameters. It replaces names that the compiler generated by prefix and
// index: "~p1" and ".anon1" for blank parameters, and "~r1" for unnamed results.
func variablesOf(formals []debug.Formal, prefix string) (vars []Variable) {
	for i, v := range formals {
		name := strings.TrimPrefix(v.Name, ".") // the receiver of wrappers is called .this
		if name == "" || name == "_" || name[0] == '~' || strings.HasPrefix(v.Name, ".anon") {
			name = fmt.Sprintf("%s%d", prefix, i)
		}
		vars = append(vars, Variable{Name: name, Type: v.Type})
	}
	return vars
}

// inPiece returns the variable with a single piece for the whole value. If the size is unknown, it sets Err instead.
func (v Variable) inPiece(whole Piece) Variable {
	switch whole.Size = v.Type.Size; {
	case whole.Size < 0:
		v.Err = arch.UnknownType(v.Type)
	case whole.Size > 0:
		v.Pieces = []Piece{whole}
	}
	return v
}

// markUnknown removes the locations of variables and sets their Err.
func markUnknown(vars []Variable, err error) {
	for i := range vars {
		vars[i].Pieces, vars[i].Err = nil, err
	}
}
