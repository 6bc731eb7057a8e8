package amd64

import (
	"bytes"

	"github.com/ftgo/ftgo/internal/arch"
)

// maxPrologue is the maximum number of instructions up to the deciding jump. The longest known form (Go 1.5 to 1.16,
// large frame, position-independent) has 9.
const maxPrologue = 12

// StackCheck accepts a check if
//
//   - only moves, lea, sub and cmp precede the jump. They write only the registers that the prologue may change (AX,
//     CX, SI up to 1.16, R12, R14 since), and one of them reads stackguard0 or stackguard1: 16(g) or 24(g), with g in
//     CX or R14;
//   - the jump is a jbe to a sequence that calls once, has no other branch and then jumps to offset 0; or the jump is
//     a ja right before such a sequence;
//   - earlier conditional jumps (for frames of about 4 kB and up) are jb or je and lead to such a sequence as well;
//   - the whole function decodes (up to the padding of Go 1.4 and 1.5), and no other direct branch in it leads to an
//     instruction after the first, up to and including Post. (In Go 1.4 and 1.5 a function without a frame may begin
//     with a loop and jump back to Post, which then runs more than once.)
//
// Source: stacksplit in cmd/internal/obj/x86/obj6.go of Go 1.5 to 1.27, and in liblink/obj6.c of Go 1.4, where the jump
// (ja) skips the call of morestack. In all later versions the jump (jbe) leads to that call.
func (processor) StackCheck(code []byte) (arch.Check, bool) {
	c, ok := findCheck(code)
	if !ok {
		return arch.Check{}, false
	}
	// The linkers up to Go 1.5 include the zero bytes after the function in the size of its symbol.
	for p := 0; len(bytes.TrimLeft(code[p:], "\x00")) > 0; {
		in, err := decode(code[p:])
		if err != nil {
			return arch.Check{}, false
		}
		target := p + int(in.To)
		if p > c.Jump && (in.Kind == arch.Jump || in.Kind == arch.CondJump) && 0 < target && target <= c.Post {
			return arch.Check{}, false
		}
		p += in.Len
	}
	return c, true
}

// findCheck decodes the prologue up to the deciding jump.
func findCheck(code []byte) (arch.Check, bool) {
	guard := false
	for p, n := 0, 0; n < maxPrologue; n++ {
		in, err := decode(code[p:])
		if err != nil {
			return arch.Check{}, false
		}
		next := p + in.Len
		switch in.Kind {
		case arch.Other:
			ok, reads := checkPart(code[p:next], in)
			if !ok {
				return arch.Check{}, false
			}
			guard = guard || reads
		case arch.CondJump:
			target := p + int(in.To)
			_, fails := arch.CallsMorestack(Processor, code, target)
			switch {
			case !guard && in.Cond != condB: // jb: the large frame of 1.17, before the guard is read
				return arch.Check{}, false
			case guard && in.Cond == condBE:
				return arch.Check{Jump: p, Post: next}, target > next && fails
			case guard && in.Cond == condA:
				_, fails = arch.CallsMorestack(Processor, code, next)
				return arch.Check{Jump: p, Post: target}, target > next && target < len(code) && fails
			case in.Cond != condB && in.Cond != condE, !fails:
				return arch.Check{}, false
			}
		default:
			return arch.Check{}, false
		}
		p = next
	}
	return arch.Check{}, false
}

// checkPart reports whether an instruction may precede the deciding jump, and whether it reads a stack guard.
func checkPart(b []byte, in inst) (ok, reads bool) {
	const (
		cx, r14 = 1, 14
		spoiled = 1<<0 | 1<<cx | 1<<6 | 1<<12 | 1<<r14

		guard0, guard1 = 16, 24 // offsets in runtime.g
	)
	op := b[in.Prefix]
	if op == 0x3d { // cmp $imm, %rax
		return true, false
	}
	if in.Prefix == 0 || !isREX(b[in.Prefix-1]) || len(b) < in.Prefix+2 {
		return false, false // all other instructions of a check work on 64 bits
	}
	rex, modrm := b[in.Prefix-1], b[in.Prefix+1]
	reg := modrm>>3&7 | rex<<1&8
	rm := modrm&7 | rex<<3&8
	register := modrm >= 0xc0
	switch op {
	case 0x3b, 0x8b: // cmp, mov
		reads = modrm>>6 == 1 && (rm == cx || rm == r14) && (b[in.Prefix+2] == guard0 || b[in.Prefix+2] == guard1)
		return op == 0x3b || spoiled>>reg&1 != 0, reads
	case 0x8d: // lea
		return spoiled>>reg&1 != 0, false
	case 0x29, 0x89, 0xc7: // sub, mov, mov $imm
		return register && spoiled>>rm&1 != 0, false
	case 0x81, 0x83: // sub $imm, cmp $imm
		return register && spoiled>>rm&1 != 0 && (reg&7 == 5 || reg&7 == 7), false
	}
	return false, false
}

// SplitsStack reports whether code begins with GCC's check of a split stack:
//
//	cmp %fs:0x70,%rsp
//	lea -N(%rsp),%r11; cmp %fs:0x70,%r11   (or %r10, in a nested function)
//
// Source: ix86_expand_split_stack_prologue in gcc/config/i386/i386.cc. 0x70 is the offset of the limit in glibc's thread
// control block (TARGET_THREAD_SPLIT_STACK_OFFSET in gnu-user64.h).
func (processor) SplitsStack(code []byte) bool {
	code = bytes.TrimPrefix(code, endbr64)
	if len(code) > 8 && bytes.HasPrefix(code, []byte{0x4c, 0x8d}) && code[3] == 0x24 { // lea N(%rsp),%r8 to %r15
		switch code[2] {
		case 0x54, 0x5c: // one byte of N
			code = code[5:]
		case 0x94, 0x9c:
			code = code[8:]
		}
	}
	for _, compare := range []string{"\x48\x3b\x24", "\x4c\x3b\x1c", "\x4c\x3b\x14"} {
		if bytes.HasPrefix(code, []byte("\x64"+compare+"\x25\x70\x00\x00\x00")) {
			return true
		}
	}
	return false
}

// endbr64 is the instruction at the targets of indirect branches. x86asm can't decode it.
var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}
