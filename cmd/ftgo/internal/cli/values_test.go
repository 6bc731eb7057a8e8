package cli

import "testing"

func TestSize(t *testing.T) {
	for text, want := range map[string]int{
		"4K": 4, "512k": 512, "64M": 64 << 10, "2g": 2 << 20, "1024G": 1 << 30,
		"": 0, "64": 0, "K": 0, "64MB": 0, "64KM": 0, "64KK": 0, "-4K": 0, "3K": 0, "0M": 0, "1025G": 0, "9223372036854775807G": 0, "1.5M": 0, "6 M": 0,
	} {
		if kb, err := Size.Read(text); kb != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d KB, %v; want %d", text, kb, err, want)
		}
	}
}
