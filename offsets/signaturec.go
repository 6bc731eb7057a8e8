package offsets

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

var errObject = errors.New("how C++ passes objects depends on more than debug information tells")

// cSignature lays out what a function of C, or of gccgo, takes and gives.
func (b *Binary) cSignature(f *Func, fn *debug.Function) *Signature {
	s := &Signature{Params: variablesOf(fn.Params, "p")}
	a := b.newAssignment(SystemV)
	s.Results = a.cResults(fn.Returns, fn.IsGo())
	a.placeAll(s.Params)
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

// cResults are where a function of C returns; one that returns much gets an address to put it
// at as its first parameter, and returns that. gccgo makes a struct of several results.
func (a *assignment) cResults(t *gotype.Type, isGo bool) []Variable {
	if t == nil {
		return nil
	}
	whole := Variable{Name: "r0", Type: t}
	parts, _, err := a.processor.PassC(t)
	switch {
	case err != nil:
		whole.Err = err
		a.lost = errors.New("what the function returns is of a type that is not known")
	case t.Size == 0:
	case len(parts) == 0:
		if a.conv.Indirect == "" {
			a.ints++
		}
		if a.conv.Returned == "" {
			whole.Err = errors.New("nothing tells where the function has put it")
			break
		}
		whole.Pieces = []Piece{{Size: t.Size, Register: a.conv.Returned, InMemory: true}}
	default:
		own := assignment{conv: a.conv} // results begin at the first register
		whole.Pieces, _ = own.inRegisters(parts, a.conv.IntResults)
	}
	if !isGo || t.Kind != reflect.Struct || t.Name != "struct" || err != nil {
		return []Variable{whole}
	}
	var formals []debug.Formal
	for _, field := range t.Fields {
		formals = append(formals, debug.Formal{Name: field.Name, Type: field.Type})
	}
	all := variablesOf(formals, "r")
	for i, field := range t.Fields {
		all[i].Pieces, all[i].Err = cut(whole.Pieces, field.Offset, field.Type.Size)
	}
	return all
}

// cut is a part of a value that lies in pieces.
func cut(pieces []Piece, offset, size int64) (part []Piece, err error) {
	for _, p := range pieces {
		from, to := max(p.Offset, offset), min(p.Offset+p.Size, offset+size)
		if from >= to {
			continue
		}
		skipped := from - p.Offset
		p.Offset, p.Size = from-offset, to-from
		if p.InMemory {
			p.Disp += skipped
		} else if skipped > 0 {
			return nil, errors.New("it is in the upper part of a register")
		}
		part = append(part, p)
	}
	return part, nil
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
	for i, v := range a.cResults(returns, len(s.Results) > 1) {
		s.Results[i].Pieces, s.Results[i].Err = v.Pieces, v.Err
	}
	a.placeAll(s.Params)
}

// structOf is the struct that gccgo makes of results.
func structOf(results []Variable) *gotype.Type {
	t := &gotype.Type{Name: "struct", Kind: reflect.Struct, Align: 1}
	for _, v := range results {
		t.Size = alignUp(t.Size, v.Type.Align)
		t.Fields = append(t.Fields, gotype.Field{Name: v.Name, Offset: t.Size, Type: v.Type})
		t.Size += v.Type.Size
		t.Align = max(t.Align, v.Type.Align)
	}
	t.Size = alignUp(t.Size, t.Align)
	return t
}
