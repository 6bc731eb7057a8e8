package capture

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/offsets"
)

// paths plans the fetching of what paths lead to, and, if reveal is set, of the types that variables of generic
// code have.
func (b *Builder) paths(paths []string, reveal bool) ([]*node, error) {
	var nodes []*node
	for _, path := range paths {
		t, s, err := b.walk(path)
		if err != nil {
			return nil, err
		}
		if s.search != nil {
			nodes = append(nodes, b.found(path, t, s))
			continue
		}
		n := b.value(path, t, s, 1)
		if i := slices.IndexFunc(b.vars, func(v offsets.Variable) bool { return v.Name == path }); i >= 0 && reveal {
			b.reveal(n, &b.vars[i], s)
		}
		nodes = append(nodes, n)
	}
	return nodes, nil
}

// walk goes where a path leads to. Behind what can't be fetched it knows the types still.
func (b *Builder) walk(path string) (t *gotype.Type, s source, err error) {
	steps, err := ParsePath(path)
	if err != nil {
		return nil, s, fmt.Errorf("read path %q: %w", path, err)
	}
	v, err := b.variable(steps[0])
	if err != nil {
		return nil, s, fmt.Errorf("read path %q: %w", path, err)
	}
	t, s = b.root(&v)
	for _, step := range steps[1:] {
		if s.why != "" && t.Kind == reflect.Invalid {
			break
		}
		if t, s, err = b.step(t, s, step); err != nil {
			return nil, s, fmt.Errorf("read path %q: %w", path, err)
		}
	}
	return t, s, nil
}

// variable is the one that a path begins with.
func (b *Builder) variable(name string) (offsets.Variable, error) {
	names := make([]string, len(b.vars))
	for i := range b.vars {
		if names[i] = b.vars[i].Name; names[i] == name {
			return b.vars[i], nil
		}
	}
	switch {
	case Register(name) > 0:
		return b.opt.Variable(name)
	case len(names) == 0:
		return offsets.Variable{}, fmt.Errorf("no variable %q; none is known", name)
	}
	return offsets.Variable{}, fmt.Errorf("no variable %q; there are %s", name, strings.Join(names, ", "))
}

// step goes into a field, an element, what an interface holds, or through a pointer ("*").
func (b *Builder) step(t *gotype.Type, s source, step string) (*gotype.Type, source, error) {
	if step[0] == '(' {
		return b.assert(t, s, step[1:len(step)-1])
	}
	if t.Kind == reflect.Pointer {
		elem := t.Elem()
		if elem == nil {
			return t, s, fmt.Errorf("what %s points to is not known", t.Name)
		}
		to, _ := b.follow(s, elem)
		if step == "*" {
			return elem, to, nil
		}
		t, s = elem, to
	}
	switch {
	case step == "*":
		return t, s, fmt.Errorf("%s is no pointer", t.Name)
	case step[0] == '[' && t.Kind == reflect.Map:
		return b.lookup(t, s, step[1:len(step)-1])
	case step[0] == '[':
		return b.element(t, s, step)
	case t.Kind == reflect.Interface:
		return t, s, fmt.Errorf("%s has no fields (%q): say what it holds, as in x.(*T).%[2]s", t.Name, step)
	case t.Kind != reflect.Struct:
		return t, s, fmt.Errorf("%s has no fields (%q)", t.Name, step)
	}
	chain := field(t, step, 4)
	if chain == nil {
		return t, s, fmt.Errorf("%s has no field %q%s", t.Name, step, printable.DidYouMean(step, fieldNames(t)))
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
	length, why := b.scalar(s.at(8), 8, true)
	to, _ := b.follow(s, elem)
	to.why = cmp.Or(why, to.why)
	return elem, to.behind(guard{length: length, item: i}).at(i * elem.Size), nil
}

// isWord tells whether a type says of its values no more than that they are words, which may be pointers.
func isWord(t *gotype.Type) bool {
	switch t.Kind {
	case reflect.Int, reflect.Uint, reflect.UnsafePointer:
		return t.Size == 8
	case reflect.Pointer:
		return t.Elem() == nil || t.Elem().Kind == reflect.Invalid
	}
	return false
}

// assert goes to what an interface holds, of a type by name. What is only known to be a word may be
// a pointer.
func (b *Builder) assert(t *gotype.Type, s source, name string) (*gotype.Type, source, error) {
	as, err := b.opt.Type(name)
	switch {
	case err != nil:
		return t, s, err
	case as.Kind == reflect.Interface:
		return t, s, fmt.Errorf("%s is an interface: .(TYPE) takes the type of what one holds", name)
	case doubtful(t):
		return t, s, errDoubtful
	case isWord(t) && as.Kind == reflect.Pointer:
		return as, s, nil
	case t.Kind != reflect.Interface:
		return t, s, fmt.Errorf("%s is no interface: .(%s)", t.Name, name)
	}
	g := guard{at: s.off, holds: as, methods: t.Methods}
	types, pointer := b.follow(s, nil)
	if g.pointer = pointer; t.Methods {
		g.itab, types.why = b.scalar(types.at(8), 8, false)
	}
	s.why = cmp.Or(s.why, types.why)
	data := s.at(8).behind(g)
	if !as.Direct {
		data, _ = b.follow(data, as)
	}
	return as, data, nil
}

// fieldNames are those of a struct's own fields.
func fieldNames(t *gotype.Type) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := 0; i < len(t.Fields) && yield(t.Fields[i].Name); i++ {
		}
	}
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

// Type is the type of what a path leads to. Words that may be another argument's have none: what is compared or
// counted of them would not show the doubt.
func (b *Builder) Type(path string) (*gotype.Type, error) {
	t, _, err := b.walk(path)
	if err == nil && doubtful(t) {
		return nil, fmt.Errorf("read path %q: %w", path, errDoubtful)
	}
	return t, err
}

var errDoubtful = errors.New("it may be another argument: parameters have no types")

// doubtful tells of words that may be another argument's.
func doubtful(t *gotype.Type) bool { return t.IsWord() && strings.Contains(t.Name, "?") }

// Field fetches a number for the kernel to filter by: what a path leads to, or a part of that. It returns
// the name of the event's field, which is as wide as the type, and signed if that is: the variable's, int for
// a length or a capacity.
func (b *Builder) Field(path string, part Part) (name string, t *gotype.Type, ok bool) {
	t, s, err := b.walk(path)
	// The number must come from a register or the stack: what lies behind a pointer reads as 0 where it can't
	// be read, which is no reason to drop a call.
	if err != nil || s.why != "" || s.inner != "" || len(s.guards) > 0 {
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
	typ := "u"
	switch t.Kind {
	case reflect.Int:
		typ = "s"
	case reflect.Uint, reflect.Bool, reflect.Pointer, reflect.UnsafePointer:
		// Kernels that fetch from registers alone print unsigned numbers in their own way: 10 for 16.
		if !b.opt.Memory {
			return "", nil, false
		}
	default:
		return "", nil, false
	}
	text, shift, why := s.text(b, t.Size)
	if why != "" || shift != 0 {
		return "", nil, false
	}
	at, why := b.fetch(text, typ+strconv.FormatInt(8*t.Size, 10), 0, int(t.Size))
	if why != "" {
		return "", nil, false
	}
	b.named = true
	return "v" + strconv.Itoa(slices.IndexFunc(b.args, func(a arg) bool { return a.at == at })), t, true
}
