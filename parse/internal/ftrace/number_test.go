package ftrace

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
				v, next, msg := decimal([]byte(line), 2)
				want, err := strconv.ParseUint(text, 10, 64)
				switch {
				case err == nil && (v != want || next != 2+length || msg != ""):
					t.Fatalf("%q: %d, next %d, %q, want %d", line, v, next, msg, want)
				case err != nil && (next != 2 || msg == ""):
					t.Fatalf("%q: next %d, %q, want a refusal", line, next, msg)
				}
			}
		}
	}
}

func TestDecimalAtTheLimit(t *testing.T) {
	for _, test := range []struct {
		text string
		want string // of msg
	}{
		{"18446744073709551615", ""},
		{"18446744073709551616", tooLarge},
		{"18446744073709551620", tooLarge},
		{"99999999999999999999", tooLarge},
		{strings.Repeat("9", 100), tooLarge},
		{"", noNumber},
	} {
		t.Run(test.text, func(t *testing.T) {
			for _, behind := range []string{"", " ", " g=1 id=2"} {
				if _, _, msg := decimal([]byte(test.text+behind), 0); msg != test.want {
					t.Errorf("before %q: %q, want %q", behind, msg, test.want)
				}
			}
		})
	}
}
