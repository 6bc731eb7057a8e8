package capture

import (
	"reflect"
	"strconv"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// Type is the type of what a path leads to.
func (b *Builder) Type(path string) (*gotype.Type, error) {
	t, _, _, err := b.walk(path)
	return t, err
}

// Field fetches a number for the kernel to filter by: what a path leads to, or the length
// or capacity of that. It does so only for what is in a register or on the stack: what
// lies behind a pointer reads as 0 where it can't be read. name is the event's field,
// which is as wide as the type and signed if signed is set.
func (b *Builder) Field(path string, length, capacity bool) (name string, t *gotype.Type, signed, ok bool) {
	t, s, why, err := b.walk(path)
	if err != nil || why != "" || s.inner != "" || len(s.guards) > 0 {
		return "", nil, false, false
	}
	off, size := int64(0), t.Size
	switch {
	case length && (t.Kind == reflect.String || t.Kind == reflect.Slice):
		off, size, signed = 8, 8, true
	case capacity && t.Kind == reflect.Slice:
		off, size, signed = 16, 8, true
	case length || capacity:
		return "", nil, false, false
	default:
		switch t.Kind {
		case reflect.Int:
			signed = true
		case reflect.Uint, reflect.Bool, reflect.Pointer, reflect.UnsafePointer:
		default:
			return "", nil, false, false
		}
	}
	text, shift, why := s.text(b, off, size)
	if why != "" || shift != 0 {
		return "", nil, false, false
	}
	typ := "u"
	if signed {
		typ = "s"
	} else if !b.opt.Memory {
		return "", nil, false, false // those kernels print it in a way of their own: 10 for 16
	}
	if _, why := b.fetch(text, typ+strconv.FormatInt(8*size, 10), 0, int(size)); why != "" {
		return "", nil, false, false
	}
	return b.name(text, typ, size), t, signed, true
}

// Piece fetches size bytes of a string or byte slice, from an offset in it on, as a signed
// number.
func (b *Builder) Piece(path string, off, size int64) (name string, ok bool) {
	_, s, why, err := b.walk(path)
	if err != nil || why != "" {
		return "", false
	}
	inner, shift, why := s.text(b, 0, 8)
	if why != "" || shift != 0 {
		return "", false
	}
	text := deref(off, inner)
	if _, why := b.fetch(text, "s"+strconv.FormatInt(8*size, 10), 0, int(size)); why != "" {
		return "", false
	}
	return b.name(text, "s", size), true
}

// name is that of the argument that fetches a number.
func (b *Builder) name(text, typ string, size int64) string {
	b.named = true
	for i, a := range b.args {
		if a.fetch == text && a.typ == typ+strconv.FormatInt(8*size, 10) && a.count == 0 {
			return "v" + strconv.Itoa(i)
		}
	}
	return ""
}
