package gotype

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// wordTypes are types of one 8-byte word, whatever their elements are. Their text is the keyword alone, or begins with
// the keyword and one of the bytes in next.
var wordTypes = []struct {
	keyword, next string
	kind          reflect.Kind
}{
	{"map", "[", reflect.Map}, {"chan", " <", reflect.Chan}, {"<-chan", " <", reflect.Chan}, {"func", "(", reflect.Func},
}

// Parse returns the type that text spells as Go source files do; "ptr" is short for unsafe.Pointer. The element type of
// a pointer or slice may be unknown: Elem of the pointer or slice then returns nil. find looks up a type of the program
// by its name.
func Parse(text string, find func(name string) (*Type, bool)) (*Type, error) {
	text = strings.TrimSpace(text)
	if text == "ptr" {
		text = "unsafe.Pointer"
	}
	if t, ok := Basic(text); ok {
		return t, nil
	}
	for _, w := range wordTypes {
		if begins(text, w.keyword, w.next) {
			if t, ok := find(text); ok && t.Kind == w.kind {
				return t, nil // the program's type also has the element type
			}
			return &Type{Name: text, Kind: w.kind, Size: 8, Align: 8}, nil
		}
	}
	for prefix, leadingTo := range map[string]func(elem *Type) *Type{"*": PointerTo, "[]": SliceOf, "...": SliceOf} {
		rest, ok := strings.CutPrefix(text, prefix)
		if !ok {
			continue
		}
		elem, err := Parse(rest, find)
		if errors.Is(err, errUnknown) {
			t := leadingTo(&Type{Name: rest})
			t.elem = nil
			return t, nil
		} else if err != nil {
			return nil, err
		}
		return leadingTo(elem), nil
	}
	switch {
	case strings.HasPrefix(text, "["):
		return parseArray(text, find)
	case begins(text, "interface", "{ "):
		methods := strings.TrimSpace(strings.TrimPrefix(text, "interface")) != "{}"
		return &Type{Name: text, Kind: reflect.Interface, Size: 16, Align: 8, Methods: methods}, nil
	case text == "struct{}", text == "struct {}":
		return &Type{Name: "struct {}", Kind: reflect.Struct, Align: 1}, nil
	}
	if t, ok := find(text); ok {
		return t, nil
	}
	if !spelling().MatchString(text) {
		return nil, fmt.Errorf("type %q: not a type", text)
	}
	return nil, fmt.Errorf("type %q: %w", text, errUnknown)
}

func begins(text, keyword, next string) bool {
	rest, ok := strings.CutPrefix(text, keyword)
	return ok && (rest == "" || strings.IndexByte(next, rest[0]) >= 0)
}

var errUnknown = errors.New("neither predeclared nor known of this program: say int, uint64, bool, string, []byte, error, any, ptr or a type that is")

// spelling matches type names: "T", "net/http.Request", "main.G[int]".
var spelling = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[\pL_][\pL\p{Nd}_./~%-]*(\[.*\])?$`)
})

func parseArray(text string, find func(name string) (*Type, bool)) (*Type, error) {
	number, rest, _ := strings.Cut(text[1:], "]")
	length, err := strconv.ParseInt(number, 10, 32)
	if err != nil || length < 0 {
		return nil, fmt.Errorf("type %q: bad length of an array", text)
	}
	elem, err := Parse(rest, find)
	if err != nil {
		return nil, err
	}
	if elem.Size < 0 || length > 0 && elem.Size > (1<<40)/length {
		return nil, fmt.Errorf("type %q: too large", text)
	}
	return &Type{
		Name: "[" + number + "]" + elem.Name, Kind: reflect.Array, Size: length * elem.Size, Align: elem.Align, Len: length,
		elem: func() *Type { return elem },
	}, nil
}
