package render

import (
	"bytes"
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

func TestASCII(t *testing.T) {
	var b bytes.Buffer
	n, err := ASCII(&b).Write([]byte("main.f… 1.2µs ▁▄█ é"))
	if want := "main.f~ 1.2us .:# é"; err != nil || n != len("main.f… 1.2µs ▁▄█ é") || b.String() != want {
		t.Errorf("%d, %v: %q, want %q", n, err, b.String(), want)
	}
	if _, err := ASCII(brokenWriter{}).Write([]byte("µ")); err == nil {
		t.Error("no error")
	}
}
