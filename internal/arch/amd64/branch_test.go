package amd64

import (
	"errors"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
)

func TestDecodeBranches(t *testing.T) {
	const no = arch.NoCond
	for _, tt := range []struct {
		code string
		want inst // Len left out, To from the end
		asm  string
	}{
		{"c3", inst{Inst: arch.Inst{Kind: arch.Return, Cond: no}, Prefix: 0}, "ret"},
		{"f3 c3", inst{Inst: arch.Inst{Kind: arch.Return, Cond: no}, Prefix: 1}, "rep ret"},
		{"c2 08 00", inst{Inst: arch.Inst{Kind: arch.Return, Cond: no}, Prefix: 0}, "ret $8"},
		{"cb", inst{Inst: arch.Inst{Kind: arch.Return, Cond: no}, Prefix: 0}, "lret"},
		{"eb 05", inst{Inst: arch.Inst{Kind: arch.Jump, Cond: no, To: 5}, Prefix: 0}, "jmp +5"},
		{"eb fe", inst{Inst: arch.Inst{Kind: arch.Jump, Cond: no, To: -2}, Prefix: 0}, "jmp to itself"},
		{"f2 e9 00 01 00 00", inst{Inst: arch.Inst{Kind: arch.Jump, Cond: no, To: 0x100}, Prefix: 1}, "bnd jmp"},

		{"76 07", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: 6, To: 7}, Prefix: 0}, "jbe +7"},
		{"77 80", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: 7, To: -128}, Prefix: 0}, "ja -128"},
		{"0f 86 8f 00 00 00", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: 6, To: 0x8f}, Prefix: 0}, "jbe near"},
		{"2e 74 02", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: 4, To: 2}, Prefix: 1}, "je,pn"},
		{"66 48 0f 84 02 00 00 00", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: 4, To: 2}, Prefix: 2}, "je near with REX.W, which undoes 66"},
		{"e3 f0", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: no, To: -16}, Prefix: 0}, "jrcxz"},
		{"67 e3 f0", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: no, To: -16}, Prefix: 1}, "jecxz"},
		{"e2 f0", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: no, To: -16}, Prefix: 0}, "loop"},
		{"e1 f0", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: no, To: -16}, Prefix: 0}, "loope"},
		{"e0 f0", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: no, To: -16}, Prefix: 0}, "loopne"},
		{"c7 f8 10 00 00 00", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: no, To: 16}, Prefix: 0}, "xbegin"},
		{"66 c7 f8 10 80", inst{Inst: arch.Inst{Kind: arch.CondJump, Cond: no, To: -0x7ff0}, Prefix: 1}, "xbegin rel16"},

		{"e8 11 22 33 44", inst{Inst: arch.Inst{Kind: arch.Call, Cond: no, To: 0x44332211}, Prefix: 0}, "call"},
		{"66 66 48 e8 fb ff ff ff", inst{Inst: arch.Inst{Kind: arch.Call, Cond: no, To: -5}, Prefix: 3}, "call __tls_get_addr with its padding"},

		{"ff d0", inst{Inst: arch.Inst{Kind: arch.IndirectCall, Cond: no}, Prefix: 0}, "call *%rax"},
		{"41 ff 54 c5 00", inst{Inst: arch.Inst{Kind: arch.IndirectCall, Cond: no}, Prefix: 1}, "call *0(%r13,%rax,8)"},
		{"48 ff 1f", inst{Inst: arch.Inst{Kind: arch.IndirectCall, Cond: no}, Prefix: 1}, "lcall *(%rdi)"},
		{"ff e0", inst{Inst: arch.Inst{Kind: arch.IndirectJump, Cond: no}, Prefix: 0}, "jmp *%rax"},
		{"ff 25 11 22 33 44", inst{Inst: arch.Inst{Kind: arch.IndirectJump, Cond: no}, Prefix: 0}, "jmp *disp32(%rip)"},
		{"ff 2f", inst{Inst: arch.Inst{Kind: arch.IndirectJump, Cond: no}, Prefix: 0}, "ljmp *(%rdi)"},

		{"ff 24 c1", inst{Inst: arch.Inst{Kind: arch.SwitchJump, Cond: no}, Prefix: 0}, "jmp *(%rcx,%rax,8)"},
		{"42 ff 24 e0", inst{Inst: arch.Inst{Kind: arch.SwitchJump, Cond: no}, Prefix: 1}, "jmp *(%rax,%r12,8)"},
		{"41 ff 64 c5 00", inst{Inst: arch.Inst{Kind: arch.SwitchJump, Cond: no}, Prefix: 1}, "jmp *0(%r13,%rax,8)"},
		{"ff 64 c1 08", inst{Inst: arch.Inst{Kind: arch.IndirectJump, Cond: no}, Prefix: 0}, "jmp *8(%rcx,%rax,8)"},
		{"ff 24 c5 11 22 33 44", inst{Inst: arch.Inst{Kind: arch.IndirectJump, Cond: no}, Prefix: 0}, "jmp *disp32(,%rax,8)"},
		{"ff 24 81", inst{Inst: arch.Inst{Kind: arch.IndirectJump, Cond: no}, Prefix: 0}, "jmp *(%rcx,%rax,4)"},
		{"ff 24 e4", inst{Inst: arch.Inst{Kind: arch.IndirectJump, Cond: no}, Prefix: 0}, "jmp *(%rsp)"},
		{"ff a4 c1 00 00 00 00", inst{Inst: arch.Inst{Kind: arch.IndirectJump, Cond: no}, Prefix: 0}, "jmp *0x0(%rcx,%rax,8)"},

		{"cc", inst{Inst: arch.Inst{Kind: arch.Trap, Cond: no}, Prefix: 0}, "int3"},
		{"cd 80", inst{Inst: arch.Inst{Kind: arch.Trap, Cond: no}, Prefix: 0}, "int $0x80"},
		{"f1", inst{Inst: arch.Inst{Kind: arch.Trap, Cond: no}, Prefix: 0}, "int1"},
		{"0f 0b", inst{Inst: arch.Inst{Kind: arch.Trap, Cond: no}, Prefix: 0}, "ud2"},
		{"67 0f b9 40 11", inst{Inst: arch.Inst{Kind: arch.Trap, Cond: no}, Prefix: 1}, "ud1 0x11(%eax),%eax"},
		{"0f ff c1", inst{Inst: arch.Inst{Kind: arch.Trap, Cond: no}, Prefix: 0}, "ud0 %ecx,%eax"},
	} {
		t.Run(tt.asm, func(t *testing.T) {
			code := unhex(t, tt.code)
			switch tt.want.Kind {
			case arch.Jump, arch.CondJump, arch.Call:
				tt.want.To += int64(len(code))
			}
			checkDecode(t, code, tt.want)
		})
	}
}

