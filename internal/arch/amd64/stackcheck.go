package amd64

import (
	"bytes"
	"slices"

	"golang.org/x/arch/x86/x86asm"

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
			ok, reads := checkPart(code[p:next])
			if !ok {
				return arch.Check{}, false
			}
			guard = guard || reads
		case arch.CondJump:
			target := p + int(in.To)
			fails := arch.CallsMorestack(Processor, code, target)
			switch {
			case !guard && in.Cond != condB: // jb: the large frame of 1.17, before the guard is read
				return arch.Check{}, false
			case guard && in.Cond == condBE:
				return arch.Check{Jump: p, Post: next}, target > next && fails
			case guard && in.Cond == condA:
				fails = arch.CallsMorestack(Processor, code, next)
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

// spoiled are the registers that the prologue may change.
var spoiled = []x86asm.Arg{x86asm.RAX, x86asm.RCX, x86asm.RSI, x86asm.R12, x86asm.R14}

// checkPart reports whether an instruction may precede the deciding jump, and whether it reads a stack guard.
func checkPart(code []byte) (ok, reads bool) {
	const guard0, guard1 = 16, 24 // offsets in runtime.g
	in, err := x86asm.Decode(code, 64)
	if err != nil || in.Len != len(code) {
		return false, false
	}
	_, toRegister := in.Args[0].(x86asm.Reg)
	from, ofMemory := in.Args[1].(x86asm.Mem)
	reads = ofMemory && (from.Base == x86asm.RCX || from.Base == x86asm.R14) && from.Index == 0 && (from.Disp == guard0 || from.Disp == guard1)
	switch in.Op {
	case x86asm.CMP:
		return toRegister, reads
	case x86asm.MOV:
		return slices.Contains(spoiled, in.Args[0]), reads
	case x86asm.LEA, x86asm.SUB:
		return slices.Contains(spoiled, in.Args[0]), false
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
