package amd64

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
)

func TestProbe(t *testing.T) {
	for _, tt := range []struct {
		asm, code string
		class     string
		reason    string // part of it
	}{
		{"jmp short", "eb 05", "emulated", ""},
		{"jmp near", "e9 11 22 33 44", "emulated", ""},
		{"bnd jmp", "f2 e9 11 22 33 44", "emulated", ""},
		{"jbe short", "76 07", "emulated", ""},
		{"jbe near", "0f 86 11 22 33 44", "emulated", ""},
		{"call", "e8 11 22 33 44", "emulated", ""},
		{"addr32 call", "67 e8 11 22 33 44", "emulated", ""},
		{"nop", "90", "emulated", ""},
		{"pause", "f3 90", "emulated", ""},
		{"nop with REX.W", "48 90", "emulated", ""},
		{"push %rbp", "55", "later", "push"},
		{"push %rsp", "54", "later", "push"},
		{"push %r15", "41 57", "later", "push"},

		{"push with a REX prefix without B", "40 55", "stepped", ""},
		{"push with REX.W", "48 55", "stepped", ""},
		{"push of 16 bits", "66 55", "stepped", ""},
		{"push with f3", "f3 55", "stepped", ""},
		{"pop %rbp", "5d", "stepped", ""},
		{"ret", "c3", "stepped", ""},
		{"rep ret", "f3 c3", "stepped", ""},
		{"ret $8", "c2 08 00", "stepped", ""},
		{"cmp 0x10(%r14),%rsp", "49 3b 66 10", "stepped", ""},
		{"mov %fs:-8,%rcx", "64 48 8b 0c 25 f8 ff ff ff", "stepped", ""},
		{"sub $8,%rsp", "48 83 ec 08", "stepped", ""},
		{"lea of rip", "48 8d 05 11 22 33 44", "stepped", ""},
		{"endbr64", "f3 0f 1e fa", "stepped", ""},
		{"jrcxz", "e3 05", "stepped", ""},
		{"loop", "e2 05", "stepped", ""},
		{"jmp *%rax", "ff e0", "stepped", ""},
		{"call *disp32(%rip)", "ff 15 11 22 33 44", "stepped", ""},
		{"nop of 4 bytes", "0f 1f 40 00", "stepped", ""},
		{"nop of 6 bytes", "66 0f 1f 44 00 00", "stepped", ""},
		{"stos without rep", "48 ab", "stepped", ""},
		{"popf", "9d", "stepped", ""},
		{"movups", "0f 11 44 24 20", "stepped", ""},
		{"pop of memory", "8f 44 24 08", "stepped", ""},
		{"mov to ds", "8e d8", "stepped", ""},
		{"xchg of r8 with another", "41 91", "stepped", ""},

		{"int3", "cc", "refused", "exception"},
		{"int $0x80", "cd 80", "refused", "exception"},
		{"ud2", "0f 0b", "refused", "exception"},
		{"hlt", "f4", "refused", "exception"},
		{"lock cmpxchg", "f0 48 0f b1 0f", "refused", "lock"},
		{"cs nopw", "66 2e 0f 1f 84 00 00 00 00 00", "refused", "nop of 10 bytes, padding with a segment prefix, which kernels refuse, and newer ones make a call"},
		{"notrack jmp *%rax", "3e ff e0", "refused", "segment"},
		{"five prefixes", "66 67 f2 f3 64 05 11 22", "refused", "prefixes"},
		{"call with its TLS padding", "66 66 48 e8 11 22 33 44", "refused", "operand size"},
		{"xchg %ax,%ax", "66 90", "refused", "operand size"},
		{"xchg %r8,%rax", "49 90", "refused", "emulates as nop"},
		{"xchg %r8d,%eax", "41 90", "refused", "emulates as nop"},
		{"nop of 5 bytes", "0f 1f 44 00 00", "refused", "nop of 5 bytes, which Linux 6.18 turns into a call: a child of a fork dies there"},
		{"nopw of 5 bytes", "66 0f 1f 40 00", "refused", "red zone"},
		{"vzeroupper", "c5 f8 77", "refused", "VEX"},
		{"vmovdqu of 3 bytes VEX", "c4 e1 7a 6f 06", "refused", "VEX"},
		{"vmovups of zmm", "62 f1 7c 48 10 40 01", "refused", "VEX"},
		{"vprotb", "8f e9 78 90 c1", "refused", "XOP"},
		{"in", "e4 10", "refused", "port"},
		{"out", "ee", "refused", "port"},
		{"insb", "6c", "refused", "port"},
		{"iret", "48 cf", "refused", "interrupt return"},
		{"cli", "fa", "refused", "privileged"},
		{"mov to ss", "8e d0", "refused", "ss"},
		{"pushf", "9c", "refused", "trap flag"},
		{"rep movsq", "f3 48 a5", "refused", "iteration"},
		{"repne scasb", "f2 ae", "refused", "iteration"},
		{"xbegin", "c7 f8 11 22 33 44", "refused", "fallback"},
		{"lcall *(%rdi)", "ff 1f", "refused", "far"},
		{"ljmp *(%rdi)", "ff 2f", "refused", "far"},
		{"syscall", "0f 05", "refused", "some kernels"},
		{"xgetbv", "0f 01 d0", "refused", "some kernels"},
		{"prefetcht0", "0f 18 08", "refused", "some kernels"},
		{"prefetchw", "0f 0d 08", "refused", "some kernels"},
		{"pshufb", "66 0f 38 00 c1", "refused", "some kernels"},
		{"crc32", "f2 48 0f 38 f1 c8", "refused", "some kernels"},
		{"palignr", "66 0f 3a 0f c1 08", "refused", "some kernels"},
		{"popcnt", "f3 48 0f b8 c0", "refused", "some kernels"},
		{"lfence", "0f ae e8", "refused", "some kernels"},
		{"lddqu", "f2 0f f0 00", "refused", "some kernels"},
	} {
		t.Run(tt.asm, func(t *testing.T) {
			code := unhex(t, tt.code)
			in, err := decode(code)
			if err != nil || in.Len != len(code) {
				t.Fatalf("decode(% x) = %+v, %v", code, in, err)
			}
			got := Processor.Cost(append(code, 0xff, 0xff), 0)
			reason := got.Later + got.Refused
			if classOf(got) != tt.class || !strings.Contains(reason, tt.reason) || reason != "" && tt.reason == "" {
				t.Errorf("Cost(% x) = %+v, want %v, %q", code, got, tt.class, tt.reason)
			}
		})
	}
}

func classOf(c arch.Cost) string {
	switch {
	case c.Refused != "":
		return "refused"
	case c.Later != "":
		return "later"
	case c.Emulated:
		return "emulated"
	}
	return "stepped"
}
