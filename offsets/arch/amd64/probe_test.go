package amd64

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/offsets/arch"
)

func TestProbe(t *testing.T) {
	for _, tt := range []struct {
		asm, code string
		class     arch.Class
		reason    string // part of it
	}{
		{"jmp short", "eb 05", arch.Emulated, ""},
		{"jmp near", "e9 11 22 33 44", arch.Emulated, ""},
		{"bnd jmp", "f2 e9 11 22 33 44", arch.Emulated, ""},
		{"jbe short", "76 07", arch.Emulated, ""},
		{"jbe near", "0f 86 11 22 33 44", arch.Emulated, ""},
		{"call", "e8 11 22 33 44", arch.Emulated, ""},
		{"addr32 call", "67 e8 11 22 33 44", arch.Emulated, ""},
		{"nop", "90", arch.Emulated, ""},
		{"pause", "f3 90", arch.Emulated, ""},
		{"nop with REX.W", "48 90", arch.Emulated, ""},
		{"push %rbp", "55", arch.EmulatedLater, "push"},
		{"push %rsp", "54", arch.EmulatedLater, "push"},
		{"push %r15", "41 57", arch.EmulatedLater, "push"},

		{"push with a REX prefix without B", "40 55", arch.Stepped, ""},
		{"push with REX.W", "48 55", arch.Stepped, ""},
		{"push of 16 bits", "66 55", arch.Stepped, ""},
		{"push with f3", "f3 55", arch.Stepped, ""},
		{"pop %rbp", "5d", arch.Stepped, ""},
		{"ret", "c3", arch.Stepped, ""},
		{"rep ret", "f3 c3", arch.Stepped, ""},
		{"ret $8", "c2 08 00", arch.Stepped, ""},
		{"cmp 0x10(%r14),%rsp", "49 3b 66 10", arch.Stepped, ""},
		{"mov %fs:-8,%rcx", "64 48 8b 0c 25 f8 ff ff ff", arch.Stepped, ""},
		{"sub $8,%rsp", "48 83 ec 08", arch.Stepped, ""},
		{"lea of rip", "48 8d 05 11 22 33 44", arch.Stepped, ""},
		{"endbr64", "f3 0f 1e fa", arch.Stepped, ""},
		{"jrcxz", "e3 05", arch.Stepped, ""},
		{"loop", "e2 05", arch.Stepped, ""},
		{"jmp *%rax", "ff e0", arch.Stepped, ""},
		{"call *disp32(%rip)", "ff 15 11 22 33 44", arch.Stepped, ""},
		{"nop of 4 bytes", "0f 1f 40 00", arch.Stepped, ""},
		{"nop of 6 bytes", "66 0f 1f 44 00 00", arch.Stepped, ""},
		{"stos without rep", "48 ab", arch.Stepped, ""},
		{"popf", "9d", arch.Stepped, ""},
		{"movups", "0f 11 44 24 20", arch.Stepped, ""},
		{"pop of memory", "8f 44 24 08", arch.Stepped, ""},
		{"mov to ds", "8e d8", arch.Stepped, ""},
		{"xchg of r8 with another", "41 91", arch.Stepped, ""},

		{"int3", "cc", arch.Refused, "exception"},
		{"int $0x80", "cd 80", arch.Refused, "exception"},
		{"ud2", "0f 0b", arch.Refused, "exception"},
		{"hlt", "f4", arch.Refused, "exception"},
		{"lock cmpxchg", "f0 48 0f b1 0f", arch.Refused, "lock"},
		{"cs nopw", "66 2e 0f 1f 84 00 00 00 00 00", arch.Refused, "segment"},
		{"notrack jmp *%rax", "3e ff e0", arch.Refused, "segment"},
		{"five prefixes", "66 67 f2 f3 64 05 11 22", arch.Refused, "prefixes"},
		{"call with its TLS padding", "66 66 48 e8 11 22 33 44", arch.Refused, "operand size"},
		{"xchg %ax,%ax", "66 90", arch.Refused, "operand size"},
		{"xchg %r8,%rax", "49 90", arch.Refused, "emulates as nop"},
		{"xchg %r8d,%eax", "41 90", arch.Refused, "emulates as nop"},
		{"nop of 5 bytes", "0f 1f 44 00 00", arch.Refused, "red zone"},
		{"nopw of 5 bytes", "66 0f 1f 40 00", arch.Refused, "red zone"},
		{"vzeroupper", "c5 f8 77", arch.Refused, "VEX"},
		{"vmovdqu of 3 bytes VEX", "c4 e1 7a 6f 06", arch.Refused, "VEX"},
		{"vmovups of zmm", "62 f1 7c 48 10 40 01", arch.Refused, "VEX"},
		{"vprotb", "8f e9 78 90 c1", arch.Refused, "XOP"},
		{"in", "e4 10", arch.Refused, "port"},
		{"out", "ee", arch.Refused, "port"},
		{"insb", "6c", arch.Refused, "port"},
		{"iret", "48 cf", arch.Refused, "interrupt return"},
		{"cli", "fa", arch.Refused, "privileged"},
		{"mov to ss", "8e d0", arch.Refused, "ss"},
		{"pushf", "9c", arch.Refused, "trap flag"},
		{"rep movsq", "f3 48 a5", arch.Refused, "iteration"},
		{"repne scasb", "f2 ae", arch.Refused, "iteration"},
		{"xbegin", "c7 f8 11 22 33 44", arch.Refused, "fallback"},
		{"lcall *(%rdi)", "ff 1f", arch.Refused, "far"},
		{"ljmp *(%rdi)", "ff 2f", arch.Refused, "far"},
		{"syscall", "0f 05", arch.Refused, "some kernels"},
		{"xgetbv", "0f 01 d0", arch.Refused, "some kernels"},
		{"prefetcht0", "0f 18 08", arch.Refused, "some kernels"},
		{"prefetchw", "0f 0d 08", arch.Refused, "some kernels"},
		{"pshufb", "66 0f 38 00 c1", arch.Refused, "some kernels"},
		{"crc32", "f2 48 0f 38 f1 c8", arch.Refused, "some kernels"},
		{"palignr", "66 0f 3a 0f c1 08", arch.Refused, "some kernels"},
		{"popcnt", "f3 48 0f b8 c0", arch.Refused, "some kernels"},
		{"lfence", "0f ae e8", arch.Refused, "some kernels"},
		{"lddqu", "f2 0f f0 00", arch.Refused, "some kernels"},
	} {
		t.Run(tt.asm, func(t *testing.T) {
			code := unhex(t, tt.code)
			in, err := decode(code)
			if err != nil || in.Len != len(code) {
				t.Fatalf("decode(% x) = %+v, %v", code, in, err)
			}
			got := probe(append(code, 0xff, 0xff), in)
			if got.Class != tt.class || !strings.Contains(got.Reason, tt.reason) || got.Reason != "" && tt.reason == "" {
				t.Errorf("probe(% x) = %v, %q, want %v, %q", code, got.Class, got.Reason, tt.class, tt.reason)
			}
		})
	}
}

