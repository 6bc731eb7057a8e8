package capture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets"
)

// source is where a value's bytes are: a variable's pieces, or memory at a fetcharg's address.
type source struct {
	pieces []offsets.Piece
	inner  string // the fetcharg that yields the address; "" for pieces
	off    int64  // of the value from that address, or in the variable
	align  int64  // of that address
	guards []guard
	why    string  // it is out of reach
	search *search // it is the element of a map that Builder.slot has
}

// guard is a condition under which what was fetched means anything.
type guard struct {
	pointer leaf  // must point somewhere
	at      int64 // where it is, from where the pointer before it points to
	length  leaf  // if there is one it must be more than item, and pointer is not looked at
	item    int64
	// If set, what pointer is the first word of must hold that type. methods: the word is an itab,
	// and itab the type in that.
	holds   *gotype.Type
	methods bool
	itab    leaf
}

// root is the type and the source of a variable.
func (b *Builder) root(v *offsets.Variable) (t *gotype.Type, s source) {
	if t = v.Type; t == nil {
		t = &gotype.Type{Name: "?"}
	}
	switch {
	case v.Err != nil:
		s.why = v.Err.Error()
	case len(v.Pieces) == 1 && v.Pieces[0].Pointer:
		s.inner = v.Pieces[0].Register.At(v.Pieces[0].Disp)
		pointer := leaf{size: 8}
		pointer.at, s.why = b.fetch(s.inner, "s64", 0, 8)
		s = s.behind(guard{pointer: pointer})
	default:
		s.pieces = v.Pieces
	}
	for _, off := range v.Through {
		s, _ = b.follow(s, nil)
		s.off += off
	}
	return t, s
}

// at is the source moved by an offset.
func (s source) at(off int64) source {
	s.off += off
	return s
}

// behind is the source with one condition more.
func (s source) behind(g guard) source {
	s.guards = append(slices.Clip(s.guards), g)
	return s
}

// piece is the one that holds so many bytes of the value.
func (s source) piece(size int64) (p offsets.Piece, ok bool) {
	i := slices.IndexFunc(s.pieces, func(p offsets.Piece) bool { return s.off >= p.Offset && s.off+size <= p.Offset+p.Size })
	if i < 0 {
		return p, false
	}
	return s.pieces[i], true
}

// text is the fetcharg for the first size bytes; they lie shift bits up in what it yields.
func (s source) text(b *Builder, size int64) (text string, shift uint, why string) {
	switch {
	case s.why != "":
		return "", 0, s.why
	case s.inner != "" && strings.Count(s.inner, "(") >= maxDeref:
		return "", 0, "too many pointers away"
	case s.inner != "":
		return fmt.Sprintf("%+d(%s)", s.off, s.inner), 0, ""
	}
	p, ok := s.piece(size)
	in := s.off - p.Offset
	switch {
	case !ok:
		return "", 0, "not known where"
	case p.Fetch != "":
		return p.Fetch, uint(8 * in), ""
	case p.Static:
		return b.opt.Static(uint64(p.Disp + in)), 0, ""
	case p.InMemory:
		return p.Register.At(p.Disp + in), 0, ""
	case p.Register == "":
		return "", 0, "in a floating-point register"
	}
	return p.Register.Fetch(), uint(8 * in), ""
}

// aligned tells whether the word that the value is in, by its address, is in memory as a whole: those
// on the stack are, and those of what is aligned to words itself.
func (s source) aligned(b *Builder, size int64) bool {
	if s.inner != "" {
		return s.align == 8
	}
	p, ok := s.piece(size)
	return ok && p.InMemory && b.opt.Machine != nil && p.Register == b.opt.Machine.SP
}

// word is text for the word that holds a number, where it can be fetched whole: the less events
// differ in their types, the fewer there are, and the sooner they are removed.
func (s source) word(b *Builder, size int64) (text string, shift uint, why string) {
	if size == 8 || !s.aligned(b, size) {
		return s.text(b, size)
	}
	if s.inner != "" {
		in := s.off & 7
		text, _, why = s.at(-in).text(b, 8)
		return text, uint(8 * in), why
	}
	p, _ := s.piece(size)
	at := p.Disp + s.off - p.Offset
	return p.Register.At(at &^ 7), uint(8 * (at & 7)), ""
}

// follow is the memory that the pointer there points to, of type elem if that is known.
func (b *Builder) follow(s source, elem *gotype.Type) (to source, pointer leaf) {
	to.search = s.search
	if pointer, to.why = b.scalar(s, 8, false); to.why != "" {
		return to, leaf{}
	}
	to.inner, _, _ = s.text(b, 8)
	to.guards = s.behind(guard{pointer: pointer, at: s.off}).guards
	if elem != nil {
		to.align = elem.Align
	}
	return to, pointer
}
