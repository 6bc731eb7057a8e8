package capture

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/offsets"
)

// paths plans how to fetch the values of paths.
func (b *Builder) paths(paths []string) ([]*node, error) {
	var nodes []*node
	for _, path := range paths {
		t, s, err := b.walk(path)
		if err != nil {
			return nil, err
		}
		pointers := 1
		if b.opt.Addresses {
			pointers = 0
		}
		switch {
		case s.search != nil:
			nodes = append(nodes, b.mapElement(path, t, s))
		case s.spans != nil:
			nodes = append(nodes, &node{name: path, typ: t, spans: s.spans})
		default:
			nodes = append(nodes, b.value(path, t, s, pointers))
		}
	}
	return nodes, nil
}

// walk returns the type and the source of a path's value. The type may be known even if the source can't be fetched.
func (b *Builder) walk(path string) (t *gotype.Type, s source, err error) {
	steps, err := ParsePath(path)
	if err != nil {
		return nil, s, fmt.Errorf("read path %q: %w", path, err)
	}
	isVariable := slices.ContainsFunc(b.vars, func(v offsets.Variable) bool { return v.Name == steps[0] })
	if IsTrace(steps[0]) && !isVariable {
		t, s, err = b.trace()
	} else if key, isLabel := Label(steps[0]); isLabel {
		if t, s = b.root(&b.opt.Labels); s.reason != "" {
			return nil, s, fmt.Errorf("read path %q: %s", path, s.reason)
		}
		t, s, err = b.lookup(t, s, strconv.Quote(key))
	} else {
		var v offsets.Variable
		if v, err = b.variable(steps[0]); err == nil {
			t, s = b.root(&v)
		}
	}
	if err != nil {
		return nil, s, fmt.Errorf("read path %q: %w", path, err)
	}
	for _, step := range steps[1:] {
		if s.reason != "" && t.Kind == reflect.Invalid {
			break
		}
		if t, s, err = b.step(t, s, step); err != nil {
			return nil, s, fmt.Errorf("read path %q: %w", path, err)
		}
	}
	return t, s, nil
}

// variable returns the variable that a path begins with.
func (b *Builder) variable(name string) (offsets.Variable, error) {
	names := make([]string, len(b.vars))
	for i := range b.vars {
		if names[i] = b.vars[i].Name; names[i] == name {
			return b.vars[i], nil
		}
	}
	switch {
	case RegisterLen(name) > 0:
		return b.opt.Variable(name)
	case len(names) == 0:
		return offsets.Variable{}, fmt.Errorf("no variable %q; none is known", name)
	}
	return offsets.Variable{}, fmt.Errorf("no variable %q (want %s)", name, strings.Join(names, ", "))
}

// step returns the type and source of a field, an element, an interface's dynamic value, or a pointer's target ("*").
func (b *Builder) step(t *gotype.Type, s source, step string) (*gotype.Type, source, error) {
	if step[0] == '(' {
		return b.assert(t, s, step[1:len(step)-1])
	}
	if t.Kind == reflect.Pointer {
		elem := t.Elem()
		if elem == nil {
			return t, s, fmt.Errorf("the type that %s points to is unknown", t.Name)
		}
		to, _ := b.follow(s, elem)
		if step == "*" {
			return elem, to, nil
		}
		t, s = elem, to
	}
	switch {
	case step == "*":
		return t, s, fmt.Errorf("%s is not a pointer", t.Name)
	case step[0] == '[' && t.Kind == reflect.Map:
		return b.lookup(t, s, step[1:len(step)-1])
	case step[0] == '[':
		return b.element(t, s, step)
	case t.Kind == reflect.Interface:
		return t, s, fmt.Errorf("%s has no fields (%q): name its type, as in x.(*T).%[2]s", t.Name, step)
	case t.Kind != reflect.Struct:
		return t, s, fmt.Errorf("%s has no fields (%q)", t.Name, step)
	}
	chain := field(t, step, 4)
	if chain == nil {
		names := func(yield func(string) bool) { // without those of embedded structs
			for i := 0; i < len(t.Fields) && yield(t.Fields[i].Name); i++ {
			}
		}
		return t, s, fmt.Errorf("%s has no field %q%s", t.Name, step, printable.DidYouMean(step, names))
	}
	for i, f := range chain {
		if i > 0 && t.Kind == reflect.Pointer {
			s, _ = b.follow(s, t.Elem())
		}
		t, s = f.Type, s.at(f.Offset)
	}
	return t, s, nil
}

