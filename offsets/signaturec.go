package offsets

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// cSignature returns the signature of a C function. Other languages than C have other calling conventions.
func (b *Binary) cSignature(f *Func, fn *debug.Function) (*Signature, error) {
	if !fn.IsC() {
		return nil, fmt.Errorf("%w of C or of Go's own compiler", ErrNoDebugInfo)
	}
	s := &Signature{Params: variablesOf(fn.Params, "p")}
	if fn.Returns != nil {
		s.Results = []Variable{{Name: "r0", Type: fn.Returns}}
	}
	b.layOutC(s)
	if isChangedCopy(f.Name) {
		markUnknown(s.Params, errors.New("the compiler made a copy of the function that takes other parameters"))
	}
	return s, nil
}

// isChangedCopy reports whether a function is a copy that GCC made with fewer or other parameters.
func isChangedCopy(name string) bool {
	return slices.ContainsFunc([]string{".isra.", ".constprop.", ".part."}, func(mark string) bool { return strings.Contains(name, mark) })
}

// layOutC sets the locations of the parameters and the result of a C function. The location of the result comes first,
// because a large result takes a register of the parameters.
func (b *Binary) layOutC(s *Signature) {
	a := b.newAssignment(SystemV)
	if len(s.Results) == 1 {
		r := &s.Results[0]
		r.Pieces, r.Err = a.ReturnC(r.Type)
	} else {
		markUnknown(s.Results, errors.New("a function of C has one result"))
	}
	placeAll(a, s.Params)
}
