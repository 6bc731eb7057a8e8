package offsets

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

var errObject = errors.New("debug information does not describe how C++ passes objects")

// cSignature returns the signature of a C or gccgo function.
func (b *Binary) cSignature(f *Func, fn *debug.Function) *Signature {
	s := &Signature{Params: variablesOf(fn.Params, "p")}
	a := b.newAssignment(SystemV)
	s.Results = cResults(a, fn.Returns, fn.IsGo())
	placeAll(a, s.Params)
	object := func(v Variable) bool { return v.Type.Kind == reflect.Struct }
	if fn.IsCPlusPlus() && (slices.ContainsFunc(s.Params, object) || slices.ContainsFunc(s.Results, object)) {
		markUnknown(s.Params, errObject) // the locations of the other parameters depend on the object, too
		markUnknown(s.Results, errObject)
	}
	if isChangedCopy(f.Name) {
		markUnknown(s.Params, errors.New("the compiler made a copy of the function that takes other parameters"))
	}
	return s
}

// cResults returns the results of a C function. gccgo returns several results as a struct.
func cResults(a *arch.Assignment, t *gotype.Type, isGo bool) []Variable {
	if t == nil {
		return nil
	}
	pieces, err := a.ReturnC(t)
	if !isGo || t.Kind != reflect.Struct || t.Name != "struct" {
		return []Variable{{Name: "r0", Type: t, Pieces: pieces, Err: err}}
	}
	var formals []debug.Formal
	for _, field := range t.Fields {
		formals = append(formals, debug.Formal{Name: field.Name, Type: field.Type})
	}
	all := variablesOf(formals, "r")
	for i, field := range t.Fields {
		if all[i].Err = err; err == nil {
			all[i].Pieces, all[i].Err = arch.Cut(pieces, field.Offset, field.Type.Size)
		}
	}
	return all
}

// isChangedCopy reports whether a function is a copy that GCC made with fewer or other parameters.
func isChangedCopy(name string) bool {
	return slices.ContainsFunc([]string{".isra.", ".constprop.", ".part."}, func(mark string) bool { return strings.Contains(name, mark) })
}

// layOutC sets the locations of the parameters and results of a C or gccgo function.
func (b *Binary) layOutC(s *Signature) {
	a := b.newAssignment(SystemV)
	var returns *gotype.Type
	if len(s.Results) == 1 {
		returns = s.Results[0].Type
	} else if len(s.Results) > 1 {
		returns = structOf(s.Results)
	}
	for i, v := range cResults(a, returns, len(s.Results) > 1) {
		s.Results[i].Pieces, s.Results[i].Err = v.Pieces, v.Err
	}
	placeAll(a, s.Params)
}

// structOf returns the struct type in which gccgo returns several results.
func structOf(results []Variable) *gotype.Type {
	t := &gotype.Type{Name: "struct", Kind: reflect.Struct, Align: 1}
	for _, v := range results {
		t.Size = arch.AlignUp(t.Size, v.Type.Align)
		t.Fields = append(t.Fields, gotype.Field{Name: v.Name, Offset: t.Size, Type: v.Type})
		t.Size += v.Type.Size
		t.Align = max(t.Align, v.Type.Align)
	}
	t.Size = arch.AlignUp(t.Size, t.Align)
	return t
}
