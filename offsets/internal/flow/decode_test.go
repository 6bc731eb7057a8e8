package flow

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/arch/amd64"
)

// swept decodes a function of Go.
func swept(t *testing.T, text string) (*Function, error) {
	t.Helper()
	code, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	f := &Function{processor: amd64.Processor, code: code}
	return f, f.sweep()
}

// TestSweep: a function is decoded as a whole, or not at all.
func TestSweep(t *testing.T) {
	for _, c := range []struct {
		name, code string
		err        string
		returns    []int
		tails      []int
	}{
		{"returns", "c3 90 c3", "", []int{0, 2}, nil},
		{"jump inside", "eb 01 90 c3", "", []int{3}, nil},
		{"tail jump", "e9 00 10 00 00", "", nil, []int{0}},
		{"jump through a register", "ff e0", "", nil, []int{0}},
		{"conditional jump out", "0f 84 00 10 00 00 c3", "conditional jump", nil, nil},
		{"undecodable", "06", "undecodable at +0x0", nil, nil},
		{"cut in an instruction", "c3 e9 00", "undecodable at +0x1", nil, nil},
		// A jump over data that happens to hold a RET and decodes to nonsense.
		{"data among the code", "eb 01 48 c3 c3", "middle of an instruction", nil, nil},
		{"vector instructions", "c5 f8 77 62 f1 7c 48 28 c0 c3", "", []int{9}, nil},
		{"endbr64", "f3 0f 1e fa c3", "", []int{4}, nil},
		{"nothing", "", "no code", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := swept(t, c.code)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(f.Returns, c.returns) || !slices.Equal(f.Tails, c.tails) {
				t.Errorf("returns %v, tails %v; want %v and %v", f.Returns, f.Tails, c.returns, c.tails)
			}
		})
	}
}

// TestLateEntry: a probe goes behind instructions that take none, unless something
// jumps there.
func TestLateEntry(t *testing.T) {
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
			f, err := swept(t, c.code)
			if err != nil {
				t.Fatal(err)
			}
			s, late, err := f.entry(0)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil || int(s.Addr) != c.at || late != (c.at > 0) {
				t.Errorf("at +%#x, late %v, error %v; want +%#x", s.Addr, late, err, c.at)
			}
		})
	}
}
