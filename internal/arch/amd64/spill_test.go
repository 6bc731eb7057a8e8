package amd64

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
)

// TestSpilled: what is saved before the call of morestack is read, or nothing of it.
func TestSpilled(t *testing.T) {
	const check = "493b6610 76%02x c3" // cmp 0x10(%%r14),%%rsp; jbe; ret
	for _, test := range []struct{ block, want string }{
		{"", ""},
		{"4889442408", "ax 8/8"},
		{"88442408 66895c240a 894c240c 4889bc2410010000", "ax 8/1, bx 10/2, cx 12/4, di 272/8"},
		{"4c89442408 4c895c2410", "r8 8/8, r11 16/8"},
		{"f20f11442408 f30f114c2410 9090", " 8/8,  16/4"},
		{"4889542408", "none"},         // mov %rdx: no argument
		{"488945f8", "none"},           // by %rbp
		{"4889440408", "none"},         // with an index
		{"488b442408", "none"},         // a load
		{"4889442408 eb00", "none"},    // a jump
		{"4889442408 0f0b", "none"},    // a trap
		{"c5f811442408", "none"},       // VEX
		{"48c744240801000000", "none"}, // a constant
	} {
		code := unhex(t, fmt.Sprintf(check, 1)+test.block+"e800000000")
		code = append(code, 0xeb, byte(-len(code)-2)) // jmp to the first instruction
		spills, _, ok := arch.Spilled(Processor, code, arch.Check{Jump: 4, Post: 6})
		var list []string
		for _, s := range spills {
			list = append(list, fmt.Sprintf("%s %d/%d", s.Register, s.Disp, s.Size))
		}
		got := strings.Join(list, ", ")
		if !ok {
			got = "none"
		}
		if got != test.want {
			t.Errorf("%s saves %q, want %q", test.block, got, test.want)
		}
	}
}
