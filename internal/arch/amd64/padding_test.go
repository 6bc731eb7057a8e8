package amd64

import "testing"

func TestTrim(t *testing.T) {
	for _, c := range []struct {
		name, code string
		want       int
	}{
		{"none", "90 c3", 2},
		{"int3", "90 c3 cc cc cc", 2},
		{"zeros", "90 c3 00 00 00", 2},
		{"a jump that ends in zeros", "e9 10 00 00 00 00 00", 5},
		{"a jump that ends in zeros, without padding", "e9 10 00 00 00", 5},
		{"a short jump that looks like int3", "90 eb cc cc cc", 3},
		{"int3 within", "cc c3 cc", 2},
		{"nothing else", "cc cc", 1},
		{"undecodable", "06 c3 cc cc", 2},
		{"no bytes", "", 0},
	} {
		if got := Processor.Trim(unhex(t, c.code)); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
}
