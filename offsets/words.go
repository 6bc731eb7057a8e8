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

// byWords is what tracebacks print parameters by: how many words there are, how large each is, and
// which belong together. It has no results.
func (b *Binary) byWords(f *Func) (s *Signature, ok bool) {
	args, complete, ok := b.tables.Args(f.Addr)
	if !ok {
		return nil, false
	}
	s = &Signature{Source: fromWords, Untyped: true}
	if args == nil {
		return s, true
	}
	w := &words{binary: b, f: f, conv: b.image.Processor.Go(b.goVer.Minor, f.ABI == ABI0), args: args, whole: complete && !gotab.Abridged(args)}
	if !w.place() {
		return nil, false
	}
	for i, a := range w.args {
		v := Variable{Name: fmt.Sprintf("p%d", i)}
		v.Type = w.value(a, a.First(), &v.Pieces)
		s.Params = append(s.Params, v)
	}
	if !complete {
		s.Note = "not known: what follows ten words" // tracebacks print "..."
	}
	w.receiver(s.Params)
	return s, true
}

// dictionaryWords are enough of a dictionary for what precedes its types in most.
const dictionaryWords = 24

// receiver tells how the receiver of a generic method is known, where that is a pointer. The type's dictionary, the word
// behind it, has code, then other dictionaries, then types in the order in which methods have variables of them. So its
// first type is that of the first method's receiver, which is T or *T (cmd/compile/internal/noder: declareParams in
// writer.go, dictNameOf in reader.go). Of functions nothing tells which parameters these types are of.
func (w *words) receiver(params []Variable) {
	name := symname.Split(w.f.Name)
	if !name.Pointer || strings.Contains(name.Func, "[") || len(params) == 0 || w.binary.dictionary(w.f) != 1 || len(w.conv.Ints) < 2 {
		return
	}
	p := &params[0]
	if len(p.Pieces) != 1 || p.Pieces[0] != (Piece{Size: 8, Register: w.conv.Ints[0]}) || strings.Contains(p.Type.Name, "?") {
		return
	}
	pkg := name.Package[strings.LastIndexByte(name.Package, '/')+1:]
	p.Type = &gotype.Type{Name: "*" + pkg + "." + name.Receiver + name.TypeArgs, Kind: reflect.Pointer, Size: 8, Align: 8}
	words := &gotype.Type{Name: fmt.Sprintf("[%d]uintptr", dictionaryWords), Kind: reflect.Array, Size: 8 * dictionaryWords, Align: 8, Len: dictionaryWords}
	p.Real = &Variable{Type: words, Pieces: []Piece{{Size: 8, Register: w.conv.Ints[1]}}, Through: []int64{0}}
}

// words is the work on the words of one function's parameters.
type words struct {
	binary *Binary
	f      *Func
	conv   *arch.CallConv
	args   []gotab.Arg
	whole  bool // these are all
	// places are the registers of words by their offsets; the others are on the stack.
	places map[int64]place
}

// place is the register that a word is in, "" for one of floating point. Not sure: any word of
// floating point before it, or it being one, would make it another.
type place struct {
	register arch.Reg
	sure     bool
}

// place finds out where the words are: by the code that saves all registers of arguments where the
// stack has to grow, or else as they would be if none were floating point.
func (w *words) place() bool {
	w.places = make(map[int64]place)
	if len(w.conv.Ints) == 0 {
		return true
	}
	code, err := w.binary.code(w.f)
	if err != nil {
		return false
	}
	p := w.binary.image.Processor
	if check, ok := p.StackCheck(code); ok {
		// Nothing is saved of arguments that are never used.
		if spills, ok := p.Spilled(code, check); ok && len(spills) > 0 {
			return w.bySpills(spills)
		}
	}
	return w.byRead(p.Read(code))
}

// bySpills goes by what is saved.
func (w *words) bySpills(spills []arch.Spill) bool {
	lowest, sizes := int64(math.MaxInt64), make(map[int64]int64)
	for _, s := range spills {
		at := s.Disp - w.conv.StackArgs
		w.places[at], sizes[at] = place{s.Register, true}, s.Size
		lowest = min(lowest, at)
	}
	var far []*gotab.Arg // whose offsets are not told
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
	var before, others []gotab.Arg // that the table does not tell
	for _, s := range spills {
		switch at := s.Disp - w.conv.StackArgs; {
		case sizes[at] == 0:
		case at < seen && strings.Contains(w.f.Name, "["):
			before = append(before, gotab.Arg{Offset: at, Size: s.Size})
		default:
			others = append(others, gotab.Arg{Offset: at, Size: s.Size})
		}
	}
	if w.whole && len(others) == len(far) { // all are in one order
		for i, a := range far {
			*a = others[i]
		}
	} else if w.whole && len(others) > len(far) {
		return false
	}
	return !strings.Contains(w.f.Name, "[") || w.withFirst(before)
}

// withFirst puts in what the table leaves out of generic code, the first parameter, whichever that is,
// and takes out the dictionary, which no source file has.
func (w *words) withFirst(hidden []gotab.Arg) bool {
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

// byRead gives words registers in their order, as if none were floating point. What the code reads
// before it writes it proves how many are not.
func (w *words) byRead(read []arch.Reg) bool {
	ints := 0
	for _, r := range read {
		ints = max(ints, slices.Index(w.conv.Ints, r)+1)
	}
	name := symname.Split(w.f.Name)
	next, pointer := 0, name.Pointer && (name.Suffix == "" || name.Suffix == abi0Suffix) || strings.HasPrefix(name.Func, "type:") || strings.HasPrefix(name.Func, "type..") // .eq, .hash
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
	lowest := w.lowest(next)
	var held []*gotab.Arg // words in registers
	sure := !slices.ContainsFunc(w.args, func(a gotab.Arg) bool { return a.First() < lowest })
	for _, a := range w.args {
		list := slices.Collect(gotab.Leaves([]gotab.Arg{a}))
		if slices.ContainsFunc(list, func(a *gotab.Arg) bool { return a.Offset == -1 }) {
			return false
		}
		if a.First() >= lowest || !gotab.Abridged([]gotab.Arg{a}) && next+len(held)+len(list) <= len(w.conv.Ints) {
			held = append(held, list...)
		}
	}
	if next+len(held) > len(w.conv.Ints) || ints > next+len(held) && w.whole {
		return false
	}
	all := ints == next+len(held) && w.whole
	for i, a := range held {
		float := a.Size == 4 || a.Size == 8
		sure = sure && (!float || i == 0 && pointer)
		w.places[a.Offset] = place{w.conv.Ints[next+i], sure || all}
	}
	return true
}

// lowest is the lowest offset of a word that is known to be in a register. Parameters on the stack
// have the lowest, from 0 on; both they and those in registers are in ascending order. A number
// is on the stack only if there are no registers left.
func (w *words) lowest(count int) int64 {
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

// value is the type of an argument, or of a part of one that begins at the offset top; the pieces are added.
func (w *words) value(a gotab.Arg, top int64, pieces *[]Piece) *gotype.Type {
	if !a.Aggregate {
		return w.word(a, top, pieces)
	}
	t := &gotype.Type{Kind: reflect.Struct, Align: 8}
	var names []string
	for i, part := range a.Parts {
		f := gotype.Field{Name: fmt.Sprintf("w%d", i), Offset: t.Size, Type: w.value(part, top, pieces)}
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

// word is the type of a word, as [gotype.Type.IsWord] has it.
func (w *words) word(a gotab.Arg, top int64, pieces *[]Piece) *gotype.Type {
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
