package arm64

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
)

// code is made of words.
func code(words ...uint32) (b []byte) {
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// TestDecode: words as GNU as has made them, and what is known of each: whether kernels simulate
// it, single-step a copy, or must not have a probe there.
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		text string
		word uint32
		kind arch.Kind
		cond arch.Cond
		to   int64
		cost string // emulated, stepped, or a word of the reason
	}{
		{"b .+8", 0x14000002, arch.Jump, arch.NoCond, 8, "emulated"},
		{"b .-4", 0x17ffffff, arch.Jump, arch.NoCond, -4, "emulated"},
		{"bl .+16", 0x94000004, arch.Call, arch.NoCond, 16, "emulated"},
		{"bl .-1048576", 0x97fc0000, arch.Call, arch.NoCond, -1048576, "emulated"},
		{"b.eq .+8", 0x54000040, arch.CondJump, 0, 8, "emulated"},
		{"b.ls .+104", 0x54000349, arch.CondJump, 9, 104, "emulated"},
		{"b.lo .-12", 0x54ffffa3, arch.CondJump, 3, -12, "emulated"},
		{"b.hi .+1048572", 0x547fffe8, arch.CondJump, 8, 1048572, "emulated"},
		{"b.al .+8", 0x5400004e, arch.Jump, arch.NoCond, 8, "emulated"},
		{"b.nv .+8", 0x5400004f, arch.Jump, arch.NoCond, 8, "emulated"},
		{"cbz x0, .+8", 0xb4000040, arch.CondJump, arch.NoCond, 8, "emulated"},
		{"cbnz w27, .-16", 0x35ffff9b, arch.CondJump, arch.NoCond, -16, "emulated"},
		{"tbz x3, #33, .+32764", 0xb60bffe3, arch.CondJump, arch.NoCond, 32764, "emulated"},
		{"tbnz w1, #0, .-32768", 0x37040001, arch.CondJump, arch.NoCond, -32768, "emulated"},
		{"br x27", 0xd61f0360, arch.SwitchJump, arch.NoCond, 0, "emulated"},
		{"br x16", 0xd61f0200, arch.IndirectJump, arch.NoCond, 0, "emulated"},
		{"blr x20", 0xd63f0280, arch.IndirectCall, arch.NoCond, 0, "emulated"},
		{"ret", 0xd65f03c0, arch.Return, arch.NoCond, 0, "emulated"},
		{"ret x27", 0xd65f0360, arch.Return, arch.NoCond, 0, "emulated"},
		{"retaa", 0xd65f0bff, arch.Return, arch.NoCond, 0, "authentication"},
		{"retab", 0xd65f0fff, arch.Return, arch.NoCond, 0, "authentication"},
		{"braa x1, x2", 0xd71f0822, arch.IndirectJump, arch.NoCond, 0, "authentication"},
		{"brab x1, sp", 0xd71f0c3f, arch.IndirectJump, arch.NoCond, 0, "authentication"},
		{"blraaz x3", 0xd63f087f, arch.IndirectCall, arch.NoCond, 0, "authentication"},
		{"adr x0, .+12", 0x10000060, arch.Other, arch.NoCond, 0, "emulated"},
		{"adrp x27, .+8192", 0x9000001b, arch.Other, arch.NoCond, 0, "emulated"},
		{"nop", 0xd503201f, arch.Nop, arch.NoCond, 0, "stepped"},
		{"yield", 0xd503203f, arch.Other, arch.NoCond, 0, "system"},
		{"wfe", 0xd503205f, arch.Other, arch.NoCond, 0, "system"},
		{"csdb", 0xd503229f, arch.Other, arch.NoCond, 0, "system"},
		{"bti c", 0xd503245f, arch.Other, arch.NoCond, 0, "stepped"},
		{"paciasp", 0xd503233f, arch.Other, arch.NoCond, 0, "stepped"},
		{"autiasp", 0xd50323bf, arch.Other, arch.NoCond, 0, "system"},
		{"xpaclri", 0xd50320ff, arch.Other, arch.NoCond, 0, "stepped"},
		{"pacia1716", 0xd503211f, arch.Other, arch.NoCond, 0, "stepped"},
		{"autia1716", 0xd503219f, arch.Other, arch.NoCond, 0, "system"},
		{"svc #0", 0xd4000001, arch.Other, arch.NoCond, 0, "system call"},
		{"hvc #0", 0xd4000002, arch.Trap, arch.NoCond, 0, "exception"},
		{"smc #0", 0xd4000003, arch.Trap, arch.NoCond, 0, "exception"},
		{"brk #1", 0xd4200020, arch.Trap, arch.NoCond, 0, "exception"},
		{"hlt #0", 0xd4400000, arch.Trap, arch.NoCond, 0, "exception"},
		{"udf #0", 0x00000000, arch.Trap, arch.NoCond, 0, "exception"},
		{"udf #7", 0x00000007, arch.Trap, arch.NoCond, 0, "exception"},
		{"eret", 0xd69f03e0, arch.Trap, arch.NoCond, 0, "exception"},
		{"drps", 0xd6bf03e0, arch.Trap, arch.NoCond, 0, "exception"},
		{"ldr x0, .+8", 0x58000040, arch.Literal, arch.NoCond, 8, "literal"},
		{"ldr w0, .+8", 0x18000040, arch.Literal, arch.NoCond, 8, "literal"},
		{"ldrsw x0, .-8", 0x98ffffc0, arch.Literal, arch.NoCond, -8, "literal"},
		{"ldr q0, .+16", 0x9c000080, arch.Literal, arch.NoCond, 16, "literal"},
		{"prfm pldl1keep, .+8", 0xd8000040, arch.Literal, arch.NoCond, 8, "literal"},
		{"ldxr x0, [x1]", 0xc85f7c20, arch.Other, arch.NoCond, 0, "exclusive"},
		{"ldaxr w0, [x1]", 0x885ffc20, arch.Other, arch.NoCond, 0, "exclusive"},
		{"ldxp x0, x1, [x2]", 0xc87f0440, arch.Other, arch.NoCond, 0, "exclusive"},
		{"ldaxrb w0, [x1]", 0x085ffc20, arch.Other, arch.NoCond, 0, "exclusive"},
		{"stxr w2, x0, [x1]", 0xc8027c20, arch.Other, arch.NoCond, 0, "exclusive"},
		{"stlxr w27, x2, [x1]", 0xc81bfc22, arch.Other, arch.NoCond, 0, "exclusive"},
		{"stxp w3, x0, x1, [x2]", 0xc8230440, arch.Other, arch.NoCond, 0, "exclusive"},
		{"casp x0, x1, x2, x3, [x4]", 0x48207c82, arch.Other, arch.NoCond, 0, "system"},
		{"caspal x0, x1, x2, x3, [x4]", 0x4860fc82, arch.Other, arch.NoCond, 0, "system"},
		{"cas x0, x1, [x2]", 0xc8a07c41, arch.Other, arch.NoCond, 0, "stepped"},
		{"casal w0, w1, [x2]", 0x88e0fc41, arch.Other, arch.NoCond, 0, "stepped"},
		{"ldaddal x0, x1, [x2]", 0xf8e00041, arch.Other, arch.NoCond, 0, "stepped"},
		{"swpal x0, x1, [x2]", 0xf8e08041, arch.Other, arch.NoCond, 0, "stepped"},
		{"ldsetalb w0, w1, [x2]", 0x38e03041, arch.Other, arch.NoCond, 0, "stepped"},
		{"ldclral x0, x1, [x2]", 0xf8e01041, arch.Other, arch.NoCond, 0, "stepped"},
		{"ldar x0, [x1]", 0xc8dffc20, arch.Other, arch.NoCond, 0, "stepped"},
		{"stlr x0, [x1]", 0xc89ffc20, arch.Other, arch.NoCond, 0, "stepped"},
		{"ldapr x0, [x1]", 0xf8bfc020, arch.Other, arch.NoCond, 0, "stepped"},
		{"msr tpidr_el0, x0", 0xd51bd040, arch.Other, arch.NoCond, 0, "system"},
		{"mrs x0, tpidr_el0", 0xd53bd040, arch.Other, arch.NoCond, 0, "stepped"},
		{"msr daifset, #1", 0xd50341df, arch.Other, arch.NoCond, 0, "system"},
		{"msr dit, #1", 0xd503415f, arch.Other, arch.NoCond, 0, "system"},
		{"clrex", 0xd5033f5f, arch.Other, arch.NoCond, 0, "stepped"},
		{"dmb ish", 0xd5033bbf, arch.Other, arch.NoCond, 0, "stepped"},
		{"isb", 0xd5033fdf, arch.Other, arch.NoCond, 0, "stepped"},
		{"dc zva, x0", 0xd50b7420, arch.Other, arch.NoCond, 0, "stepped"},
		{"stp x29, x30, [sp, #-16]!", 0xa9bf7bfd, arch.Other, arch.NoCond, 0, "stepped"},
		{"str x30, [sp, #-32]!", 0xf81e0ffe, arch.Other, arch.NoCond, 0, "stepped"},
		{"ldp x29, x30, [sp], #16", 0xa8c17bfd, arch.Other, arch.NoCond, 0, "stepped"},
		{"sub sp, sp, #16", 0xd10043ff, arch.Other, arch.NoCond, 0, "stepped"},
		{"mov x0, x1", 0xaa0103e0, arch.Other, arch.NoCond, 0, "stepped"},
		{"cmp sp, x16", 0xeb3063ff, arch.Other, arch.NoCond, 0, "stepped"},
		{"ldr x16, [x28, #16]", 0xf9400b90, arch.Other, arch.NoCond, 0, "stepped"},
		{"fadd d0, d1, d2", 0x1e622820, arch.Other, arch.NoCond, 0, "stepped"},
		{"sha512h q0, q1, v2.2d", 0xce628020, arch.Other, arch.NoCond, 0, "stepped"},
		{"eor3 v0.16b, v1.16b, v2.16b, v3.16b", 0xce020c20, arch.Other, arch.NoCond, 0, "stepped"},
		{"rax1 v0.2d, v1.2d, v2.2d", 0xce628c20, arch.Other, arch.NoCond, 0, "stepped"},
		{"ldraa x0, [x1]", 0xf8200420, arch.Other, arch.NoCond, 0, "stepped"},
		{"pacga x0, x1, x2", 0x9ac23020, arch.Other, arch.NoCond, 0, "stepped"},
		{"sb", 0xd50330ff, arch.Other, arch.NoCond, 0, "stepped"},
		{"crc32x w0, w1, x2", 0x9ac24c20, arch.Other, arch.NoCond, 0, "stepped"},
		{"rbit x0, x1", 0xdac00020, arch.Other, arch.NoCond, 0, "stepped"},
		{"sdiv x0, x1, x2", 0x9ac20c20, arch.Other, arch.NoCond, 0, "stepped"},
		{"bc.eq .+8 (FEAT_HBC)", 0x54000050, arch.CondJump, 0, 8, "do not simulate"},
		{"cbgt w1, w2, .+8 (FEAT_CMPBR)", 0x74020041, arch.CondJump, arch.NoCond, 8, "do not simulate"},
		{"retaasppc .-8 (FEAT_PAuth_LR)", 0x5500005f, arch.Return, arch.NoCond, 0, "authentication"},
		{"cpyfp [x0]!, [x1]!, x2! (FEAT_MOPS)", 0x19010440, arch.Other, arch.NoCond, 0, "system"},
		{"UNDEF of Go 1.25", 0xbea71700, arch.Trap, arch.NoCond, 0, "exception"},
	} {
		in, err := Processor.Decode(code(c.word))
		if err != nil || in != (arch.Inst{Len: 4, Kind: c.kind, Cond: c.cond, To: c.to}) {
			t.Errorf("%s: %+v, %v", c.text, in, err)
		}
		cost := Processor.Cost(code(c.word), 0)
		got := cost.Refused
		switch {
		case cost.Emulated:
			got = "emulated"
		case cost.Stepped():
			got = "stepped"
		}
		if !strings.Contains(got, c.cost) {
			t.Errorf("%s: %+v, want %s", c.text, cost, c.cost)
		}
	}
}

