package offsets

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/arch/amd64"
)

// TestLateEntry: a probe goes behind instructions that take none, unless something
// jumps there.
func TestLateEntry(t *testing.T) {
	b := goTool(t)
	for _, c := range []struct {
		scenario, code string
		at             int
		err            string
	}{
		{"takes one", "55 c3", 0, ""},
		{"behind lock inc", "f0 ff 07 31 c0 c3", 3, ""},
		{"behind two of AVX-512", "62 f1 7c 48 10 07 c5 f8 77 c3", 9, ""},
		{"loop to what is behind", "f0 ff 07 31 c0 75 fc c3", 0, "lock prefix"},
		{"nothing behind", "f0 ff 07", 0, "lock prefix"},
		{"a trap", "0f 0b c3", 0, "raises an exception"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			body, err := sweep(amd64.Processor, code)
			if err != nil {
				t.Fatal(err)
			}
			f := &b.Funcs()[0]
			s, late, err := b.entry(f, code, 0, body.landings)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil || int(s.Addr()-f.Addr) != c.at || late != (c.at > 0) {
				t.Errorf("at +%#x, late %v, error %v; want +%#x", s.Addr()-f.Addr, late, err, c.at)
			}
		})
	}
}
