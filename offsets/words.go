package offsets

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets/internal/gotab"
)

// signatureFromWords returns the parameters as tracebacks print them: the number and sizes of words, and which words
// belong together. It returns no results.
func (b *Binary) signatureFromWords(f *Func) (s *Signature, ok bool) {
	args, complete, ok := b.tables.Args(f.Addr)
	if !ok {
		return nil, false
	}
	s = &Signature{Source: fromWords, Untyped: true}
	if args == nil {
		return s, true
	}
	w := &wordLayout{binary: b, f: f, conv: b.image.Processor.Machine().Go(b.goVer.Minor, f.ABI == ABI0), args: args, whole: complete && !gotab.Abridged(args)}
	if !w.locate() {
		return nil, false
	}
	for i, a := range w.args {
		v := Variable{Name: fmt.Sprintf("p%d", i)}
		v.Type = w.valueType(a, a.First(), &v.Pieces)
		s.Params = append(s.Params, v)
	}
	if !complete {
		s.Note = "parameters after the first ten words are unknown" // tracebacks print "..."
	}
	return s, true
}

// wordLayout computes the locations of the words of one function's parameters.
type wordLayout struct {
	binary *Binary
	f      *Func
	conv   *arch.CallConv
	args   []gotab.Arg
	whole  bool // args has all words of all parameters
	// places has the registers of words by the offset of the word. All other words are on the stack.
	places map[int64]wordPlace
}

// wordPlace is the register that contains a word, "" for a floating-point register. If sure is false, the register is a
// guess that assumes that neither this word nor a word before it is floating-point.
type wordPlace struct {
	register arch.Reg
	sure     bool
}

// locate finds the locations of the words: from the code that saves all argument registers when the stack must grow,
// or else by assuming that no word is floating-point.
func (w *wordLayout) locate() bool {
	w.places = make(map[int64]wordPlace)
	if len(w.conv.Ints) == 0 {
		return true
	}
	d, err := w.binary.decode(w.f)
	if err != nil {
		return false
	}
	// The code does not save arguments that the function never uses.
	if spills, _, ok := d.spilled(); ok && len(spills) > 0 {
		return w.locateBySpills(spills)
	}
	return w.locateInOrder()
}

// locateBySpills assigns the registers that the function saves.
func (w *wordLayout) locateBySpills(spills []arch.Spill) bool {
	lowest, sizes := int64(math.MaxInt64), make(map[int64]int64)
	for _, s := range spills {
		at := s.Disp - w.conv.StackArgs
		w.places[at], sizes[at] = wordPlace{s.Register, true}, s.Size
		lowest = min(lowest, at)
	}
	var far []*gotab.Arg // words without an offset in the table
	seen := int64(math.MaxInt64)
	for a := range gotab.Leaves(w.args) {
		size, saved := sizes[a.Offset]
		switch {
		case a.Offset < 0:
			far = append(far, a)
			continue
		case saved != (a.Offset >= lowest), saved && size != a.Size:
			return false
		case saved:
			seen = min(seen, a.Offset)
		}
		delete(sizes, a.Offset)
	}
	var before, others []gotab.Arg // saved words that are not in the table
	for _, s := range spills {
		switch at := s.Disp - w.conv.StackArgs; {
		case sizes[at] == 0:
		case at < seen && strings.Contains(w.f.Name, "["):
			before = append(before, gotab.Arg{Offset: at, Size: s.Size})
		default:
			others = append(others, gotab.Arg{Offset: at, Size: s.Size})
		}
	}
	if w.whole && len(others) == len(far) { // both are in order of the parameters
		for i, a := range far {
			*a = others[i]
		}
	} else if w.whole && len(others) > len(far) {
		return false
	}
	return !strings.Contains(w.f.Name, "[") || w.restoreFirstParam(before)
}

// restoreFirstParam adds the first parameter of a generic function, which the table omits, and removes the
// dictionary, which source files don't have.
func (w *wordLayout) restoreFirstParam(hidden []gotab.Arg) bool {
	dictionary := w.binary.dictionary(w.f)
	if len(hidden) > 1 && dictionary != 0 {
		hidden = []gotab.Arg{{Aggregate: true, Parts: hidden}}
	}
	switch {
	case dictionary >= 0 && len(hidden) != 1, dictionary == 1 && len(w.args) == 0:
		return false
	case dictionary == 0:
		return true
	case dictionary == 1:
		w.args = w.args[1:]
	}
	w.args = slices.Concat(hidden, w.args)
	return true
}

