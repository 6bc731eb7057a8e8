package capture

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/valuepath"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// path plans the fetching of what a path leads to.
func (b *Builder) path(path string) (*node, error) {
	t, s, why, err := b.walk(path)
	if err != nil {
		return nil, err
	}
	if why != "" {
		return &node{name: path, typ: known(t), why: why}, nil
	}
	return b.value(path, t, s, 1), nil
}

// walk goes where a path leads to. why is set if it can't be fetched.
func (b *Builder) walk(path string) (t *gotype.Type, s source, why string, err error) {
	parsed, err := valuepath.Parse(path)
	if err != nil {
		return nil, s, "", fmt.Errorf("read path %q: %w", path, err)
	}
	steps := parsed.Steps
	var v *offsets.Variable
	for i := range b.vars {
		if b.vars[i].Name == steps[0] {
			v = &b.vars[i]
		}
	}
	switch {
	case v == nil:
		return nil, s, "", fmt.Errorf("read path %q: no variable %q%s", path, steps[0], among(b.vars))
	case v.Err != nil:
		return v.Type, s, v.Err.Error(), nil
	}
	t = known(v.Type)
	if s, why = b.root(v); why != "" {
		return t, s, why, nil
	}
	for _, step := range append(steps[1:], slices.Repeat([]string{"*"}, parsed.Stars)...) {
		if t, s, why, err = b.step(t, s, step); err != nil {
			return nil, s, "", fmt.Errorf("read path %q: %w", path, err)
		}
		if why != "" {
			return t, s, why, nil
		}
	}
	return t, s, "", nil
}

func among(vars []offsets.Variable) string {
	if len(vars) == 0 {
		return "; none is known"
	}
	names := make([]string, len(vars))
	for i := range vars {
		names[i] = vars[i].Name
	}
	return "; there are " + strings.Join(names, ", ")
}

// step goes into a field, an element, or through a pointer ("*").
func (b *Builder) step(t *gotype.Type, s source, step string) (*gotype.Type, source, string, error) {
	if t.Kind == reflect.Pointer {
		elem := t.Elem()
		if elem == nil {
			return t, s, "", fmt.Errorf("what %s points to is not known", t.Name)
		}
		to, _, why := b.follow(s, 0)
		to.align = elem.Align
		if step == "*" || why != "" {
			return elem, to, why, nil
		}
		t, s = elem, to
	}
	switch {
	case step == "*":
		return t, s, "", fmt.Errorf("%s is no pointer", t.Name)
	case step[0] == '[':
		return b.element(t, s, step)
	case t.Kind != reflect.Struct:
		return t, s, "", fmt.Errorf("%s has no fields (%q)", t.Name, step)
	}
	chain := field(t, step, 4)
	if chain == nil {
		return t, s, "", fmt.Errorf("%s has no field %q", t.Name, step)
	}
	for i, f := range chain {
		s = s.at(f.Offset)
		if t = f.Type; i+1 < len(chain) && t.Kind == reflect.Pointer {
			to, _, why := b.follow(s, 0)
			if why != "" {
				return t, s, why, nil
			}
			if elem := t.Elem(); elem != nil {
				to.align = elem.Align
			}
			s = to
		}
	}
	return t, s, "", nil
}

func (b *Builder) element(t *gotype.Type, s source, step string) (*gotype.Type, source, string, error) {
	i, _ := strconv.ParseInt(step[1:len(step)-1], 10, 64)
	elem := t.Elem()
	switch {
	case elem == nil || t.Kind != reflect.Slice && t.Kind != reflect.Array:
		return t, s, "", fmt.Errorf("%s has no elements (%s)", t.Name, step)
	case t.Kind == reflect.Array && i >= t.Len:
		return t, s, "", fmt.Errorf("%s has no element %s", t.Name, step)
	case t.Kind == reflect.Array:
		return elem, s.at(i * elem.Size), "", nil
	}
	length, why := b.scalar(s, 8, 8, true)
	if why != "" {
		return t, s, why, nil
	}
	to, _, why := b.follow(s, 0)
	to.guards = append(to.guards, guard{length: length, item: i})
	to.align = elem.Align
	return elem, to.at(i * elem.Size), why, nil
}

// field finds a field by name, and through embedded ones: the way there.
func field(t *gotype.Type, name string, depth int) []*gotype.Field {
	for i := range t.Fields {
		if t.Fields[i].Name == name {
			return []*gotype.Field{&t.Fields[i]}
		}
	}
	if depth == 0 {
		return nil
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if !f.Embedded {
			continue
		}
		in := f.Type
		if in.Kind == reflect.Pointer {
			if in = in.Elem(); in == nil {
				continue
			}
		}
		if way := field(in, name, depth-1); way != nil {
			return append([]*gotype.Field{f}, way...)
		}
	}
	return nil
}
