package capture

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/valuepath"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// paths plans the fetching of what paths lead to.
func (b *Builder) paths(paths []string) ([]*node, error) {
	var nodes []*node
	for _, path := range paths {
		t, s, err := b.walk(path)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, b.value(path, t, s, 1))
	}
	return nodes, nil
}

// walk goes where a path leads to, or as far as anything can be fetched.
func (b *Builder) walk(path string) (t *gotype.Type, s source, err error) {
	parsed, err := valuepath.Parse(path)
	if err != nil {
		return nil, s, fmt.Errorf("read path %q: %w", path, err)
	}
	name := parsed.Steps[0]
	v := -1
	names := make([]string, len(b.vars))
	for i := range b.vars {
		if names[i] = b.vars[i].Name; names[i] == name {
			v = i
		}
	}
	switch {
	case v < 0 && len(names) == 0:
		return nil, s, fmt.Errorf("read path %q: no variable %q; none is known", path, name)
	case v < 0:
		return nil, s, fmt.Errorf("read path %q: no variable %q; there are %s", path, name, strings.Join(names, ", "))
	}
	t, s = b.root(&b.vars[v])
	for _, step := range append(parsed.Steps[1:], slices.Repeat([]string{"*"}, parsed.Stars)...) {
		if s.why != "" {
			break
		}
		if t, s, err = b.step(t, s, step); err != nil {
			return nil, s, fmt.Errorf("read path %q: %w", path, err)
		}
	}
	return t, s, nil
}

// step goes into a field, an element, or through a pointer ("*").
func (b *Builder) step(t *gotype.Type, s source, step string) (*gotype.Type, source, error) {
	if t.Kind == reflect.Pointer {
		elem := t.Elem()
		if elem == nil {
			return t, s, fmt.Errorf("what %s points to is not known", t.Name)
		}
		to, _ := b.follow(s, elem)
		if step == "*" || to.why != "" {
			return elem, to, nil
		}
		t, s = elem, to
	}
	switch {
	case step == "*":
		return t, s, fmt.Errorf("%s is no pointer", t.Name)
	case step[0] == '[':
		return b.element(t, s, step)
	case t.Kind != reflect.Struct:
		return t, s, fmt.Errorf("%s has no fields (%q)", t.Name, step)
	}
	chain := field(t, step, 4)
	if chain == nil {
		return t, s, fmt.Errorf("%s has no field %q", t.Name, step)
	}
	for i, f := range chain {
		if i > 0 && t.Kind == reflect.Pointer {
			if s, _ = b.follow(s, t.Elem()); s.why != "" {
				break
			}
		}
		t, s = f.Type, s.at(f.Offset)
	}
	return t, s, nil
}

func (b *Builder) element(t *gotype.Type, s source, step string) (*gotype.Type, source, error) {
	i, _ := strconv.ParseInt(step[1:len(step)-1], 10, 64)
	elem := t.Elem()
	switch {
	case elem == nil || t.Kind != reflect.Slice && t.Kind != reflect.Array:
		return t, s, fmt.Errorf("%s has no elements (%s)", t.Name, step)
	case t.Kind == reflect.Array && i >= t.Len:
		return t, s, fmt.Errorf("%s has no element %s", t.Name, step)
	case t.Kind == reflect.Array:
		return elem, s.at(i * elem.Size), nil
	}
	length, why := b.scalar(s.at(8), 8, true)
	if why != "" {
		return t, source{why: why}, nil
	}
	to, _ := b.follow(s, elem)
	return elem, to.behind(guard{length: length, item: i}).at(i * elem.Size), nil
}

// field finds a field by name, and through embedded ones: the way there.
func field(t *gotype.Type, name string, depth int) []*gotype.Field {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return []*gotype.Field{&t.Fields[i]}
		}
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		in := f.Type
		if in.Kind == reflect.Pointer {
			in = in.Elem()
		}
		if !f.Embedded || in == nil || depth == 0 {
			continue
		}
		if way := field(in, name, depth-1); way != nil {
			return append([]*gotype.Field{f}, way...)
		}
	}
	return nil
}

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
	// Signed: the kernel takes the field for a signed number, as wide as Type, 8 bytes for a length.
	Signed bool
}

// Field fetches a number for the kernel to filter by: what a path leads to, or a part of that.
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
	// Kernels that fetch from registers alone print unsigned numbers in their own way: 10 for 16.
	if why != "" || shift != 0 || !f.Signed && !b.opt.Memory {
		return f, false
	}
	f.Name, ok = b.name(text, typ, size)
	return f, ok
}

// Piece fetches size bytes at an offset in a string or byte slice, as a signed number.
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
