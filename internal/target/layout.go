package target

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
)

// signature returns the signature of a function that the pattern selects. If the FUNC argument lists types, signature
// lays out parameters of these types as if the types were from debug information. Otherwise it takes the signature from
// the file, and adds the selected registers and fetchargs.
func (g *funcSpec) signature(b *offsets.Binary, f *offsets.Func) (*offsets.Signature, error) {
	if g.hasSignature {
		s, err := g.layOut(b, f)
		if err != nil {
			return nil, fmt.Errorf("lay out parameters of %s: %w", f.Name, err)
		}
		return s, nil
	}
	s, err := b.Signature(f)
	if err != nil {
		if slices.ContainsFunc(g.selections, func(sel selection) bool { return sel.Path != "" && capture.RegisterLen(capture.RootOf(sel.Path)) == 0 }) {
			return nil, err
		}
		s = &offsets.Signature{}
	}
	s.Note = ""
	for _, sel := range g.selections {
		if err := sel.add(b, f, s); err != nil {
			return nil, fmt.Errorf("lay out parameters of %s: %s: %w", f.Name, sel.Name, err)
		}
	}
	return s, nil
}

// layOut assigns parameters and results to registers and the stack, by their types.
func (g *funcSpec) layOut(b *offsets.Binary, f *offsets.Func) (s *offsets.Signature, err error) {
	s = &offsets.Signature{}
	if s.Params, err = typed(b, g.params); err != nil {
		return nil, err
	}
	if s.Results, err = typed(b, g.results); err != nil {
		return nil, err
	}
	if len(s.Params) > 0 && symname.Split(f.Name).Pointer && nonPointerKinds[s.Params[0].Type.Kind] {
		return nil, errors.New("the first parameter of a method is its receiver, here a pointer: (t ptr, …)")
	}
	b.Internals().LayOut(f, s)
	return s, nil
}

// nonPointerKinds are the kinds of values that can't be a pointer receiver. A pointer receiver takes one integer register.
var nonPointerKinds = map[reflect.Kind]bool{
	reflect.String: true, reflect.Slice: true, reflect.Interface: true, reflect.Struct: true, reflect.Array: true, reflect.Float64: true,
}

// sourceType parses a type. It finds the program's types in debug information, or else among the types of Go's runtime.
func sourceType(b *offsets.Binary, text string) (*gotype.Type, error) {
	return gotype.Parse(text, func(name string) (*gotype.Type, bool) {
		if t, ok := b.Internals().TypeNamed(name); ok {
			return t, true
		}
		t, err := b.Internals().RuntimeTypeNamed(name)
		return t, err == nil
	})
}

// registerVariable returns the value in a register when a call of a function begins or ends, or the value that the
// register leads to: "goarg2", "+56(+16(goarg4)):string".
func registerVariable(b *offsets.Binary, f *offsets.Func, text string) (offsets.Variable, error) {
	sel, err := parseSelection(text)
	if err != nil {
		return offsets.Variable{}, err
	}
	return sel.inRegister(b, f)
}

func typed(b *offsets.Binary, variables []selection) (out []offsets.Variable, err error) {
	for _, v := range variables {
		t, err := sourceType(b, v.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", v.Name, err)
		}
		out = append(out, offsets.Variable{Name: v.Name, Type: t})
	}
	return out, nil
}

// add adds the value to a signature if the value is a fetcharg or in a register. Other values are parts of variables that
// are already in the signature.
func (sel *selection) add(b *offsets.Binary, f *offsets.Func, s *offsets.Signature) error {
	switch {
	case sel.Fetch != "":
		if base, _ := fetchBase(sel.Fetch); strings.HasPrefix(base, "%") && !b.File().Processor.Machine().Fetches(arch.Reg(base[1:])) {
			return fmt.Errorf("%s is not a register of %s", base, b.File().Processor.Machine().Name)
		}
		s.Params = append(s.Params, sel.fetched())
	case sel.register > 0:
		v, err := sel.inRegister(b, f)
		if err != nil {
			return err
		}
		if sel.Result {
			s.Results = append(s.Results, v)
		} else {
			s.Params = append(s.Params, v)
		}
	}
	return nil
}

// fetched returns the value of a fetcharg, of a type like s32 or x64.
func (sel *selection) fetched() offsets.Variable {
	t := &gotype.Type{Name: sel.Type, Kind: reflect.Uint, Size: 8, Align: 8}
	if strings.HasPrefix(sel.Type, "s") {
		t.Kind = reflect.Int
	}
	if bits, err := strconv.Atoi(sel.Type[1:]); err == nil {
		t.Size = int64(bits / 8)
	}
	return offsets.Variable{Name: sel.Name, Type: t, Pieces: []offsets.Piece{{Size: t.Size, Fetch: sel.Fetch}}}
}

// inRegister returns the value that begins in integer register sel.register. If a function takes all parameters on the
// stack, the value begins in the parameter word with this number. To find the place, inRegister lays out a function with
// sel.register-1 words as its first parameters, followed by the value.
func (sel *selection) inRegister(b *offsets.Binary, f *offsets.Func) (v offsets.Variable, err error) {
	if v.Type, err = sourceType(b, sel.Type); err != nil {
		return v, err
	}
	typ := v.Type
	if v.Through = sel.through; v.Through != nil {
		v.Type, _ = gotype.Basic("uintptr")
	}
	minor, _ := b.GoVersion()
	registers := len(b.File().Processor.Machine().Go(minor, f.ABI == offsets.ABI0).Ints)
	switch {
	case f.ABI == offsets.SystemV:
		return v, errors.New("goargN and goretN are Go's own registers, which this function does not use: give its signature")
	case registers > 0 && sel.register > registers:
		return v, fmt.Errorf("only %d of Go's registers are for integers", registers)
	case registers == 0 && sel.Result:
		return v, errors.New("results of this function follow its parameters on the stack: give its signature")
	}
	word, _ := gotype.Basic("uintptr")
	s := offsets.Signature{Params: slices.Repeat([]offsets.Variable{{Type: word}}, sel.register-1)}
	s.Params = append(s.Params, v)
	b.Internals().LayOut(&offsets.Func{ABI: f.ABI}, &s) // a function without a name takes no dictionary parameter
	v.Name, v.Type, v.Pieces, err = sel.Name, typ, s.Params[sel.register-1].Pieces, s.Params[sel.register-1].Err
	if err != nil {
		return v, err
	}
	for _, p := range v.Pieces {
		switch {
		case registers > 0 && p.InMemory:
			return v, fmt.Errorf("a %s does not fit into the registers from there on", sel.Type)
		case !p.InMemory && p.Register == "":
			return v, errors.New("goargN and goretN are registers for integers, and its type is floating point")
		}
	}
	return v, nil
}