func (b *Builder) element(t *gotype.Type, s source, step string) (*gotype.Type, source, error) {
	index, err := strconv.ParseUint(step[1:len(step)-1], 10, 31)
	i := int64(index)
	elem := t.Elem()
	switch {
	case elem == nil || t.Kind != reflect.Slice && t.Kind != reflect.Array:
		return t, s, fmt.Errorf("%s has no elements (%s)", t.Name, step)
	case err != nil || t.Kind == reflect.Array && i >= t.Len:
		return t, s, fmt.Errorf("%s has no element %s", t.Name, step)
	case t.Kind == reflect.Array:
		return elem, s.at(i * elem.Size), nil
	}
	length, reason := b.scalar(s.at(8), 8, true)
	to, _ := b.follow(s, elem)
	to.reason = cmp.Or(reason, to.reason)
	return elem, to.behind(guard{length: length, item: i}).at(i * elem.Size), nil
}

// isWord reports whether values of a type are words that may be pointers to any type.
func isWord(t *gotype.Type) bool {
	switch t.Kind {
	case reflect.Int, reflect.Uint, reflect.UnsafePointer:
		return t.Size == 8
	case reflect.Pointer:
		return t.Elem() == nil || t.Elem().Kind == reflect.Invalid
	}
	return false
}

// assert returns the type of a type assertion, and the source of the interface's dynamic value. It also accepts a
// pointer type for a word that may be a pointer.
func (b *Builder) assert(t *gotype.Type, s source, name string) (*gotype.Type, source, error) {
	as, err := b.opt.Type(name)
	switch {
	case err != nil:
		return t, s, err
	case as.Kind == reflect.Interface:
		return t, s, fmt.Errorf("%s is an interface: TYPE in .(TYPE) must be a concrete type", name)
	case doubtful(t):
		return t, s, errDoubtful
	case isWord(t) && as.Kind == reflect.Pointer:
		return as, s, nil
	case t.Kind != reflect.Interface:
		return t, s, fmt.Errorf("%s is not an interface: .(%s)", t.Name, name)
	}
	g := guard{at: s.off, holds: as, methods: t.Methods}
	types, pointer := b.follow(s, nil)
	if g.pointer = pointer; t.Methods {
		g.itab, types.reason = b.scalar(types.at(8), 8, false)
	}
	s.reason = cmp.Or(s.reason, types.reason)
	data := s.at(8).behind(g)
	if !as.Direct {
		data, _ = b.follow(data, as)
	}
	return as, data, nil
}

// field finds a field by name, also in embedded structs up to a depth, and returns the fields that lead to it.
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
		if chain := field(in, name, depth-1); chain != nil {
			return append([]*gotype.Field{f}, chain...)
		}
	}
	return nil
}

// Type returns the type of a path's value. It is an error if the value may be another argument's, because comparisons
// and counts of the value could not show this doubt.
func (b *Builder) Type(path string) (*gotype.Type, error) {
	t, _, err := b.walk(path)
	if err == nil && doubtful(t) {
		return nil, fmt.Errorf("read path %q: %w", path, errDoubtful)
	}
	return t, err
}

var errDoubtful = errors.New("it may be another argument: parameters have no types")

// doubtful reports whether values of an untyped word may be another argument's.
func doubtful(t *gotype.Type) bool { return t.IsWord() && strings.Contains(t.Name, "?") }

// Field adds an argument that the kernel can filter by: the number that a path leads to, or a length or capacity. It
// returns the name of the event's field, and the type that has the size and sign of this field: the path's type, or int
// for a length or a capacity. ok is false if the kernel can't filter by the number.
func (b *Builder) Field(path string, part Part) (name string, t *gotype.Type, ok bool) {
	t, s, err := b.walk(path)
	// The number must be in a register or on the stack. Behind a pointer, the kernel would read 0 if the memory is not
	// readable, and the filter would drop calls because of that.
	if err != nil || s.reason != "" || s.base != "" || len(s.guards) > 0 || b.opt.Resume != 0 {
		return "", nil, false
	}
	switch kind := t.Kind; {
	case part == Cap && kind == reflect.Slice:
		t, s = intType, s.at(16)
	case part == Len && (kind == reflect.String || kind == reflect.Slice):
		t, s = intType, s.at(8)
	case part != Whole:
		return "", nil, false
	}
	typ := map[reflect.Kind]string{reflect.Int: "s", reflect.Uint: "u", reflect.Bool: "u", reflect.Pointer: "u", reflect.UnsafePointer: "u"}[t.Kind]
	text, shift, reason := s.text(b, t.Size)
	// Kernels that fetch only from registers print unsigned numbers in hexadecimal without 0x: 10 for 16.
	if reason != "" || shift != 0 || typ == "" || typ == "u" && !b.opt.Memory {
		return "", nil, false
	}
	at, reason := b.fetch(text, typ+strconv.FormatInt(8*t.Size, 10), 0, int(t.Size))
	if reason != "" {
		return "", nil, false
	}
	b.fixedOrder = true
	return "v" + strconv.Itoa(slices.IndexFunc(b.args, func(a arg) bool { return a.at == at })), t, true
}
