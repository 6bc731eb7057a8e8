package printable

import (
	"strings"
	"testing"
)

func TestShorten(t *testing.T) {
	for _, test := range []struct {
		name  string
		in    string
		width int
		want  string
	}{
		{"fits", "github.com/a/b/pkg.(*T).Method", 30, "github.com/a/b/pkg.(*T).Method"},
		{"path goes first", "github.com/a/b/pkg.(*T).Method", 29, "pkg.(*T).Method"},
		{"then the middle", "github.com/a/pkg.(*LongTypeName).LongMethod", 21, "pkg.(*Long…LongMethod"},
		{"slashes of type arguments stay", "main.Map[github.com/x/y.T]", 20, "main.Map[g…om/x/y.T]"},
		{"path before type arguments", "example.org/m/pkg.Map[example.org/x.T]", 30, "pkg.Map[example.org/x.T]"},
		{"wide letters are two columns", "世界世界世界", 7, "世…界"},
		{"nothing left", "main.f", 1, "…"},
	} {
		got := Shorten(test.in, test.width)
		if got != test.want {
			t.Errorf("Shorten(%q, %d) = %q, want %q", test.in, test.width, got, test.want)
		}
	}
}

func TestShortNames(t *testing.T) {
	for _, test := range []struct{ names, want string }{
		{"github.com/a/http.(*Server).Serve net/http.(*conn).serve main.f", "http.(*Server).Serve http.(*conn).serve main.f"},
		{"p.F x/p.F y/p.G", "p.F x/p.F p.G"},
		{"github.com/a/b/v2.F github.com/a/b/v2/c.F example.org/v2x.F", "b/v2.F c.F v2x.F"},
		{"a/p.Map[go.shape.*b/q.T] c/p.(*G[b/q.T]).Get(x/y.Z)", "p.Map[go.shape.*b/q.T] p.(*G[b/q.T]).Get(x/y.Z)"},
	} {
		names := strings.Fields(test.names)
		short := ShortNames(names)
		var got []string
		for _, name := range names {
			got = append(got, short[name])
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %s, want %s", test.names, got, test.want)
		}
	}
}

// FuzzShorten checks that shortened names fit into their width.
func FuzzShorten(f *testing.F) {
	f.Add("github.com/a/b/pkg.(*T).Method")
	f.Add("世界世界世界")
	f.Fuzz(func(t *testing.T, s string) {
		text := Text(s)
		for width := range 12 {
			if short := Shorten(text, width); Columns(short) > max(width, 1) {
				t.Fatalf("Shorten(%q, %d) = %q takes %d columns", text, width, short, Columns(short))
			}
		}
	})
}
