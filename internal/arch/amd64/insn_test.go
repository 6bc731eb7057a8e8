package amd64

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"github.com/ftgo/ftgo/internal/arch"
)

// unhex reads bytes written in hexadecimal, with or without blanks.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	fixture.NoError(t, err)
	return b
}

// straight is an instruction that goes on to the next: its bytes, the number of prefix bytes, and what an assembler calls
// it. TestAgreesOnOpcodeMaps compares lengths for all opcodes.
var straight = []struct {
	code   string
	prefix int
	asm    string
}{
	// Padding.
	{"90", 0, "nop"},
	{"66 90", 1, "xchg %ax,%ax"},
	{"0f 1f 44 00 00", 0, "nopl 0(%rax,%rax,1)"},
	{"66 2e 0f 1f 84 00 00 00 00 00", 2, "cs nopw 0x0(%rax,%rax,1)"},
	{"66 66 66 66 66 66 2e 0f 1f 84 00 00 00 00 00", 7, "nopw of 15 bytes"},
	{"66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", 14, "nop of 15 bytes"},
	// Immediates that prefixes change.
	{"05 11 22 33 44", 0, "add $imm32,%eax"},
	{"66 05 11 22", 1, "add $imm16,%ax"},
	{"66 48 05 11 22 33 44", 2, "add $imm32,%rax, 66 without effect"},
	{"48 b8 11 22 33 44 55 66 77 88", 1, "mov $imm64,%rax"},
	{"66 49 bf 11 22 33 44 55 66 77 88", 2, "mov $imm64,%r15, 66 without effect"},
	{"66 48 68 11 22 33 44", 2, "push $imm32, 66 without effect"},
	{"c8 10 00 01", 0, "enter $16,$1"},
	// Absolute addresses.
	{"a0 11 22 33 44 55 66 77 88", 0, "movabs 0x8877665544332211,%al"},
	{"48 a1 11 22 33 44 55 66 77 88", 1, "movabs 0x8877665544332211,%rax"},
	{"66 a3 11 22 33 44 55 66 77 88", 1, "movabs %ax,0x8877665544332211"},
	{"67 a1 11 22 33 44", 1, "addr32 mov 0x44332211,%eax"},
	{"67 48 a3 11 22 33 44", 2, "addr32 mov %rax,0x44332211"},
	// Group 3: an immediate with /0 and /1 only.
	{"f6 c1 11", 0, "test $imm8,%cl"},
	{"f6 c9 11", 0, "test $imm8,%cl as /1"},
	{"f7 c1 11 22 33 44", 0, "test $imm32,%ecx"},
	{"f7 44 24 08 11 22 33 44", 0, "testl $imm32,8(%rsp)"},
	{"f7 05 11 22 33 44 55 66 77 88", 0, "testl $imm32,disp32(%rip)"},
	{"d0 f0", 0, "sal %al as /6"},
	// Addressing.
	{"8b 04 25 11 22 33 44", 0, "mov 0x44332211,%eax"},
	{"8b 04 85 11 22 33 44", 0, "mov disp32(,%rax,4),%eax"},
	{"41 8b 45 00", 1, "mov 0(%r13),%eax"},
	{"43 8b 44 25 00", 1, "mov 0(%r13,%r12,1),%eax"},
	{"67 8b 05 11 22 33 44", 1, "mov disp32(%eip),%eax"},
	{"67 8d 86 11 22 33 44", 1, "lea disp32(%esi),%eax"},
	{"8f 44 24 08", 0, "pop 8(%rsp)"},
	{"0f 22 04", 0, "mov %rsp,%cr0: the mod field does not count"},
	// Vector instructions of the legacy maps.
	{"66 0f 73 d8 08", 1, "psrldq $8,%xmm0"},
	{"66 0f c4 44 24 08 03", 1, "pinsrw $3,8(%rsp),%xmm0"},
	{"66 0f 3a 44 05 11 22 33 44 10", 1, "pclmulqdq $0x10,disp32(%rip),%xmm0"},
	{"0f 3a cc c1 02", 0, "sha1rnds4 $2,%xmm1,%xmm0"},
	{"66 0f 78 c0 11 22", 1, "extrq $0x22,$0x11,%xmm0"},
	{"f2 0f 78 c1 11 22", 1, "insertq $0x22,$0x11,%xmm1,%xmm0"},
	{"0f 78 c1", 0, "vmread %rax,%rcx"},
	{"0f 0f c1 9e", 0, "pfadd %mm1,%mm0"},
	{"0f 0f 44 24 08 b4", 0, "pfmul 8(%rsp),%mm0"},
	{"f3 0f a7 c8", 1, "rep xcryptecb"},
	{"0f ae e8", 0, "lfence"},
	// VEX.
	{"c5 f8 77", 0, "vzeroupper"},
	{"c5 fd 6f 06", 0, "vmovdqa (%rsi),%ymm0"},
	{"c5 fd 70 c1 11", 0, "vpshufd $0x11,%ymm1,%ymm0"},
	{"c5 f9 c5 c1 03", 0, "vpextrw $3,%xmm1,%eax"},
	{"c5 f9 73 d8 08", 0, "vpsrldq $8,%xmm0,%xmm0"},
	{"c4 e2 7d 58 05 11 22 33 44", 0, "vpbroadcastd disp32(%rip),%ymm0"},
	{"c4 e2 f3 f6 c1", 0, "mulx %rcx,%rcx,%rax"},
	{"c4 e3 fb f0 c1 05", 0, "rorx $5,%rcx,%rax"},
	{"c4 e3 75 4c c2 30", 0, "vpblendvb %ymm3,%ymm2,%ymm1,%ymm0"},
	{"c4 c3 7d 46 44 8f 20 11", 0, "vperm2i128 $0x11,0x20(%r15,%rcx,4),%ymm0,%ymm0"},
	{"c4 e2 69 90 04 8d 11 22 33 44", 0, "vpgatherdd %xmm2,disp32(,%xmm1,4),%xmm0"},
	{"67 c4 e2 7d 58 00", 1, "vpbroadcastd (%eax),%ymm0"},
	{"64 c5 f8 10 00", 1, "vmovups %fs:(%rax),%xmm0"},
	// EVEX: disp8 is scaled but stays one byte.
	{"62 f1 7c 48 10 40 01", 0, "vmovups 0x40(%rax),%zmm0"},
	{"62 f1 7c 48 10 80 11 22 33 44", 0, "vmovups disp32(%rax),%zmm0"},
	{"62 f1 7d 48 70 c1 11", 0, "vpshufd $0x11,%zmm1,%zmm0"},
	{"62 f3 75 48 25 44 88 01 ff", 0, "vpternlogd $0xff,0x40(%rax,%rcx,4),%zmm1,%zmm0"},
	{"62 f2 7d 48 59 05 11 22 33 44", 0, "vpbroadcastq disp32(%rip),%zmm0"},
	{"62 f5 74 48 58 c2", 0, "vaddph %zmm2,%zmm1,%zmm0"},
	{"62 f6 75 48 98 c2", 0, "vfmadd132ph %zmm2,%zmm1,%zmm0"},
	{"62 f3 74 48 c2 c2 11", 0, "vcmpph $0x11,%zmm2,%zmm1,%k0"},
	// XOP.
	{"8f e8 78 c0 c1 05", 0, "vprotb $5,%xmm1,%xmm0"},
	{"8f e9 78 90 c1", 0, "vprotb %xmm0,%xmm1,%xmm0"},
	{"8f ea 78 10 c1 11 22 33 44", 0, "bextr $imm32,%ecx,%eax"},
}

