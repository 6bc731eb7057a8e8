package render

import (
	"testing"
)

func TestSpark(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{nil, ""}, {[]float64{0, 0}, "  "}, {[]float64{5}, "█"}, {[]float64{0, 1, 4, 8}, " ▂▅█"}, {[]float64{1e-9, 1e9}, "▁█"},
	} {
		if got := spark(c.values); got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}
