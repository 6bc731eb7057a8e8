package amd64

import (
	"bytes"
	"slices"

	"golang.org/x/arch/x86/x86asm"
)

// spoiled are the registers that the prologue may change: AX, CX, SI up to 1.16, R12, R14 since.
var spoiled = []x86asm.Arg{x86asm.RAX, x86asm.RCX, x86asm.RSI, x86asm.R12, x86asm.R14}

// ChecksStack accepts moves, lea, sub and cmp. A stack guard is 16(g) or 24(g), with g in CX or R14.
//
// Source: stacksplit in cmd/internal/obj/x86/obj6.go of Go 1.5 to 1.27, and in liblink/obj6.c of Go 1.4, where the jump
// (ja) skips the call of morestack. In all later versions the jump (jbe) leads to that call. The jump before the guard is
// read (jb) is that of large frames since 1.17.
func (processor) ChecksStack(code []byte) (ok, guard bool) {
	const guard0, guard1 = 16, 24 // offsets in runtime.g
	in, err := x86asm.Decode(code, 64)
	if err != nil || in.Len != len(code) {
		return false, false
	}
	_, toRegister := in.Args[0].(x86asm.Reg)
	from, ofMemory := in.Args[1].(x86asm.Mem)
	guard = ofMemory && (from.Base == x86asm.RCX || from.Base == x86asm.R14) && from.Index == 0 && (from.Disp == guard0 || from.Disp == guard1)
	switch in.Op {
	case x86asm.CMP:
		return toRegister, guard
	case x86asm.MOV:
		return slices.Contains(spoiled, in.Args[0]), guard
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
	return slices.ContainsFunc([]string{"\x48\x3b\x24", "\x4c\x3b\x1c", "\x4c\x3b\x14"}, func(compare string) bool {
		return bytes.HasPrefix(code, []byte("\x64"+compare+"\x25\x70\x00\x00\x00"))
	})
}

// endbr64 is the instruction at the targets of indirect branches. x86asm can't decode it.
var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}
