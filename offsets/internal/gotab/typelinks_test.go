package gotab

import "testing"

// TestAsTheRuntime: predeclared types have the runtime's names, but not the packages that are called like them.
func TestAsTheRuntime(t *testing.T) {
	for name, want := range map[string]string{
		"[]byte": "[]uint8", "map[rune]any": "map[int32]interface {}", "*[4]byte": "*[4]uint8", "main.G[byte,string]": "main.G[uint8,string]",
		"*any.Any": "*any.Any", "example.com/any.T": "example.com/any.T", "rune.byte": "rune.byte", "bytes.Buffer": "bytes.Buffer",
	} {
		if got := asTheRuntime(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestTellApart: the error of a name that several types have says what to write instead.
func TestTellApart(t *testing.T) {
	many := []string{"a/http", "b/http", "c/http", "d/http", "e/http", "f/http", "g/http"}
	for _, c := range []struct {
		short string
		paths []string
		want  string
	}{
		{"*http.Request", []string{"net/http", "example.com/sdk.v2/http", "net/http"}, "write *example.com/sdk.v2/http.Request or *net/http.Request"},
		{"http.List[http.Request]", []string{"net/http", ""}, "write net/http.List[http.Request]; the package of another is not known"},
		{"*http.Request", many, "write *a/http.Request or *b/http.Request or *c/http.Request or *d/http.Request or *e/http.Request or 2 more"},
		{"func()", []string{"", ""}, "their packages are not known"},
	} {
		if got := tellApart(c.short, c.paths); got != c.want {
			t.Errorf("%s of %q: %s, want %s", c.short, c.paths, got, c.want)
		}
	}
}
