package flow

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/arch/amd64"
)

// TestFirstBranch: what comes before it leaves registers alone.
func TestFirstBranch(t *testing.T) {
	for _, c := range []struct {
		name, code string
		landings   []int
		at         int
		err        string
	}{
		// sub $0x40,%rsp; mov %rbp,0x38(%rsp); lea 0x38(%rsp),%rbp; mov %rax,0x48(%rsp);
		// mov %ebx,0x50(%rsp); bt $0xc,%ebx; nop; jb
		{name: "casgstatus of Go 1.18", code: "4883ec40 48896c2438 488d6c2438 4889442448 895c2450 0fbae30c 90 720a", at: 28},
		{name: "at once", code: "7502 90", at: 0},
		{name: "mov %rbx,%rax", code: "4889d8 7502", err: "before +0x0"},
		{name: "mov (%rbx),%rax", code: "488b03 7502", err: "before +0x0"},
		{name: "push %rbp; sub $8,%rax", code: "55 4883e808 7502", err: "before +0x1"},
		{name: "pop %rbp", code: "5d 7502", err: "before +0x0"},
		{name: "call", code: "e800000000 7502", err: "before +0x0"},
		{name: "loop", code: "55 85c0 75fb", landings: []int{0}, err: "jump back"},
		{name: "loop to itself", code: "85c0 75fe", landings: []int{2}, err: "jump back"},
		{name: "none", code: "55 90", err: "no conditional jump"},
		{name: "cut", code: "55 0f", err: "instruction at +0x1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			at, err := firstBranch(amd64.Processor, code, c.landings)
			if c.err == "" && (err != nil || at != c.at) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("+%#x, %v; want +%#x, %q", at, err, c.at, c.err)
			}
		})
	}
}
