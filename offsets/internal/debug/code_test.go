package debug

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch/amd64"
	"github.com/ftgo/ftgo/internal/arch/arm64"
)

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
			code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			f, err := Go(amd64.Processor, Part{Code: code})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(f.Parts[0].Returns, c.returns) || !slices.Equal(f.Tails, c.tails) {
				t.Errorf("returns %v, tails %v; want %v and %v", f.Parts[0].Returns, f.Tails, c.returns, c.tails)
			}
		})
	}
}

// TestUnaligned: no function begins where the processor has no instructions, in memory or in the file.
func TestUnaligned(t *testing.T) {
	ret := []byte{0xc0, 0x03, 0x5f, 0xd6}
	for _, c := range []struct {
		addr, offset uint64
		ok           bool
	}{{0x1000, 0x1000, true}, {0x1004, 4, true}, {0x1002, 0x1002, false}, {0x1004, 2, false}} {
		if _, err := Go(arm64.Processor, Part{Addr: c.addr, Offset: c.offset, Code: ret}); (err == nil) != c.ok {
			t.Errorf("at %#x, %#x in the file: %v", c.addr, c.offset, err)
		}
	}
}
