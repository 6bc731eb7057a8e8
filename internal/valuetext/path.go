package valuetext

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/valuepath"
	"github.com/ftgo/ftgo/offsets/gotype"
)

var intType, _ = gotype.Basic("int")

// Path leads to a value, or to its length or capacity.
type Path struct {
	text string
	valuepath.Path
	// prefixes are the path's beginnings, without stars: "s", "s.items", "s.items[0]", …
	prefixes []string
	// part is what alone is asked for.
	part capture.Part
}

// ParsePath reads a path.
func ParsePath(text string) (p Path, err error) {
	p.text = text
	p.part, text = CutPart(text)
	p.Path, err = valuepath.Parse(text)
	for n := range p.Steps {
		p.prefixes = append(p.prefixes, p.Prefix(n+1))
	}
	return p, err
}

// CutPart takes len(…) or cap(…) off a path.
func CutPart(text string) (part capture.Part, path string) {
	for _, part := range [...]capture.Part{capture.Len, capture.Cap} {
		if inner, found := strings.CutPrefix(text, string(part)+"("); found && strings.HasSuffix(inner, ")") {
			return part, strings.TrimSuffix(inner, ")")
		}
	}
	return capture.Whole, text
}

// Find returns the value that the path leads to: one that was fetched under this
// name, or a part of one that was fetched under the path's beginning. It is nil if
// there is none.
func (p *Path) Find(values []capture.Value) *capture.Value {
	named := func(name string) *capture.Value {
		if i := slices.IndexFunc(values, func(v capture.Value) bool { return v.Name == name }); i >= 0 {
			return &values[i]
		}
		return nil
	}
	if v := named(p.text); v != nil {
		return v
	}
	for n := len(p.prefixes); n > 0; n-- {
		v := named(p.prefixes[n-1])
		if v == nil {
			continue
		}
		for _, s := range p.Steps[n:] {
			if v = step(v, s); v == nil {
				return nil
			}
		}
		for range p.Stars {
			v = pointee(v)
		}
		return p.partOf(v)
	}
	return nil
}

// partOf is the value, or its length or capacity, which may be known where the rest is
// unreadable. It is nil if values of its type have none.
func (p *Path) partOf(v *capture.Value) *capture.Value {
	for p.part != capture.Whole && isReference(v) {
		v = pointee(v)
	}
	if n, ok := v.Measure(p.part); ok {
		return &capture.Value{Type: intType, Num: uint64(n)}
	} else if p.part == capture.Whole || v.Type == nil || !known(v) {
		return v
	}
	return nil
}

// step goes into a field or an element, through pointers and interfaces on the way.
// It is nil if v's type has no such part.
func step(v *capture.Value, s string) *capture.Value {
	for isReference(v) {
		v = pointee(v)
	}
	switch {
	case !known(v):
		return v
	case s[0] != '[':
		return promoted(v, s, 4)
	}
	i, err := strconv.Atoi(s[1 : len(s)-1])
	switch {
	case err == nil && i < len(v.Items):
		return &v.Items[i]
	case int64(i) < v.Len:
		return Missing(capture.Unfetched, "")
	}
	return Missing(capture.Unreadable, "index out of range")
}

// promoted returns a field of a struct or of one embedded in it.
func promoted(v *capture.Value, name string, depth int) *capture.Value {
	if f := fieldOf(v, name); f != nil || depth == 0 || v.Type == nil {
		return f
	}
	for i := range v.Type.Fields {
		if !v.Type.Fields[i].Embedded {
			continue
		}
		in := fieldOf(v, v.Type.Fields[i].Name)
		for isReference(in) {
			in = pointee(in)
		}
		if known(in) {
			if f := promoted(in, name, depth-1); f != nil {
				return f
			}
		}
	}
	return nil
}

func isReference(v *capture.Value) bool {
	return known(v) && v.Type != nil && (v.Type.Kind == reflect.Pointer || v.Type.Kind == reflect.Interface)
}

// pointee returns what a pointer points to or an interface holds.
func pointee(v *capture.Value) *capture.Value {
	switch {
	case !isReference(v):
		return v
	case v.Nil():
		return Missing(capture.Unreadable, "nil pointer")
	case v.Elem == nil:
		return Missing(capture.Unfetched, "")
	}
	return v.Elem
}

// Missing stands for a value that is not there.
func Missing(state capture.State, why string) *capture.Value {
	return &capture.Value{Type: &gotype.Type{}, State: state, Why: why}
}

// Text is the path as it was written.
func (p *Path) Text() string { return p.text }
