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
		spills, ok := arch.Spilled(Processor, code, arch.Check{Jump: 4, Post: 6})
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

// TestRead: a register counts as read only if nothing has written it before.
func TestRead(t *testing.T) {
	for _, test := range []struct{ code, want string }{
		{"c3", ""},
		{"4801d8 c3", "ax bx"},                       // add %rbx,%rax
		{"31c0 4889c3 c3", ""},                       // xor %eax,%eax; mov %rax,%rbx
		{"4889d8 4889c1 c3", "bx"},                   // mov %rbx,%rax; mov %rax,%rcx
		{"55 4889e5 4885c0 7402 4889f8 c3", "ax di"}, // push %rbp; mov %rsp,%rbp; test %rax,%rax; je; mov %rdi,%rax
		{"488b0418 c3", "ax bx"},                     // mov (%rax,%rbx),%rax
		{"488d0419 c3", "cx bx"},                     // lea (%rcx,%rbx),%rax
		{"0fb6c0 c3", "ax"},                          // movzx %al,%eax
		{"b001 4889c3 c3", ""},                       // mov $1,%al
		{"480fafc3 c3", "bx"},                        // imul %rbx,%rax: for all that is known
		{"6690 4889c3 c3", "ax"},                     // nop, as xchg %ax,%ax
		{"0f1f440000 c3", ""},                        // nop 0(%rax,%rax)
		{"4893 c3", ""},                              // xchg
		{"e800000000 4889c3 c3", ""},                 // call
		{"eb00 4889c3 c3", ""},                       // jump
		{"4d85c0 c3", "r8"},                          // test %r8,%r8
		{"48c1e003 c3", "ax"},                        // shl $3,%rax
		{"0f94c0 4889c3 c3", ""},                     // sete %al
		{"4819c0 4889c3 c3", ""},                     // sbb %rax,%rax
		{"c5f877 4889c3 c3", ""},                     // VEX
		{"f20f10c1 4889c3 c3", "ax"},                 // movsd
		{"4885d2 4889f3 c3", "si"},                   // dx is not a register of arguments
	} {
		var got []string
		for _, r := range Processor.Read(unhex(t, test.code)) {
			got = append(got, string(r))
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s reads %q, want %q", test.code, got, test.want)
		}
	}
}