// TestUndefined: what is no instruction is an error, and so is what ends inside of one.
func TestUndefined(t *testing.T) {
	for _, c := range [][]byte{code(0x00010000), code(0x40000028), code(0x02000028), code(0x86000000), {}, {0xc0, 0x03, 0x5f}} {
		if in, err := Processor.Decode(c); err == nil {
			t.Errorf("% x: %+v", c, in)
		}
		if cost := Processor.Cost(c, 0); cost.Refused == "" {
			t.Errorf("% x: a probe costs %+v", c, cost)
		}
	}
}

// TestTrim: padding, and constants behind the code, are none of a function.
func TestTrim(t *testing.T) {
	const (
		ret, back, undef = 0xd65f03c0, 0x17ffffff, 0xbea71700
		mov, number      = 0xaa0103e0, 0x00017740
		load12           = 0x1800007b // ldr w27, .+12
		over8            = 0x14000003 // b .+12
		loads            = 0x1800005b // ldr w27, .+8
	)
	for _, c := range []struct {
		scenario string
		words    []uint32
		want     int // words
	}{
		{"nothing to trim", []uint32{mov, ret}, 2},
		{"zeros", []uint32{mov, ret, 0, 0}, 2},
		{"zeros alone", []uint32{0, 0}, 1},
		{"zero inside", []uint32{mov, 0, mov, ret}, 4},
		{"constants to which nothing refers", []uint32{mov, ret, number, 0x00017748, 0}, 2},
		{"constants that may be instructions, and one that is none", []uint32{mov, ret, mov, number}, 2},
		{"constant that looks like a RET", []uint32{load12, mov, ret, ret, 0}, 3},
		{"constants behind what was never reached", []uint32{load12, ret, undef, number, number}, 3},
		{"constants among the code: no part is taken off", []uint32{loads, over8, ret, number, mov, ret}, 6},
		{"data among the code", []uint32{over8, number, number, mov, ret}, 5},
		{"data at the start", []uint32{number, mov, ret}, 3},
	} {
		if got := Processor.Trim(code(c.words...)); got != 4*c.want {
			t.Errorf("%s: %d bytes, want %d", c.scenario, got, 4*c.want)
		}
	}
	if got := Processor.Trim(nil); got != 0 {
		t.Errorf("no code: %d bytes", got)
	}
}