// locateInOrder assigns registers to the words in order, as if no word were floating-point.
func (w *wordLayout) locateInOrder() bool {
	name := symname.Split(w.f.Name)
	next := 0
	pointer := name.Pointer && (name.Suffix == "" || name.Suffix == abi0Suffix) || name.IsOfType() // the first parameter is a pointer
	if strings.Contains(w.f.Name, "[") {
		dictionary := w.binary.dictionary(w.f)
		switch {
		case dictionary == 0:
			next = 1
		case !pointer || dictionary == 1 && len(w.args) == 0:
			return false
		default: // the receiver is a word before the dictionary
			receiver := gotab.Arg{Offset: -8, Size: 8}
			if len(w.args) > 0 {
				receiver.Offset = w.args[0].First() - 8
			}
			w.args = slices.Concat([]gotab.Arg{receiver}, w.args)
			if dictionary == 1 {
				defer func() { w.args = slices.Delete(w.args, 1, 2) }()
			}
		}
	}
	lowest := w.lowestInRegister(next)
	var held []*gotab.Arg // words in registers
	sure := !slices.ContainsFunc(w.args, func(a gotab.Arg) bool { return a.First() < lowest })
	for _, a := range w.args {
		list := slices.Collect(gotab.Leaves([]gotab.Arg{a}))
		if slices.ContainsFunc(list, func(a *gotab.Arg) bool { return a.Offset == -1 }) {
			return false
		}
		switch fits := next+len(held)+len(list) <= len(w.conv.Ints); {
		case a.First() < lowest && fits && gotab.Abridged([]gotab.Arg{a}):
			return false // it may be in registers or, if it has many more words, on the stack
		case a.First() >= lowest || fits:
			held = append(held, list...)
		}
	}
	if next+len(held) > len(w.conv.Ints) {
		return false
	}
	for i, a := range held {
		float := a.Size == 4 || a.Size == 8
		sure = sure && (!float || i == 0 && pointer)
		w.places[a.Offset] = wordPlace{w.conv.Ints[next+i], sure}
	}
	return true
}

// lowestInRegister returns the lowest offset of a word that must be in a register. Words on the stack have the lowest
// offsets, starting at 0; both they and the words in registers are in ascending order. A word that is not part of an
// aggregate is on the stack only if no registers are left. count is the number of registers that are in use before the first
// word.
func (w *wordLayout) lowestInRegister(count int) int64 {
	lowest, ok := w.binary.tables.InRegisters(w.f.Addr)
	if !ok {
		lowest = math.MaxInt64
	}
	for i, a := range w.args {
		at := a.First()
		count += len(slices.Collect(gotab.Leaves(w.args[i : i+1])))
		if !a.Aggregate && count <= len(w.conv.Ints) || i == 0 && at > 0 || i+1 < len(w.args) && w.args[i+1].First() < at {
			lowest = min(lowest, at)
		}
	}
	return lowest
}

// valueType returns the type of an argument, or of a part of an argument that begins at offset top. It appends the
// locations to pieces.
func (w *wordLayout) valueType(a gotab.Arg, top int64, pieces *[]Piece) *gotype.Type {
	if !a.Aggregate {
		return w.wordType(a, top, pieces)
	}
	t := &gotype.Type{Kind: reflect.Struct, Align: 8}
	var names []string
	for i, part := range a.Parts {
		f := gotype.Field{Name: fmt.Sprintf("w%d", i), Offset: t.Size, Type: w.valueType(part, top, pieces)}
		if at := part.First(); at >= 0 && f.Type.Size > 0 {
			f.Offset = at - a.First()
		}
		t.Fields = append(t.Fields, f)
		t.Size = f.Offset + f.Type.Size
		names = append(names, f.Type.Name)
	}
	if a.Cut {
		names = append(names, "…")
	}
	t.Name = "{" + strings.Join(names, ", ") + "}"
	return t
}

// wordType returns the type of a word; see [gotype.Type.IsWord].
func (w *wordLayout) wordType(a gotab.Arg, top int64, pieces *[]Piece) *gotype.Type {
	at, inRegister := w.places[a.Offset]
	p := Piece{Offset: a.Offset - top, Size: a.Size, Register: at.register}
	if !inRegister {
		p.Register, p.InMemory, p.Disp = w.binary.image.Processor.Machine().SP, true, w.conv.StackArgs+a.Offset
	}
	t := &gotype.Type{Name: "word", Kind: reflect.UnsafePointer, Size: a.Size, Align: a.Size}
	if a.Offset < 0 && !inRegister {
		t.Size = 8
		return t
	}
	*pieces = append(*pieces, p)
	switch {
	case inRegister && at.register == "":
		return &gotype.Type{Name: fmt.Sprintf("float%d", 8*a.Size), Kind: reflect.Float64, Size: a.Size, Align: a.Size}
	case a.Size != 8:
		t.Name = fmt.Sprintf("word%d", 8*a.Size)
	}
	if inRegister && !at.sure {
		t.Name += "?"
	}
	return t
}
