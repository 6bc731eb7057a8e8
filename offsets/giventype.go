package offsets

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// typeSpelling is what a type may be called: "T", "net/http.Request", "main.G[int]".
var typeSpelling = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL_][\pL\p{Nd}_./~%-]*(\[.*\])?$`)
})

// typeNamed finds a type as debug information names it: "main.T", "time.Duration",
// "map[string]int".
func (b *Binary) typeNamed(name string) (*gotype.Type, bool) {
	d, err := b.debug()
	if err != nil {
		return nil, false
	}
	return d.TypeNamed(name)
}

// givenType makes a type of its spelling in a source file, of which "ptr" is one more:
// a pointer to anything. What a pointer or a slice leads to need not be known. named finds
// types of the program.
func givenType(text string, named func(string) (*gotype.Type, bool)) (*gotype.Type, error) {
	text = strings.TrimSpace(text)
	if text == "ptr" {
		text = "unsafe.Pointer"
	}
	if t, ok := gotype.Basic(text); ok {
		return t, nil
	}
	word := func(kind reflect.Kind) (*gotype.Type, error) {
		if t, ok := named(text); ok && t.Kind == kind {
			return t, nil // which tells more: what its elements are
		}
		return &gotype.Type{Name: text, Kind: kind, Size: 8, Align: 8}, nil
	}
	switch {
	case strings.HasPrefix(text, "*"):
		elem, err := givenElem(text[1:], named)
		if elem != nil {
			return gotype.PointerTo(elem), nil
		}
		return &gotype.Type{Name: text, Kind: reflect.Pointer, Size: 8, Align: 8}, err
	case strings.HasPrefix(text, "[]"), strings.HasPrefix(text, "..."):
		rest, variadic := strings.CutPrefix(text, "...")
		if !variadic {
			rest = text[len("[]"):]
		}
		elem, err := givenElem(rest, named)
		if elem != nil {
			return gotype.SliceOf(elem), nil
		}
		return &gotype.Type{Name: "[]" + rest, Kind: reflect.Slice, Size: 24, Align: 8}, err
	case strings.HasPrefix(text, "["):
		return givenArray(text, named)
	case is(text, "map", "["):
		return word(reflect.Map)
	case is(text, "chan", " <"), is(text, "<-chan", " <"):
		return word(reflect.Chan)
	case is(text, "func", "("):
		return word(reflect.Func)
	case is(text, "interface", "{ "):
		methods := strings.TrimSpace(strings.TrimPrefix(text, "interface")) != "{}"
		return &gotype.Type{Name: text, Kind: reflect.Interface, Size: 16, Align: 8, Methods: methods}, nil
	case text == "struct{}", text == "struct {}":
		return &gotype.Type{Name: "struct {}", Kind: reflect.Struct, Align: 1}, nil
	}
	if t, ok := named(text); ok {
		return t, nil
	}
	return nil, &unknownTypeError{text}
}

// unknownTypeError is a type that is known by name only.
type unknownTypeError struct{ name string }

func (e *unknownTypeError) Error() string {
	if !typeSpelling().MatchString(e.name) {
		return fmt.Sprintf("type %q: not a type", e.name)
	}
	return fmt.Sprintf("type %q: neither predeclared nor in debug information", e.name)
}

// givenElem is givenType for what need not be known: nil if it isn't.
func givenElem(text string, named func(string) (*gotype.Type, bool)) (*gotype.Type, error) {
	t, err := givenType(text, named)
	if e, ok := err.(*unknownTypeError); ok && typeSpelling().MatchString(e.name) {
		return nil, nil
	}
	return t, err
}

// is tells whether a type begins with a keyword: it is all, or one of next follows.
func is(text, keyword, next string) bool {
	rest, ok := strings.CutPrefix(text, keyword)
	return ok && (rest == "" || strings.IndexByte(next, rest[0]) >= 0)
}

func givenArray(text string, named func(string) (*gotype.Type, bool)) (*gotype.Type, error) {
	number, rest, _ := strings.Cut(text[1:], "]")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 0 {
		return nil, fmt.Errorf("type %q: bad length of an array", text)
	}
	elem, err := givenType(rest, named)
	if err != nil {
		return nil, err
	}
	if elem.Size < 0 || n > 0 && elem.Size > (1<<40)/n {
		return nil, fmt.Errorf("type %q: too large", text)
	}
	t := &gotype.Type{Name: "[" + number + "]" + elem.Name, Kind: reflect.Array, Size: n * elem.Size, Align: elem.Align, Len: n}
	t.SetElem(func() *gotype.Type { return elem })
	return t, nil
}
