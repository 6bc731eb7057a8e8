package amd64

import (
	_ "embed"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
)

// form holds the properties of an opcode that decide the length and the kind of an instruction. It is 0 for an
// undefined opcode.
type form uint32

const (
	hasModRM   form = 8 << iota
	modIgnored      // ModRM always names registers; its mod field is ignored
	immZ            // 4 bytes, 2 with 66
	immV            // 4 bytes, 2 with 66, 8 with REX.W
	isMoffs         // 8 bytes, 4 with 67
	isDirect        // the immediate is a displacement
	isJcc
	isCut // code ends before the immediate; no other bit is set

	fixedImm form = 7 // the bytes of an immediate whose size no prefix changes
	immBits       = fixedImm | immZ | immV

	kindShift  = 11            // a Kind in four bits
	ppShift    = 15            // a bit for each mandatory prefix with which the opcode is defined
	anyPP      = 31 << ppShift // all results of legacyPP
	groupShift = 20            // an index into groups
)

func kindForm(k arch.Kind) form { return form(k) << kindShift }

func (f form) kind() arch.Kind { return arch.Kind(f >> kindShift & 15) }

// behind returns f if the opcode is defined with a mandatory prefix, else 0. pp is the prefix's number in the
// field pp of VEX and EVEX (SDM vol. 2, 2.3): no prefix, 66, f3, f2.
func (f form) behind(pp uint8) form {
	if f>>(ppShift+pp)&1 == 0 {
		return 0
	}
	return f
}

// immLen returns the length of the immediate in bytes, after these prefixes.
func (f form) immLen(set, rex uint8) int {
	switch {
	case f&(immZ|immV|isMoffs) == 0:
		return int(f & fixedImm)
	case f&isMoffs != 0 && set&pAddr == 0, f&immV != 0 && rex&rexW != 0:
		return 8
	case f&isMoffs == 0 && rex&rexW == 0 && set&pOpSize != 0:
		return 2
	}
	return 4
}

// letters holds the meaning of each letter in a cell of the opcode maps.
var letters = [128]form{
	'm': hasModRM, 'i': modIgnored, 'b': 1, 'w': 2, 'd': 4, 'z': immZ, 'v': immV, 'o': isMoffs,
	'j': isDirect | kindForm(arch.Jump), 'k': isDirect | kindForm(arch.Call),
	'c': isDirect | isJcc | kindForm(arch.CondJump), 'l': isDirect | kindForm(arch.CondJump),
	'r': kindForm(arch.Return), 't': kindForm(arch.Trap), 'n': kindForm(arch.Nop),
}

// opcodesText holds the opcode maps. Its format is described at its top.
//
//go:embed opcodes.txt
var opcodesText string

// The kinds of opcode maps.
const (
	legacy = iota
	vex
	evex
	xop
)

var (
	// opcodes holds the maps of each kind by number. VEX and XOP have numbers of five bits.
	opcodes [4][32][256]form
	groups  = []group{{mem: 0xff, reg: ^uint64(0)}}
)

func init() {
	for line := range strings.Lines(opcodesText) {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		m := &opcodes[strings.IndexByte("LVEX", words[0][0])][number(words[0][1:])]
		if words[1] == "group" {
			addGroup(m, words[2:])
			continue
		}
		row := m[number(words[1])<<4:]
		for i, cell := range words[2:] {
			row[i] = readCell(cell)
		}
	}
}

// number parses a hexadecimal number of the embedded text.
func number(text string) int {
	n, err := strconv.ParseUint(text, 16, 8)
	if err != nil {
		panic(err)
	}
	return int(n)
}

func readCell(cell string) (f form) {
	if cell == "." {
		return 0
	}
	for _, c := range []byte(cell) {
		f |= letters[c] | form(max(0, strings.IndexByte("0123456789ABCDE", c)))<<ppShift
	}
	if f&anyPP == 0 {
		f |= anyPP
	}
	return f
}

// addGroup adds a group from the words of its line: opcodes, /reg values, and ModRM bytes or ranges of them, as in
// "c6c7 0 c0-c7 f8".
func addGroup(m *[256]form, words []string) {
	var g group
	for _, digit := range strings.TrimPrefix(words[1], "-") {
		g.mem |= 1 << (digit - '0')
	}
	for _, modrms := range words[2:] {
		for modrm := number(modrms[:2]); modrm <= number(modrms[len(modrms)-2:]); modrm++ {
			g.reg |= 1 << (modrm - 0xc0)
		}
	}
	ops, _ := hex.DecodeString(words[0])
	for _, op := range ops {
		m[op] |= form(len(groups)) << groupShift
	}
	groups = append(groups, g)
}

// group lists the ModRM bytes for which an opcode is defined.
type group struct {
	mem uint8  // a bit for each /reg value with a memory operand
	reg uint64 // a bit for each value of ModRM-0xc0 with a register operand
}

func (g *group) defines(modrm byte) bool {
	if modrm >= 0xc0 {
		return g.reg>>(modrm-0xc0)&1 != 0
	}
	return g.mem>>(modrm>>3&7)&1 != 0
}

// modrmLen returns the length of ModRM, SIB and displacement at the start of b (SDM vol. 2, table 2-2), or 0 if b is too
// short. The prefix 67 has no influence, because 64-bit mode has no 16-bit addresses.
func modrmLen(b []byte) int {
	mod, base, n := b[0]>>6, b[0]&7, 1
	if mod == 3 {
		return n
	}
	if base == 4 {
		if len(b) < 2 {
			return 0
		}
		base, n = b[1]&7, 2 // of the SIB byte
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, base == 5: // base 5 means relative to RIP, or in a SIB byte no base
		n += 4
	}
	if n > len(b) {
		return 0
	}
	return n
}

// addressesTable reports whether ModRM at b[0] addresses base+index*8 without displacement. The gc compiler (1.19 and
// later) emits jumps through such an address for switch statements only. In C such a jump may be a tail call
// through an array. The encoding of a base of rbp or r13 needs a displacement, which is 0 then.
func addressesTable(b []byte, rex uint8) bool {
	const rexX = 2
	if len(b) < 2 || b[0]&7 != 4 || b[1]>>6 != 3 || b[1]>>3&7 == 4 && rex&rexX == 0 {
		return false
	}
	switch b[0] >> 6 {
	case 0:
		return b[1]&7 != 5
	case 1:
		return b[1]&7 == 5 && len(b) > 2 && b[2] == 0
	}
	return false
}

// ops3DNow lists the bytes after the operands of 0f 0f that select an operation (AMD APM vol. 3, appendix A).
const ops3DNow = "\x0c\x0d\x1c\x1d\x8a\x8e\x90\x94\x96\x97\x9a\x9e\xa0\xa4\xa6\xa7\xaa\xae\xb0\xb4\xb6\xb7\xbb\xbf"
