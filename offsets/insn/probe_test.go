package insn

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestProbe(t *testing.T) {
	for _, tt := range []struct {
		asm, code string
		class     Class
		reason    string // part of it
	}{
		{"jmp short", "eb 05", Emulated, ""},
		{"jmp near", "e9 11 22 33 44", Emulated, ""},
		{"bnd jmp", "f2 e9 11 22 33 44", Emulated, ""},
		{"jbe short", "76 07", Emulated, ""},
		{"jbe near", "0f 86 11 22 33 44", Emulated, ""},
		{"call", "e8 11 22 33 44", Emulated, ""},
		{"addr32 call", "67 e8 11 22 33 44", Emulated, ""},
		{"nop", "90", Emulated, ""},
		{"pause", "f3 90", Emulated, ""},
		{"nop with REX.W", "48 90", Emulated, ""},
		{"push %rbp", "55", EmulatedPush, ""},
		{"push %rsp", "54", EmulatedPush, ""},
		{"push %r15", "41 57", EmulatedPush, ""},

		{"push with a REX prefix without B", "40 55", Stepped, ""},
		{"push with REX.W", "48 55", Stepped, ""},
		{"push of 16 bits", "66 55", Stepped, ""},
		{"push with f3", "f3 55", Stepped, ""},
		{"pop %rbp", "5d", Stepped, ""},
		{"ret", "c3", Stepped, ""},
		{"rep ret", "f3 c3", Stepped, ""},
		{"ret $8", "c2 08 00", Stepped, ""},
		{"cmp 0x10(%r14),%rsp", "49 3b 66 10", Stepped, ""},
		{"mov %fs:-8,%rcx", "64 48 8b 0c 25 f8 ff ff ff", Stepped, ""},
		{"sub $8,%rsp", "48 83 ec 08", Stepped, ""},
		{"lea of rip", "48 8d 05 11 22 33 44", Stepped, ""},
		{"endbr64", "f3 0f 1e fa", Stepped, ""},
		{"jrcxz", "e3 05", Stepped, ""},
		{"loop", "e2 05", Stepped, ""},
		{"jmp *%rax", "ff e0", Stepped, ""},
		{"call *disp32(%rip)", "ff 15 11 22 33 44", Stepped, ""},
		{"nop of 4 bytes", "0f 1f 40 00", Stepped, ""},
		{"nop of 6 bytes", "66 0f 1f 44 00 00", Stepped, ""},
		{"stos without rep", "48 ab", Stepped, ""},
		{"popf", "9d", Stepped, ""},
		{"movups", "0f 11 44 24 20", Stepped, ""},
		{"pop of memory", "8f 44 24 08", Stepped, ""},
		{"mov to ds", "8e d8", Stepped, ""},
		{"xchg of r8 with another", "41 91", Stepped, ""},

		{"int3", "cc", Refused, "exception"},
		{"int $0x80", "cd 80", Refused, "exception"},
		{"ud2", "0f 0b", Refused, "exception"},
		{"hlt", "f4", Refused, "exception"},
		{"lock cmpxchg", "f0 48 0f b1 0f", Refused, "lock"},
		{"cs nopw", "66 2e 0f 1f 84 00 00 00 00 00", Refused, "segment"},
		{"notrack jmp *%rax", "3e ff e0", Refused, "segment"},
		{"five prefixes", "66 67 f2 f3 64 05 11 22", Refused, "prefixes"},
		{"call with its TLS padding", "66 66 48 e8 11 22 33 44", Refused, "operand size"},
		{"xchg %ax,%ax", "66 90", Refused, "operand size"},
		{"xchg %r8,%rax", "49 90", Refused, "emulates as nop"},
		{"xchg %r8d,%eax", "41 90", Refused, "emulates as nop"},
		{"nop of 5 bytes", "0f 1f 44 00 00", Refused, "red zone"},
		{"nopw of 5 bytes", "66 0f 1f 40 00", Refused, "red zone"},
		{"vzeroupper", "c5 f8 77", Refused, "VEX"},
		{"vmovdqu of 3 bytes VEX", "c4 e1 7a 6f 06", Refused, "VEX"},
		{"vmovups of zmm", "62 f1 7c 48 10 40 01", Refused, "VEX"},
		{"vprotb", "8f e9 78 90 c1", Refused, "XOP"},
		{"in", "e4 10", Refused, "port"},
		{"out", "ee", Refused, "port"},
		{"insb", "6c", Refused, "port"},
		{"iret", "48 cf", Refused, "interrupt return"},
		{"cli", "fa", Refused, "privileged"},
		{"mov to ss", "8e d0", Refused, "ss"},
		{"pushf", "9c", Refused, "trap flag"},
		{"rep movsq", "f3 48 a5", Refused, "iteration"},
		{"repne scasb", "f2 ae", Refused, "iteration"},
		{"xbegin", "c7 f8 11 22 33 44", Refused, "fallback"},
		{"lcall *(%rdi)", "ff 1f", Refused, "far"},
		{"ljmp *(%rdi)", "ff 2f", Refused, "far"},
		{"syscall", "0f 05", Refused, "some kernels"},
		{"xgetbv", "0f 01 d0", Refused, "some kernels"},
		{"prefetcht0", "0f 18 08", Refused, "some kernels"},
		{"prefetchw", "0f 0d 08", Refused, "some kernels"},
		{"pshufb", "66 0f 38 00 c1", Refused, "some kernels"},
		{"crc32", "f2 48 0f 38 f1 c8", Refused, "some kernels"},
		{"palignr", "66 0f 3a 0f c1 08", Refused, "some kernels"},
		{"popcnt", "f3 48 0f b8 c0", Refused, "some kernels"},
		{"lfence", "0f ae e8", Refused, "some kernels"},
		{"lddqu", "f2 0f f0 00", Refused, "some kernels"},
	} {
		t.Run(tt.asm, func(t *testing.T) {
			code := unhex(t, tt.code)
			in, err := Decode(code)
			if err != nil || in.Len != len(code) {
				t.Fatalf("Decode(% x) = %+v, %v", code, in, err)
			}
			got := Probe(append(code, 0xff, 0xff), in)
			if got.Class != tt.class || !strings.Contains(got.Reason, tt.reason) || got.Reason != "" && tt.reason == "" {
				t.Errorf("Probe(% x) = %v, %q, want %v, %q", code, got.Class, got.Reason, tt.class, tt.reason)
			}
		})
	}
}

