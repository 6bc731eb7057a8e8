package capture

import (
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/offsets"
)

// source is where the bytes of a value come from: the pieces of a variable, or memory at an
// address that a fetcharg yields.
type source struct {
	pieces []offsets.Piece
	inner  string // the fetcharg that yields the address; "" for pieces
	disp   int64  // to be added to it
	align  int64  // of that address
	guards []guard
}

// guard is a condition under which what was fetched means anything.
type guard struct {
	pointer leaf // must point somewhere
	// length must be more than item, if item >= 0, and pointer is not looked at.
	length leaf
	item   int64
}

// root is the source of a variable.
func (b *Builder) root(v *offsets.Variable) (source, string) {
	if len(v.Pieces) == 1 && v.Pieces[0].Pointer {
		p := v.Pieces[0]
		inner := p.Register.At(p.Disp)
		at, why := b.fetch(inner, "s64", 0, 8)
		return source{inner: inner, guards: []guard{{pointer: leaf{at: at, size: 8}, item: -1}}}, why
	}
	return source{pieces: v.Pieces}, ""
}

func deref(disp int64, inner string) string { return fmt.Sprintf("%+d(%s)", disp, inner) }

// text is the fetcharg for size bytes at an offset; they lie shift bits up in what it
// yields.
func (s source) text(b *Builder, off, size int64) (text string, shift uint, why string) {
	if s.inner != "" {
		if strings.Count(s.inner, "(") >= maxDeref {
			return "", 0, "too many pointers away"
		}
		return deref(s.disp+off, s.inner), 0, ""
	}
	for _, p := range s.pieces {
		// Arrays begin in a piece and may go on behind it.
		if off < p.Offset || off+size > p.Offset+p.Size {
			continue
		}
		in := off - p.Offset
		switch {
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
	return "", 0, "not known where"
}

// aligned tells whether the address of an offset, rounded down to a word, is that of a word
// which is in memory as a whole: those on the stack are, and those of what is aligned to
// words itself.
func (s source) aligned(b *Builder, off int64) bool {
	if s.inner != "" {
		return s.align == 8
	}
	for _, p := range s.pieces {
		if off >= p.Offset && off < p.Offset+p.Size {
			return p.InMemory && b.opt.Machine != nil && p.Register == b.opt.Machine.SP
		}
	}
	return false
}

// word is text for the word that holds a number, where the whole of it can be fetched:
// the less events differ in their types, the fewer there are, and the sooner they are
// removed.
func (s source) word(b *Builder, off, size int64) (text string, shift uint, why string) {
	if size == 8 || !s.aligned(b, off) {
		return s.text(b, off, size)
	}
	if s.inner != "" {
		low := (s.disp + off) &^ 7
		text, _, why = s.text(b, low-s.disp, 8)
		return text, uint(8 * (s.disp + off - low)), why
	}
	for _, p := range s.pieces {
		if off >= p.Offset && off+size <= p.Offset+p.Size {
			at := p.Disp + off - p.Offset
			return p.Register.At(at &^ 7), uint(8 * (at & 7)), ""
		}
	}
	return "", 0, "not known where"
}

// follow is the memory that the pointer at an offset points to.
func (b *Builder) follow(s source, off int64) (source, leaf, string) {
	text, shift, why := s.text(b, off, 8)
	if why != "" || shift != 0 {
		return source{}, none, why
	}
	l, why := b.scalar(s, off, 8, false)
	if why != "" {
		return source{}, none, why
	}
	guards := append(s.guards[:len(s.guards):len(s.guards)], guard{pointer: l, item: -1})
	return source{inner: text, guards: guards}, l, ""
}

// at is the source moved by an offset.
func (s source) at(off int64) source {
	if s.inner != "" {
		s.disp += off
		return s
	}
	moved := make([]offsets.Piece, len(s.pieces))
	for i, p := range s.pieces {
		p.Offset -= off
		moved[i] = p
	}
	s.pieces = moved
	return s
}
