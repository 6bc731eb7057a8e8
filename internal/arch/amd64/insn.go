// Package amd64 implements package arch for x86-64: the length and the target of an instruction, the effect of a uprobe
// on it, and the calling conventions of Go and C. It reads only bytes of 64-bit code. Package offsets finds these
// bytes in ELF files and chooses the sites to probe.
//
// A probe in the middle of an instruction corrupts the program. So the decoder returns an error for an encoding that
// is undefined, that is newer than its tables, or whose length depends on the processor's maker, and the caller must
// not decode beyond it. The decoder does not check properties that don't change the length (a lock prefix on a load,
// wrong values of VEX.W, VEX.L or VEX.vvvv). It does not know the REX2 and extended EVEX encodings of APX and the
// VEX maps above 3.
//
// Sources: the Intel SDM (order number 325462), volume 2, chapter 2 (instruction format) and appendix A (opcode maps),
// and the AMD APM (24594), volume 3, for XOP and 3DNow!.
package amd64

import (
	"errors"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
)

// maxLen is the maximum length of an instruction in bytes (SDM vol. 2, 2.3.11).
const maxLen = 15

// errTruncated means that the code ends within the instruction.
var errTruncated = errors.New("decode instruction: code ends inside it")

// errUnknown means that this package does not know the instruction.
var errUnknown = errors.New("decode instruction: undefined or unknown encoding")

// inst is a decoded instruction. Prefix is the number of bytes before the opcode: REX counts as a prefix, VEX, EVEX and
// XOP do not. ModRM and Imm are the offsets after the opcode and after ModRM, SIB and displacement. Cond is the condition nibble of a jcc (SDM vol. 1, appendix B: 6 is "below or equal", 7 "above"). The
// conditional jumps jrcxz, loop, loope, loopne, and xbegin, which jumps to its fallback address, have no Cond.
type inst struct {
	arch.Inst
	Prefix, ModRM, Imm int
}

// Legacy prefixes, as bits of a set.
const (
	pOpSize  = 1 << iota // 66
	pAddr                // 67
	pRep                 // f3
	pRepne               // f2
	pLock                // f0
	pSegment             // 26 2e 36 3e 64 65; 3e is also notrack, f2 also bnd
)

var legacyPrefix = [256]uint8{
	0x66: pOpSize, 0x67: pAddr, 0xf3: pRep, 0xf2: pRepne, 0xf0: pLock,
	0x26: pSegment, 0x2e: pSegment, 0x36: pSegment, 0x3e: pSegment, 0x64: pSegment, 0x65: pSegment,
}

// rexW is the bit of a REX prefix that selects 64-bit operands.
const rexW = 8

func isREX(b byte) bool { return b&0xf0 == 0x40 }

// decode decodes the instruction at the start of code. The bytes after it have no influence. It does not allocate.
func decode(code []byte) (in inst, err error) {
	w, tooShort := code, errTruncated
	if len(w) >= maxLen {
		w, tooShort = w[:maxLen], errUnknown
	}
	var set, rex uint8
	p := 0
	for p < len(w) && legacyPrefix[w[p]] != 0 {
		set |= legacyPrefix[w[p]]
		p++
	}
	if p < len(w) && isREX(w[p]) {
		rex = w[p]
		p++
		// A REX prefix counts only right before the opcode (SDM vol. 2, 2.2.1). Processors ignore a misplaced one,
		// disassemblers print it as a separate instruction, and compilers emit none.
		if p < len(w) && (legacyPrefix[w[p]] != 0 || isREX(w[p])) {
			return inst{}, errUnknown
		}
	}
	if p == len(w) {
		return inst{}, tooShort
	}
	prefix := p
	f, modrm, p := operands(w, p, set, rex)
	switch f {
	case 0:
		return inst{}, errUnknown
	case isCut:
		return inst{}, tooShort
	}
	end := p + f.immLen(set, rex)
	if end > len(w) {
		return inst{}, tooShort
	}
	in = inst{arch.Inst{Len: end, Kind: f.kind(), Cond: arch.NoCond}, prefix, modrm, p}
	if f&isDirect != 0 {
		// With this prefix AMD processors execute a 16-bit branch, while Intel's ignore it (SDM vol. 2 on JMP: near
		// branches are forced to 64 bits), so even the length is uncertain. xbegin, which alone has immZ here,
		// is the same on both.
		if set&pOpSize != 0 && rex&rexW == 0 && f&immZ == 0 {
			return inst{}, errUnknown
		}
		in.To = int64(end) + signed(w[p:end])
		if f&isJcc != 0 {
			in.Cond = arch.Cond(w[p-1] & 15)
		}
	}
	return in, nil
}