func TestDecodeStraight(t *testing.T) {
	for _, tt := range straight {
		t.Run(tt.asm, func(t *testing.T) {
			code, want := unhex(t, tt.code), inst{Inst: arch.Inst{Cond: arch.NoCond}, Prefix: tt.prefix}
			if op := code[tt.prefix]; op == 0x90 || op == 0x0f && code[tt.prefix+1] == 0x1f {
				want.Kind = arch.Nop
			}
			checkDecode(t, code, want)
		})
	}
}

// checkDecode decodes code, alone and before other bytes, and cuts it at every byte.
func checkDecode(t *testing.T, code []byte, want inst) {
	t.Helper()
	want.Len = len(code)
	for _, after := range []string{"", "\x00", "\xff\xff\xff\xff", "\x90\x66\x2e\xc3"} {
		got, err := decode(append(code[:len(code):len(code)], after...))
		if err != nil || got.Inst != want.Inst || got.Prefix != want.Prefix {
			t.Errorf("decode(% x and % x) = %+v, %v, want %+v", code, after, got, err, want)
		}
	}
	for n := range code {
		if got, err := decode(code[:n]); !errors.Is(err, errTruncated) {
			t.Errorf("decode(% x), cut at %d = %+v, %v, want %v", code, n, got, err, errTruncated)
		}
	}
}
