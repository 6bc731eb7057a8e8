package cli

import "testing"

func TestNextPart(t *testing.T) {
	for _, c := range [][3]string{
		{"", "net/http.Get", "net/"}, {"net/", "net/http.Get", "net/http."}, {"n", "net.Dial", "net."},
		{"net/http.", "net/http.Transport.Clone", "net/http.Transport."}, {"m", "memmove", "memmove"},
		{"g", "github.com/a/b.F", "github.com/"}, {"github.com/a/b.", "github.com/a/b.F", "github.com/a/b.F"},
	} {
		if got := nextPart(c[1], len(c[0])); got != c[2] {
			t.Errorf("nextPart(%q) behind %q = %q, want %q", c[1], c[0], got, c[2])
		}
	}
}
