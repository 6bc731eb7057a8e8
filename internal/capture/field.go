package capture

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// Type is the type of what a path leads to.
func (b *Builder) Type(path string) (*gotype.Type, error) {
	t, _, err := b.walk(path)
	return t, err
}

// Field is what the kernel knows of a variable when it evaluates an event's filter.
type Field struct {
	// Name is that of the event's field, which holds the variable itself, but the length
	// of a string or slice. It must come from a register or the stack: what lies behind a
	// pointer reads as 0 where it can't be read, which is no reason to drop a call.
	Name string
	Type *gotype.Type // the variable's; int for a length or a capacity
	// Signed: the kernel takes the field for a signed number. It is as wide as Type, 8
	// bytes for a length.
	Signed bool
}

// Field fetches a number for the kernel to filter by: what a path leads to, or the part of that,
// if there is one.
func (b *Builder) Field(path string, part Part) (f Field, ok bool) {
	t, s, err := b.walk(path)
	if err != nil || s.why != "" || s.inner != "" || len(s.guards) > 0 {
		return f, false
	}
	f.Type = t
	size := t.Size
	switch kind := t.Kind; {
	case part == Cap && kind == reflect.Slice:
		s, size, f.Signed = s.at(16), 8, true
	case part != Cap && (kind == reflect.String || kind == reflect.Slice):
		s, size, f.Signed = s.at(8), 8, true
	case part != Whole:
		return f, false
	case kind == reflect.Int:
		f.Signed = true
	case kind != reflect.Uint && kind != reflect.Bool && kind != reflect.Pointer && kind != reflect.UnsafePointer:
		return f, false
	}
	if part != Whole {
		f.Type = intType
	}
	text, shift, why := s.text(b, size)
	typ := "s"
	if !f.Signed {
		typ = "u"
	}
	// Kernels that fetch from registers alone print unsigned numbers in a way of their own: 10
	// for 16.
	if why != "" || shift != 0 || !f.Signed && !b.opt.Memory {
		return f, false
	}
	f.Name, ok = b.name(text, typ, size)
	return f, ok
}

// Piece fetches size bytes of a string or byte slice, from an offset in it on, as a signed
// number.
func (b *Builder) Piece(path string, off, size int64) (name string, ok bool) {
	_, s, err := b.walk(path)
	inner, shift, why := s.text(b, 8)
	if err != nil || why != "" || shift != 0 {
		return "", false
	}
	return b.name(deref(off, inner), "s", size)
}

// name is that of the argument that fetches a number.
func (b *Builder) name(text, typ string, size int64) (name string, ok bool) {
	at, why := b.fetch(text, typ+strconv.FormatInt(8*size, 10), 0, int(size))
	if why != "" {
		return "", false
	}
	b.named = true
	return "v" + strconv.Itoa(slices.IndexFunc(b.args, func(a arg) bool { return a.at == at })), true
}
