package offsets

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/symname"
)

// signatureFromMethod returns the signature of a method from the type data that the runtime uses for interfaces and
// reflection. This data lists the methods of each type, including wrappers, with the types of the methods, unless the linker
// removed them. The signature must agree with the function table: with the words that tracebacks print, or before Go 1.17
// with the size of the arguments on the stack. Otherwise ok is false. If words is nil and the arguments are in registers,
// only a generic function has ok true, unchecked.
func (b *Binary) signatureFromMethod(f *Func, words *Signature) (s *Signature, ok bool) {
	name := symname.Split(f.Name)
	if name.Receiver == "" || name.Suffix != "" && name.Suffix != abi0Suffix {
		return nil, false
	}
	params, results, ok := b.tables.Method(f.Addr, func(receiver string) bool { // compares all but the package
		typ, pointer := strings.CutPrefix(receiver, "*")
		base, _, generic := strings.Cut(typ, "[")
		return pointer == name.Pointer && base[strings.LastIndexByte(base, '.')+1:] == name.Receiver && generic == (name.TypeArgs != "")
	})
	if !ok {
		return nil, false
	}
	s = &Signature{Source: fromTypes}
	for i, t := range params {
		s.Params = append(s.Params, Variable{Name: fmt.Sprintf("p%d", i), Type: t})
	}
	for i, t := range results {
		s.Results = append(s.Results, Variable{Name: fmt.Sprintf("r%d", i), Type: t})
	}
	l := goLayout{binary: b, f: f, sig: s}
	switch end := l.layOutByTypes(); {
	case words != nil:
		return s, fits(s.Params, words)
	case f.ABI == ABI0:
		agrees, _ := l.compareSize(end - b.newAssignment(ABI0).Conv.StackArgs)
		return s, agrees
	}
	return s, strings.Contains(f.Name, "[") // the table omits a parameter of generic functions
}

// fits reports whether the typed parameters are in the same places as the words. For words in uncertain places it
// compares only sizes.
func fits(typed []Variable, words *Signature) bool {
	if len(words.Params) > len(typed) || len(words.Params) < len(typed) && words.Note == "" {
		return false
	}
	for i, w := range words.Params {
		t := typed[i]
		sure := !strings.Contains(w.Type.Name, "?")
		switch {
		case t.Err != nil || aggregate(t.Type) != (w.Type.Kind == reflect.Struct):
			return false
		case sure && !samePlace(t, w), !sure && w.Type.Size > t.Type.Size:
			return false
		}
	}
	return true
}

// samePlace reports whether the known words of a parameter are where the typed parameter is. A type with "…" lists only the
// first words of a value.
func samePlace(typed, words Variable) bool {
	rest := words.Pieces
	for _, p := range typed.Pieces {
		if p.InMemory {
			in := 0
			for in < len(rest) && rest[in].InMemory && p.Disp <= rest[in].Disp && rest[in].Disp+rest[in].Size <= p.Disp+p.Size {
				in++
			}
			rest = rest[in:]
			continue
		}
		if len(rest) == 0 && (strings.Contains(words.Type.Name, "…") || len(words.Pieces) < countWords(words.Type)) {
			return true
		}
		if len(rest) == 0 || rest[0].InMemory || rest[0].Register != p.Register || rest[0].Size != p.Size {
			return false
		}
		rest = rest[1:]
	}
	return len(rest) == 0
}

func countWords(t *gotype.Type) (n int) {
	if t.Kind != reflect.Struct {
		return 1
	}
	for _, f := range t.Fields {
		n += countWords(f.Type)
	}
	return n
}