func TestDecodeUnknown(t *testing.T) {
	const more = " 11 22 33 44 55 66 77 88 99 aa bb cc dd ee"
	for _, tt := range []struct{ name, code string }{
		{"push es, gone in 64-bit mode", "06"},
		{"pusha", "60"},
		{"alias of group 1", "82 c0"},
		{"far call", "9a"},
		{"into", "ce"},
		{"aam", "d4"},
		{"REX2", "d5 00 89 c0"},
		{"salc", "d6"},
		{"far jmp", "ea"},
		{"lea of a register", "8d c0"},
		{"mov to cs", "8e c8"},
		{"pop group with /4", "8f e0"},
		{"mov group with /1", "c7 c8"},
		{"group 4 with /2", "fe d0"},
		{"group 5 with /7", "ff f8"},
		{"far call of a register", "ff d8"},
		{"x87 hole", "d9 d1"},
		{"loadall", "0f 04"},
		{"test register", "0f 24 c0"},
		{"bt group with /0", "0f ba c0"},
		{"psrl group with memory", "66 0f 71 10"},
		{"movnti of a register", "0f c3 c0"},
		{"popcnt without f3", "0f b8 c0"},
		{"pshufb with f3", "f3 0f 38 00 c1"},
		{"hole in 0f 38", "66 0f 38 0c c1"},
		{"hole in 0f 3a", "66 0f 3a 00 c1"},
		{"f2 and f3 before an opcode that selects by them", "f2 f3 0f e6 c1"},
		{"3DNow! without an operation", "0f 0f c1 00"},
		{"call with 66: 16 bits on AMD, 32 on Intel", "66 e8"},
		{"jmp with 66", "66 eb"},
		{"jcc with 66", "66 0f 84"},
		{"jrcxz with 66", "66 e3"},
		{"REX before a legacy prefix", "48 66 90"},
		{"REX before REX", "48 48 90"},
		{"VEX behind REX", "48 c5 f8 77"},
		{"VEX behind 66", "66 c5 f8 77"},
		{"VEX behind lock", "f0 c5 f8 77"},
		{"VEX map 0", "c4 e0 78 77 c0"},
		{"VEX map 4", "c4 e4 78 77 c0"},
		{"vzeroupper with pp 66", "c5 f9 77"},
		{"hole in VEX map 1", "c5 f8 00 c0"},
		{"EVEX behind f3", "f3 62 f1 7c 48 10 c0"},
		{"EVEX map 0", "62 f0 7c 48 10 c0"},
		{"EVEX map 4, APX", "62 f4 7c 08 01 c0"},
		{"EVEX with the fixed one cleared", "62 f1 78 48 10 c0"},
		{"EVEX with the fixed zero set", "62 f9 7c 48 10 c0"},
		{"XOP map 11", "8f eb 78 c0 c1"},
		{"XOP with pp", "8f e9 79 90 c1"},
		{"16 bytes", "66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90"},
		{"16 bytes with the immediate", "66 66 66 66 66 66 66 66 66 66 66 66 66 b8"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code := unhex(t, tt.code+more)
			if in, err := decode(code); !errors.Is(err, errUnknown) {
				t.Errorf("decode(% x) = %+v, %v, want %v", code, in, err, errUnknown)
			}
		})
	}
}
