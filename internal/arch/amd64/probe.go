package amd64

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/ftgo/ftgo/internal/arch"
)

// Cost is valid for all x86-64 kernels from 3.16 (and the 3.10 of RHEL 7) to 6.18. An instruction is Refused if any of
// them refuses it, and Emulated if all of them emulate it. Source: arch/x86/kernel/uprobes.c of RHEL 7, 3.18, 4.19
// and 6.18 (function names are those of 6.18), arch/x86/lib/insn.c of 5.10.
//
// It ignores user shadow stacks (6.6 and later, opt-in), on which a probed call leaves no or a wrong return address.
func (processor) Cost(function []byte, at int) arch.Cost {
	in, err := decode(function[at:])
	if err != nil {
		return arch.Cost{Refused: err.Error()}
	}
	code := function[at : at+in.Len]
	prefixes, op := code[:in.Prefix], code[in.Prefix]
	if reason := cmp.Or(badNop(code, in), badPrefix(prefixes), badOpcode(code, in)); reason != "" {
		// Instructions with a LOCK prefix, VEX or EVEX don't change SP.
		keepsSP := op == 0xc4 || op == 0xc5 || op == 0x62 || bytes.IndexByte(prefixes, 0xf0) >= 0
		return arch.Cost{Refused: reason, Passable: in.Kind.GoesOn() && keepsSP}
	}
	// The kernel decides this in branch_setup_xol_ops and push_setup_xol_ops.
	switch {
	case in.Kind == arch.Jump, in.Kind == arch.Call, in.Kind == arch.CondJump && in.Cond != arch.NoCond, op == 0x90:
		return arch.Cost{Emulated: true}
	case op&^7 == 0x50 && (in.Len == 1 || in.Len == 2 && prefixes[0] == 0x41):
		return arch.Cost{Later: "push"}
	}
	return arch.Cost{}
}

// badNop returns the reason not to probe a nop that some kernels replace by a call (can_optimize) or refuse
// (is_prefix_bad). Kernels that replace a nop of ten bytes don't refuse it. A child that the C library forks inherits
// the call but not the memory that it calls.
func badNop(code []byte, in inst) string {
	switch op := code[in.Prefix:]; {
	case in.Kind != arch.Nop:
	case in.Len == 5 && (op[0] == 0x90 || len(op) > 2 && op[1] == 0x1f && op[2]>>3&7 == 0):
		return "nop of 5 bytes, which Linux 6.18 turns into a call: a child of a fork dies there, and C functions lose data below their stack pointer (red zone)"
	case bytes.ContainsAny(code[:in.Prefix], "\x26\x2e\x36\x3e"):
		reason := fmt.Sprintf("nop of %d bytes, padding with a segment prefix, which kernels refuse", in.Len)
		if in.Len == 10 {
			reason += ", and newer ones make a call"
		}
		return reason
	}
	return ""
}

// badPrefix returns the reason not to probe an instruction with these prefixes, or "". It follows is_prefix_bad, and
// insn_get_prefixes, which stores at most four prefixes.
func badPrefix(prefixes []byte) string {
	different := 0
	for i, p := range prefixes {
		switch p {
		case 0xf0:
			return "lock prefix"
		case 0x26, 0x2e, 0x36, 0x3e:
			return "segment prefix other than fs and gs"
		}
		if !isREX(p) && bytes.IndexByte(prefixes[:i], p) < 0 {
			different++
		}
	}
	if different > 4 {
		return "more than four different prefixes, which the kernel's decoder takes for an opcode"
	}
	return ""
}

