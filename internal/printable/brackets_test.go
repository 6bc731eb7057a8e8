package printable

import "testing"

func TestClosing(t *testing.T) {
	for _, c := range []struct {
		scenario, s string
		i, want     int
	}{
		{"nested", "f(g[h]{i})(j)", 1, 10},
		{"in a struct tag", `[struct { A int "json:\"a]]b.(*c\"" }].F`, 0, 38},
		{"never closed", "a[b", 1, -1},
		{"open string", `a["]`, 1, -1},
		{"string that ends in a backslash", `a["\`, 1, -1},
	} {
		if got := Closing(c.s, c.i); got != c.want {
			t.Errorf("Closing(%q, %d) = %d, want %d", c.s, c.i, got, c.want)
		}
	}
}

func TestCutOutside(t *testing.T) {
	for _, c := range []struct{ scenario, s, separators, part, tail string }{
		{"first of several", "a.b,c", ",.", "a", ".b,c"},
		{"behind brackets", "a[b,c](d,e),f", ",", "a[b,c](d,e)", ",f"},
		{"in brackets only", "{a,b}", ",", "{a,b}", ""},
		{"behind one that never closes", "a[b,c", ",", "a[b,c", ""},
		{"beyond ASCII", "init·1", ".·", "init", "·1"},
		{"half of a separator", "µs\xc2", ".·", "µs\xc2", ""},
		{"empty", "", ",", "", ""},
	} {
		if part, tail := CutOutside(c.s, c.separators); part != c.part || tail != c.tail {
			t.Errorf("CutOutside(%q, %q) = %q, %q, want %q, %q", c.s, c.separators, part, tail, c.part, c.tail)
		}
	}
}