// operands returns the form of the instruction whose opcode is at w[p], the offset after the opcode, and the offset after
// ModRM, SIB and displacement. The form is isCut if w ends before this offset.
func operands(w []byte, p int, set, rex uint8) (f form, at, end int) {
	op := w[p:]
	f, p = opcode(w, p, set, rex)
	if f&hasModRM == 0 {
		return f, p, p
	}
	if p == len(w) {
		return isCut, p, p
	}
	modrm := w[p]
	if !groups[f>>groupShift].defines(modrm) {
		return 0, p, p
	}
	n := 1
	if f&modIgnored == 0 {
		if n = modrmLen(w[p:]); n == 0 {
			return isCut, p, p
		}
	}
	switch op[0] {
	case 0xf6, 0xf7:
		if modrm&0x30 == 0 { // in group 3 only test has an immediate
			f |= opcodes[legacy][0][op[0]&1|0xa8] & immBits
		}
	case 0xc7:
		if modrm == 0xf8 {
			f |= isDirect | kindForm(arch.CondJump) // xbegin
		}
	case 0xff:
		switch modrm >> 3 & 7 {
		case 2, 3:
			f |= kindForm(arch.IndirectCall)
		case 4, 5:
			kind := arch.IndirectJump
			if addressesTable(w[p:p+n], rex) {
				kind = arch.SwitchJump
			}
			f |= kindForm(kind)
		}
	case 0x0f:
		switch {
		case op[1] == 0x0f && p+n < len(w) && strings.IndexByte(ops3DNow, w[p+n]) < 0:
			return 0, p, p
		case op[1] == 0x78 && set&(pOpSize|pRepne) != 0:
			f += 2 // extrq and insertq of SSE4a have two bytes of immediate, vmread has none
		}
	}
	return f, p, p + n
}

// opcode returns the form of the opcode at w[p], and the offset after it.
func opcode(w []byte, p int, set, rex uint8) (form, int) {
	op := w[p]
	p++
	switch op {
	case 0x0f:
		return opcode0F(w, p, set)
	case 0x8f:
		if p == len(w) || w[p]&0x1f < 8 {
			break // with a map number below 8 it is pop, not XOP (AMD APM vol. 3, 1.2)
		}
		fallthrough
	case 0xc4, 0xc5, 0x62:
		return opcodeVector(w, p, set, rex)
	}
	return opcodes[legacy][0][op], p
}

// opcode0F returns the form of an opcode after 0f, in the maps 0f, 0f 38 and 0f 3a.
func opcode0F(w []byte, p int, set uint8) (form, int) {
	m := &opcodes[legacy][1]
	if p < len(w) && (w[p] == 0x38 || w[p] == 0x3a) {
		m = &opcodes[legacy][2+w[p]>>1&1]
		p++
	}
	if p == len(w) {
		return isCut, p
	}
	return m[w[p]].behind(legacyPP(set)), p + 1
}

// opcodeVector returns the form of an opcode after the first byte of VEX (SDM vol. 2, 2.3), EVEX (2.7) or XOP (AMD APM
// vol. 3, 1.2).
func opcodeVector(w []byte, p int, set, rex uint8) (form, int) {
	if set&^(pAddr|pSegment) != 0 || rex != 0 {
		return 0, p // #UD (SDM vol. 2, 2.3.2 to 2.3.4)
	}
	escape := w[p-1]
	payload := 3 // the number of bytes up to and including the opcode
	switch escape {
	case 0xc5:
		payload = 2
	case 0x62:
		payload = 4
	}
	if p+payload > len(w) {
		return isCut, p
	}
	head, pp := w[p], w[p+1]&3
	m := &opcodes[vex][head&0x1f]
	switch escape {
	case 0xc5:
		m, pp = &opcodes[vex][1], head&3
	case 0x8f:
		m = &opcodes[xop][head&0x1f]
	case 0x62:
		// These two bits are fixed, except in the extended EVEX of APX.
		if head&0x08 != 0 || w[p+1]&0x04 == 0 {
			return 0, p
		}
		m = &opcodes[evex][head&7]
	}
	p += payload
	return m[w[p-1]].behind(pp), p
}

// legacyPP returns the mandatory prefix that a set of legacy prefixes selects. f3 and f2 take precedence over 66 (66 f3
// 0f b8 is a popcnt of 16 bits). The result of f3 and f2 together is undocumented: it is 4, which only opcodes
// without mandatory prefixes accept.
func legacyPP(set uint8) uint8 {
	switch set & (pRep | pRepne) {
	case 0:
		return set & pOpSize
	case pRep:
		return 2
	case pRepne:
		return 3
	}
	return 4
}

// signed returns a little-endian number of 1, 2 or 4 bytes.
func signed(b []byte) (v int64) {
	for i, digits := range b {
		v |= int64(digits) << (8 * i)
	}
	unused := 64 - 8*len(b)
	return v << unused >> unused
}