func TestProbeOfOtherBytes(t *testing.T) {
	in, err := Decode(unhex(t, "48 8d 05 11 22 33 44"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		code []byte
		in   Inst
	}{
		{"fewer bytes than the instruction", unhex(t, "48 8d"), in},
		{"no bytes", nil, in},
		{"zero Inst", unhex(t, "c3"), Inst{}},
		{"negative prefix", unhex(t, "c3"), Inst{Len: 1, Prefix: -1}},
		{"nothing but prefixes", unhex(t, "66 c3"), Inst{Len: 1, Prefix: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Probe(tt.code, tt.in); got.Class != Refused {
				t.Errorf("Probe(% x, %+v) = %+v", tt.code, tt.in, got)
			}
		})
	}
}

// TestProbeSitesOfGo asks for the places that tracing needs, in the go command: the
// jump and the post instruction of every check, and every return.
func TestProbeSitesOfGo(t *testing.T) {
	tool := goTool(t)
	classes := map[string]int{}
	for _, fn := range functions(t, tool) {
		site := func(what string, at int) {
			in, err := Decode(fn.code[at:])
			if err != nil {
				t.Fatalf("%s+%#x: %v", fn.name, at, err)
			}
			cost := Probe(fn.code[at:], in)
			classes[what+" "+cost.Class.String()]++
			if cost.Class == Refused {
				t.Errorf("%s+%#x: %s: %s", fn.name, at, what, cost.Reason)
			}
		}
		if check, ok := StackCheck(fn.code); ok {
			site("jump", check.Jump)
			site("post", check.Post)
		}
		for p := 0; p < len(fn.code); {
			in, err := Decode(fn.code[p:])
			if err != nil {
				break
			}
			if in.Kind == Return {
				site("return", p)
			}
			p += in.Len
		}
	}
	t.Logf("%s: %v", filepath.Base(tool), classes)
	if classes["jump emulated"] < 1000 || classes["post emulated push"] < 1000 || classes["return stepped"] < 1000 {
		t.Errorf("too few places: %v", classes)
	}
}