// badOpcode returns the reason not to probe an instruction whose prefixes are fine, or "".
func badOpcode(code []byte, in inst) string {
	prefixes, op := code[:in.Prefix], code[in.Prefix]
	var next byte // ModRM, or the second byte of the opcode
	if in.Prefix+1 < in.Len {
		next = code[in.Prefix+1]
	}
	opSize := bytes.IndexByte(prefixes, 0x66) >= 0
	repeat := bytes.IndexByte(prefixes, 0xf3) >= 0 || bytes.IndexByte(prefixes, 0xf2) >= 0
	switch {
	case in.Kind == arch.Trap:
		return "raises an exception"
	case (in.Kind == arch.Jump || in.Kind == arch.CondJump || in.Kind == arch.Call) && opSize:
		return "branch with an operand size prefix" // branch_setup_xol_ops: ENOTSUPP
	case op == 0x0f:
		if good2Byte[next>>4]>>(next&15)&1 == 0 {
			return "opcode that some kernels do not list as probeable"
		}
	case op == 0xc4, op == 0xc5, op == 0x62:
		// insn_get_opcode takes the byte after VEX or EVEX for a one-byte opcode. uprobe_init_insn refuses the
		// instruction if good_insns_64 lacks that opcode. Otherwise branch_setup_xol_ops emulates that opcode:
		// ja for vzeroupper (77), nop for kmovw (90).
		return "VEX or EVEX encoding"
	case op == 0x8f && next&0x38 != 0:
		return "XOP encoding, which the kernel's decoder does not know"

	// The opcodes that Decode knows and good_insns_64 lacks on all kernels.
	case op >= 0x6c && op <= 0x6f, op >= 0xe4 && op <= 0xe7, op >= 0xec && op <= 0xef:
		return "port input or output"
	case op == 0xcf, op == 0xfa, op == 0xfb:
		return "privileged or interrupt return"

	case op == 0x8e && next>>3&7 == 2:
		// insn_masking_exception, since 4.17: the trap comes one instruction after the step.
		return "mov to ss delays the single step trap"
	case op == 0x90 && opSize:
		return "nop with an operand size prefix" // ENOTSUPP in RHEL 7 and 3.18
	case op == 0x90 && in.Prefix > 0 && isREX(prefixes[in.Prefix-1]) && prefixes[in.Prefix-1]&1 != 0:
		// branch_setup_xol_ops reads only the opcode. runtime.gcWriteBarrierR8 of Go 1.16 to 1.20 begins with this
		// instruction.
		return "xchg with r8, which the kernel emulates as nop"

	// The kernel accepts these, but the copy has another effect than the original.
	case op == 0x9c:
		// default_post_xol_op restores TF in the flags but not on the stack. The next popf would raise SIGTRAP.
		return "pushf stores the trap flag of the single step"
	case repeat && (op >= 0xa4 && op <= 0xa7 || op >= 0xaa && op <= 0xaf):
		// TF traps after each iteration with RIP at the instruction, which hits the breakpoint again.
		return "repeated string instruction, hit once for each iteration"
	case op == 0xc7 && next == 0xf8:
		return "xbegin, whose fallback address is relative to the copy"
	case op == 0xff && (next>>3&7 == 3 || next>>3&7 == 5):
		// UPROBE_FIX_CALL writes 8 bytes over a return address of another shape, and the step may change the code
		// segment.
		return "far call or jump"
	}
	return ""
}

// good2Byte holds a bit for each 0f opcode that good_2byte_insns of both RHEL 7 and 6.18 contain. The lowest bit is
// column 0. (Kernels since the revision of that table accept every 0f opcode, because their good_insns_64
// contains 0f.)
var good2Byte = [16]uint16{
	0x0: 1<<0xe | 1<<0xf,    // without syscall, lar, prefetch, ud2 and others
	0x1: 0xffff &^ (1 << 8), // prefetch
	0x2: 0xff0f,
	0x3: 1<<1 | 1<<2 | 1<<3, // rdtsc, rdmsr, rdpmc; without 0f 38 and 0f 3a, which the old table lacks
	0x4: 0xffff,
	0x5: 0xffff,
	0x6: 0xffff,
	0x7: 0xc0ff,
	0x8: 0xffff,
	0x9: 0xffff,
	0xa: 0xffff &^ (1<<6 | 1<<7 | 1<<0xe), // PadLock, group 15 (fences, fxsave …)
	0xb: 0xffff &^ (1 << 8),               // popcnt
	0xc: 0xffff,
	0xd: 0xffff &^ (1 << 0),
	0xe: 0xffff,
	0xf: 0xffff &^ (1<<0 | 1<<0xf),
}
