package printable

import (
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
		{"path goes first", "github.com/a/b/pkg.(*T).Method", 29, "…/pkg.(*T).Method"},
		{"then the middle", "github.com/a/b/pkg.(*T).Method", 16, "…/pkg.(*….Method"},
		{"no path", "main.(*LongTypeName).LongMethod", 21, "main.(*Lon…LongMethod"},
		{"slashes of type arguments stay", "main.Map[github.com/x/y.T]", 20, "main.Map[g…om/x/y.T]"},
		{"path before type arguments", "example.org/m/pkg.Map[example.org/x.T]", 30, "…/pkg.Map[example.org/x.T]"},
		{"wide letters are two columns", "世界世界世界", 7, "世…界"},
		{"nothing left", "main.f", 1, "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Shorten(test.in, test.width)
			if got != test.want {
				t.Errorf("Shorten(%q, %d) = %q, want %q", test.in, test.width, got, test.want)
			}
		})
	}
}

// FuzzShorten checks that what is shortened fits.
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
