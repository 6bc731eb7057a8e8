package arm64

// class is a kind of instruction words on which probes have the same effect.
type class uint8

const (
	step      class = iota // continues with the next instruction; kernels single-step a copy
	nop                    // kernels simulate it since Linux 6.13
	address                // ADR, ADRP: simulated
	jump                   // B: simulated, like all branches except those with pointer authentication
	condJump               // B.cond, CBZ, CBNZ, TBZ, TBNZ
	call                   // BL
	callReg                // BLR
	jumpReg                // BR
	ret                    // RET, of any register
	authRet                // RETAA, RETAB: refused
	authCall               // BLRAA ...: refused
	authJump               // BRAA ...: refused
	newCond                // BC.cond, CB<cc>: kernels single-step the copy, which branches relative to itself
	system                 // SVC: refused
	refused                // continues with the next instruction, but some kernels refuse a probe there
	literal                // LDR (literal)
	loadEx                 // LDXR ...: refused
	storeEx                // STXR ...: refused
	trap                   // BRK, HLT, HVC, SMC, DCPS, ERET, UDF
	undefined              // unallocated
)

// pattern matches the words that have a value in some bits, and says what they are.
type pattern[T any] struct {
	bits, value uint32
	is          T
}

// hintBits and hintValue are the pattern of the instructions that older processors execute as NOP.
const hintBits, hintValue = 0xfffff01f, 0xd503201f

// classes lists the classes of words, from the Arm Architecture Reference Manual (DDI 0487), C4.1. Words that match no
// pattern have class step. The kernel's treatment is in aarch64_insn_is_steppable
// and arm_probe_decode_insn in arch/arm64/kernel/probes/decode-insn.c of Linux 5.10 to 6.18.
var classes = byTop([]pattern[class]{
	{0xfc000000, 0x14000000, jump},
	{0xfc000000, 0x94000000, call},
	{0xff000010, 0x54000000, condJump}, // B.cond
	{0x7c000000, 0x34000000, condJump}, // CBZ, CBNZ, TBZ, TBNZ
	{0x7e000000, 0x74000000, newCond},  // CB<cc> (FEAT_CMPBR)
	{0xff000010, 0x54000010, newCond},  // BC.cond (FEAT_HBC)
	{0xff00001f, 0x5500001f, authRet},  // RETAASPPC, RETABSPPC (FEAT_PAuth_LR)
	{0xfffffc1f, 0xd61f0000, jumpReg},
	{0xfffffc1f, 0xd63f0000, callReg},
	{0xfffffc1f, 0xd65f0000, ret},
	{0xfefff800, 0xd61f0800, authJump}, // BRAA, BRAB, BRAAZ, BRABZ
	{0xfefff800, 0xd63f0800, authCall}, // BLRAA ...
	{0xfffffbe0, 0xd65f0be0, authRet},  // RETAA, RETAB, RETAASPPCR
	{0xfe000000, 0xd6000000, trap},     // ERET, DRPS
	{0x1f000000, 0x10000000, address},
	{0x3b000000, 0x18000000, literal}, // LDR, LDRSW, PRFM (literal), also of SIMD registers
	{0xbfa00000, 0x08200000, refused}, // CASP
	{0x3fc00000, 0x08400000, loadEx},  // LDXR, LDAXR, LDXP, LDAXP
	{0x3fc00000, 0x08000000, storeEx}, // STXR, STLXR, STXP, STLXP
	{0x3b200c00, 0x19000400, refused}, // CPY, SET (FEAT_MOPS)
	{0xff00001f, 0xd4000001, system},  // SVC
	{0xff000000, 0xd4000000, trap},
	{0xffffffff, 0xd503201f, nop},
	{0xffffff3f, 0xd503241f, step},    // BTI
	{0xffffffbf, 0xd503233f, step},    // PACIASP, PACIBSP
	{0xffffffbf, 0xd503231f, step},    // PACIAZ, PACIBZ
	{0xffffffff, 0xd50320ff, step},    // XPACLRI
	{0xffffffbf, 0xd503211f, step},    // PACIA1716, PACIB1716
	{hintBits, hintValue, refused},    // the other hints: YIELD, WFE, CSDB, AUTIASP ...
	{0xfff8f01f, 0xd500401f, refused}, // MSR (immediate)
	{0xfff00000, 0xd5100000, refused}, // MSR (register)
	{0xffff0000, 0x00000000, trap},    // UDF
	{0xffffffff, 0xbea71700, trap},    // UNDEF of Go's assembler up to 1.25 (asmout in cmd/internal/obj/arm64/asm7.go)
	{0x9e000000, 0x00000000, undefined},
	{0x1e000000, 0x02000000, undefined},
	{0x1e000000, 0x06000000, undefined},
})

// byTop returns, by the upper eight bits of a word, the patterns that the word can match.
func byTop[T any](patterns []pattern[T]) (lists [256][]pattern[T]) {
	for top := range lists {
		for _, p := range patterns {
			if common := p.bits >> 24; uint32(top)&common == p.value>>24 {
				lists[top] = append(lists[top], p)
			}
		}
	}
	return lists
}

// match returns what the first pattern that matches a word says, or otherwise.
func match[T any](lists *[256][]pattern[T], w uint32, otherwise T) T {
	for _, p := range lists[w>>24] {
		if w&p.bits == p.value {
			return p.is
		}
	}
	return otherwise
}

func classify(w uint32) class { return match(&classes, w, step) }

// signed returns a field of a word as a signed number.
func signed(w uint32, at, bits uint) int64 { return int64(w) << (64 - bits - at) >> (64 - bits) }

// target returns the target of a direct branch, relative to the instruction.
func target(w uint32) int64 {
	switch {
	case w&0x7c000000 == 0x14000000: // B, BL
		return 4 * signed(w, 0, 26)
	case w&0x7e000000 == 0x36000000: // TBZ, TBNZ
		return 4 * signed(w, 5, 14)
	case w&0x7e000000 == 0x74000000: // CB<cc>
		return 4 * signed(w, 5, 9)
	}
	return 4 * signed(w, 5, 19)
}
