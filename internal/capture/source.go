package capture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets"
)

// source is the place of a value: in the pieces of a variable, or in memory at a fetcharg's address.
type source struct {
	pieces []offsets.Piece
	base   string // the fetcharg that yields the address; "" for pieces
	off    int64  // the value's offset from that address, or in the variable
	align  int64  // the alignment of that address, 0 if not known
	guards []guard
	reason string     // not "" if the value can't be fetched
	search *mapSearch // set for a value in a map's element, which is in the slot Builder.slot
	spans  []context  // set for the trace ID in a context.Context
}

// guard is a condition without which words behind it are meaningless. It checks a pointer, a length or a type.
type guard struct {
	pointer leaf  // must be a valid address
	at      int64 // the offset of pointer from the address in the pointer of the guard before it
	length  leaf  // if fetched, it must be greater than item, and the other fields are not used
	item    int64
	// If holds is set, pointer is the first word of an interface that must have this dynamic type. If methods is set,
	// this word is the address of an itab, and itab is the address of the type, read from there.
	holds   *gotype.Type
	methods bool
	itab    leaf
}

// root returns the type and the source of a variable.
func (b *Builder) root(v *offsets.Variable) (t *gotype.Type, s source) {
	if t = v.Type; t == nil {
		t = &gotype.Type{Name: "?"}
	}
	switch {
	case v.Err != nil:
		s.reason = v.Err.Error()
	case len(v.Pieces) == 1 && v.Pieces[0].Pointer:
		pointer := v.Pieces[0]
		pointer.Size = 8
		s, _ = b.follow(source{pieces: []offsets.Piece{pointer}}, nil)
	default:
		s.pieces = v.Pieces
	}
	for _, off := range v.Through {
		s, _ = b.follow(s, nil)
		s.off += off
	}
	return t, s
}

// at returns the source moved by an offset.
func (s source) at(off int64) source {
	s.off += off
	return s
}

// behind returns the source with one more guard.
func (s source) behind(g guard) source {
	s.guards = append(slices.Clip(s.guards), g)
	return s
}

// piece returns the piece with the first size bytes of the value.
func (s source) piece(size int64) (p offsets.Piece, ok bool) {
	i := slices.IndexFunc(s.pieces, func(p offsets.Piece) bool { return s.off >= p.Offset && s.off+size <= p.Offset+p.Size })
	if i < 0 {
		return p, false
	}
	return s.pieces[i], true
}

// text returns the fetcharg for the first size bytes of the value. They begin at bit shift of the fetched word.
func (s source) text(b *Builder, size int64) (text string, shift uint, reason string) {
	switch {
	case s.reason != "":
		return "", 0, s.reason
	case s.base != "" && strings.Count(s.base, "(") >= maxDeref:
		return "", 0, "too many pointers away"
	case s.base != "":
		return fmt.Sprintf("%+d(%s)", s.off, s.base), 0, ""
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

// follow fetches a pointer, and returns the source of its target, of type elem if that is not nil.
func (b *Builder) follow(s source, elem *gotype.Type) (to source, pointer leaf) {
	to.search = s.search
	if pointer, to.reason = b.scalar(s, 8, false); to.reason != "" {
		return to, leaf{}
	}
	to.base, _, _ = s.text(b, 8)
	to.guards = s.behind(guard{pointer: pointer, at: s.off}).guards
	if elem != nil {
		to.align = elem.Align
	}
	return to, pointer
}
