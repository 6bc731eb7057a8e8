package offsets

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// GivenSignature tells where the values are that a user has given the types of: by the
// function's calling convention, as if debug information had told the types. Of a
// selection it is the registers, named as they are there; the rest of it is not for this
// function to find.
func (b *Binary) GivenSignature(f *Func, g Given) (*Signature, error) {
	s, err := b.givenSignature(f, g)
	if err != nil {
		return nil, fmt.Errorf("lay out parameters of %s: %w", f.Name, err)
	}
	return s, nil
}

func (b *Binary) givenSignature(f *Func, g Given) (s *Signature, err error) {
	s = &Signature{}
	if !g.HasSignature {
		for _, sel := range g.Select {
			if err := b.addRegister(s, f, sel); err != nil {
				return nil, fmt.Errorf("%s: %w", sel.Name, err)
			}
		}
		return s, nil
	}
	if s.Params, err = b.givenVariables(g.params); err != nil {
		return nil, err
	}
	if s.Results, err = b.givenVariables(g.results); err != nil {
		return nil, err
	}
	if f.ABI == SystemV {
		b.placeC(s)
		return s, nil
	}
	l := goLayout{binary: b, f: f, sig: s}
	l.byTypes()
	return s, nil
}

func (b *Binary) givenVariables(given []givenVariable) (out []Variable, err error) {
	for _, g := range given {
		v := Variable{Name: g.Name}
		if v.Type, err = givenType(g.Type, b.typeNamed); err != nil {
			return nil, fmt.Errorf("%s: %w", g.Name, err)
		}
		out = append(out, v)
	}
	return out, nil
}

// placeC lays out a function of C or gccgo. gccgo returns several results as a struct.
func (b *Binary) placeC(s *Signature) {
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
	for i := range s.Params {
		v := &s.Params[i]
		v.Pieces, v.Err = a.place(v.Type)
	}
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

var (
	errNoFloat     = errors.New("goargN and goretN are registers for integers, and its type is floating point")
	errSystemV     = errors.New("goargN and goretN are Go's own registers, which this function does not use: give its signature")
	errStackResult = errors.New("results of this function follow its parameters on the stack: give its signature")
)

// addRegister adds the value that begins in the Nth integer register, or, for functions
// that take everything on the stack, in the Nth word there.
func (b *Binary) addRegister(s *Signature, f *Func, sel Selection) error {
	if base, _ := fetchBase(sel.Fetch); strings.HasPrefix(base, "%") && !b.image.Processor.Fetches(arch.Reg(base[1:])) {
		return fmt.Errorf("%s is no register of %s", base, b.image.Processor.Machine().Name)
	}
	if sel.argument == 0 && sel.Result == 0 {
		return nil
	}
	v := Variable{Name: sel.Name}
	var err error
	if v.Type, err = givenType(sel.Type, b.typeNamed); err != nil {
		return err
	}
	a := b.newAssignment(f.ABI)
	switch n := sel.argument + sel.Result - 1; {
	case f.ABI == SystemV:
		return errSystemV
	case a.registers() && n >= len(a.conv.Ints):
		return fmt.Errorf("only %d of Go's registers are for integers", len(a.conv.Ints))
	case a.registers():
		a.ints = n
	case sel.Result > 0:
		return errStackResult
	default:
		a.stack += 8 * int64(n)
	}
	if v.Pieces, err = a.place(v.Type); err != nil {
		return err
	}
	for _, p := range v.Pieces {
		switch {
		case a.registers() && p.InMemory:
			return fmt.Errorf("a %s does not fit into the registers from there on", sel.Type)
		case !p.InMemory && p.Register == "":
			return errNoFloat
		}
	}
	if sel.argument > 0 {
		s.Params = append(s.Params, v)
	} else {
		s.Results = append(s.Results, v)
	}
	return nil
}
