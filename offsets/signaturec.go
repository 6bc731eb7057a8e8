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

var errObject = errors.New("how C++ passes objects depends on more than debug information tells")

// cSignature lays out what a function of C, or of gccgo, takes and gives.
func (b *Binary) cSignature(f *Func, fn *debug.Function) *Signature {
	s := &Signature{Params: variablesOf(fn.Params, "p")}
	a := b.newAssignment(SystemV)
	s.Results = cResults(a, fn.Returns, fn.IsGo())
	placeAll(a, s.Params)
	object := func(v Variable) bool { return v.Type.Kind == reflect.Struct }
	if fn.IsCPlusPlus() && (slices.ContainsFunc(s.Params, object) || slices.ContainsFunc(s.Results, object)) {
		lose(s.Params, errObject) // where the others are depends on it
		lose(s.Results, errObject)
	}
	if changed(f.Name) {
		lose(s.Params, errors.New("the compiler made a copy of the function that takes other parameters"))
	}
	return s
}

// cResults are where a function of C returns. gccgo makes a struct of several results.
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

// changed tells the copies of functions that GCC makes with fewer parameters, or others.
func changed(name string) bool {
	return slices.ContainsFunc([]string{".isra.", ".constprop.", ".part."}, func(mark string) bool { return strings.Contains(name, mark) })
}

// layOutC lays out a function of C or gccgo, which returns several results as a struct.
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

// structOf is the struct that gccgo makes of results.
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
