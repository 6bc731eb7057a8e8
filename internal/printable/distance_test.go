package printable

import (
	"slices"
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	long := strings.Repeat("x", maxCompared)
	for _, tt := range []struct {
		scenario, a, b string
		want           int
	}{
		{"equal", "get", "get", 0},
		{"empty", "", "", 0},
		{"to nothing", "get", "", 3},
		{"deletion", "gett", "get", 1},
		{"substitution", "got", "get", 1},
		{"swap", "gte", "get", 1},
		{"no edit inside a swap", "ca", "abc", 3},
		{"as long as can be", long, "y" + long[1:], 1},
		{"nothing in common", long, strings.Repeat("y", maxCompared), maxCompared},
		{"too long to compare", long + "x", long, maxCompared + 1},
		{"too long to compare, but equal", long + "x", long + "x", 0},
	} {
		if got := Distance(tt.a, tt.b); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
		if got := Distance(tt.b, tt.a); got != tt.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
		}
	}
}

func TestDidYouMean(t *testing.T) {
	words := []string{"probe", "count", "trace", "watch", "--sort", "--stack"}
	for text, want := range map[string]string{
		"prob": "probe", "p": "", "prbe": "probe", "cuont": "count", "--sot": "--sort", "--st": "--stack", "frob": "", "": "",
	} {
		if want != "" {
			want = ": did you mean " + want + "?"
		}
		if got := DidYouMean(text, slices.Values(words)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
