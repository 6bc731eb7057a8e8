package parse

import (
	"strconv"
	"strings"
	"testing"
)

// TestDecimal compares with strconv at every length, before every byte, with and
// without room for reading eight bytes at once.
func TestDecimal(t *testing.T) {
	const source = "98765432101234567890999"
	for length := range len(source) + 1 {
		for end := range 256 {
			if end >= '0' && end <= '9' {
				continue
			}
			for _, behind := range []string{"", "12345678"} {
				text := source[:length]
				line := "x=" + text + string([]byte{byte(end)}) + behind
				v, next, ok := decimal([]byte(line), 2)
				want, err := strconv.ParseUint(text, 10, 64)
				switch {
				case err == nil && (v != want || next != 2+length || !ok):
					t.Fatalf("%q: %d, next %d, %v, want %d", line, v, next, ok, want)
				case err != nil && ok:
					t.Fatalf("%q: %d, want a refusal", line, v)
				}
			}
		}
	}
}

func TestDecimalAtTheLimit(t *testing.T) {
	for _, test := range []struct {
		text string
		want bool
	}{
		{"18446744073709551615", true},
		{"18446744073709551616", false},
		{"18446744073709551620", false},
		{"99999999999999999999", false},
		{strings.Repeat("9", 100), false},
		{"", false},
	} {
		t.Run(test.text, func(t *testing.T) {
			for _, behind := range []string{"", " ", " g=1 id=2"} {
				if _, _, ok := decimal([]byte(test.text+behind), 0); ok != test.want {
					t.Errorf("before %q: %v, want %v", behind, ok, test.want)
				}
			}
		})
	}
}
