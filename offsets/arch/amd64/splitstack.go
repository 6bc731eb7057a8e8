package amd64

import "bytes"

// SplitsStack reports whether code begins with GCC's check of a split stack:
//
//	cmp %fs:0x70,%rsp
//	lea -N(%rsp),%r11; cmp %fs:0x70,%r11   (or %r10, in a nested function)
//
// Source: ix86_expand_split_stack_prologue in gcc/config/i386/i386.cc; 0x70 is where
// glibc keeps the limit in the thread's control block
// (TARGET_THREAD_SPLIT_STACK_OFFSET in gnu-user64.h).
func (processor) SplitsStack(code []byte) bool {
	code = bytes.TrimPrefix(code, endbr64)
	if len(code) < 9 {
		return false
	}
	if bytes.HasPrefix(code, []byte{0x4c, 0x8d}) && code[3] == 0x24 { // lea N(%rsp),%r8 to %r15
		switch code[2] {
		case 0x54, 0x5c: // one byte of N
			code = code[5:]
		case 0x94, 0x9c:
			code = code[8:]
		default:
			return false
		}
	}
	limit := []byte{0x25, 0x70, 0, 0, 0}
	return len(code) >= 9 && code[0] == 0x64 && bytes.Equal(code[4:9], limit) &&
		(bytes.Equal(code[1:4], []byte{0x48, 0x3b, 0x24}) ||
			bytes.Equal(code[1:4], []byte{0x4c, 0x3b, 0x1c}) ||
			bytes.Equal(code[1:4], []byte{0x4c, 0x3b, 0x14}))
}

// endbr64 marks where indirect branches may lead; x86asm does not know it.
var endbr64 = []byte{0xf3, 0x0f, 0x1e, 0xfa}