func TestProbeOfOtherBytes(t *testing.T) {
	in, err := decode(unhex(t, "48 8d 05 11 22 33 44"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		code []byte
		in   inst
	}{
		{"fewer bytes than the instruction", unhex(t, "48 8d"), in},
		{"no bytes", nil, in},
		{"zero Inst", unhex(t, "c3"), inst{}},
		{"negative prefix", unhex(t, "c3"), inst{Len: 1, Prefix: -1}},
		{"nothing but prefixes", unhex(t, "66 c3"), inst{Len: 1, Prefix: 1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := probe(tt.code, tt.in); got.Class != arch.Refused {
				t.Errorf("probe(% x, %+v) = %+v", tt.code, tt.in, got)
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
			in, err := decode(fn.code[at:])
			if err != nil {
				t.Fatalf("%s+%#x: %v", fn.name, at, err)
			}
			cost := probe(fn.code[at:], in)
			classes[what+" "+cost.Class.String()]++
			if cost.Class == arch.Refused {
				t.Errorf("%s+%#x: %s: %s", fn.name, at, what, cost.Reason)
			}
		}
		if check, ok := Processor.StackCheck(fn.code); ok {
			site("jump", check.Jump)
			site("post", check.Post)
		}
		for p := 0; p < len(fn.code); {
			in, err := decode(fn.code[p:])
			if err != nil {
				break
			}
			if in.Kind == arch.Return {
				site("return", p)
			}
			p += in.Len
		}
	}
	t.Logf("%s: %v", filepath.Base(tool), classes)
	if classes["jump emulated"] < 1000 || classes["post emulated later"] < 1000 || classes["return stepped"] < 1000 {
		t.Errorf("too few places: %v", classes)
	}
}
