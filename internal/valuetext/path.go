package valuetext

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/valuepath"
	"github.com/ftgo/ftgo/offsets/gotype"
)

var intType, _ = gotype.Basic("int")

// Path leads to a value that was fetched, or to its length or capacity.
type Path struct {
	text, name string
	// part is what alone is asked for.
	part capture.Part
}

// ParsePath reads a path.
func ParsePath(text string) (p Path, err error) {
	p.text = text
	p.part, p.name = CutPart(text)
	_, err = valuepath.Parse(p.name)
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

// Find returns the value that was fetched under the path, or its length or capacity, which may
// be known where the rest is unreadable. It is nil if there is none.
func (p *Path) Find(values []capture.Value) *capture.Value {
	i := slices.IndexFunc(values, func(v capture.Value) bool { return v.Name == p.name })
	if i < 0 {
		return nil
	}
	v := &values[i]
	if p.part == capture.Whole {
		return v
	}
	for known(v) && v.Type != nil && (v.Type.Kind == reflect.Pointer || v.Type.Kind == reflect.Interface) {
		switch {
		case v.Nil():
			return Missing(capture.Unreadable, "nil pointer")
		case v.Elem == nil:
			return Missing(capture.Unfetched, "")
		}
		v = v.Elem
	}
	if n, ok := v.Measure(p.part); ok {
		return &capture.Value{Type: intType, Num: uint64(n)}
	} else if v.Type == nil || !known(v) {
		return v
	}
	return nil
}

// Missing stands for a value that is not there.
func Missing(state capture.State, why string) *capture.Value {
	return &capture.Value{Type: &gotype.Type{}, State: state, Why: why}
}

// Text is the path as it was written.
func (p *Path) Text() string { return p.text }
