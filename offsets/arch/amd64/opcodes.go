package amd64

import (
	"strings"

	"github.com/ftgo/ftgo/offsets/arch"
)

// form is what the length and the kind of an instruction need from its opcode.
type form uint32

const (
	isDefined form = 8 << iota
	hasModRM
	modIgnored // ModRM names registers whatever its mod field says
	immZ       // 4 bytes, 2 with 66
	immV       // 4 bytes, 2 with 66, 8 with REX.W
	isMoffs    // 8 bytes, 4 with 67
	isDirect   // the immediate is a displacement
	isJcc
	isTable
	isCut // alone: code ends before the immediate

	fixedImm form = 7 // bytes of immediate that no prefix changes
	immBits       = fixedImm | immZ | immV

	kindShift  = 13 // a Kind in three bits
	groupShift = 16 // an index into groups
)

func kindForm(k arch.Kind) form { return form(k) << kindShift }

func (f form) kind() arch.Kind { return arch.Kind(f >> kindShift & 7) }

// immLen is the length of the immediate under these prefixes.
func (f form) immLen(set, rex uint8) int {
	switch {
	case f&(immZ|immV|isMoffs) == 0:
		return int(f & fixedImm)
	case f&isMoffs != 0:
		if set&pAddr != 0 {
			return 4
		}
		return 8
	case rex&rexW != 0:
		if f&immV != 0 {
			return 8
		}
	case set&pOpSize != 0:
		return 2
	}
	return 4
}

// cells are the words the opcode maps below are written in. A cell of modrm and
// immediate is the two letters together.
var cells = map[string]form{
	".":  0, // undefined in 64-bit mode, or not an opcode: prefixes and escapes
	"-":  isDefined,
	"m":  isDefined | hasModRM,
	"mb": isDefined | hasModRM | 1,
	"mz": isDefined | hasModRM | immZ,
	"mi": isDefined | hasModRM | modIgnored,
	"b":  isDefined | 1,
	"w":  isDefined | 2,
	"wb": isDefined | 3,
	"z":  isDefined | immZ,
	"v":  isDefined | immV,
	"o":  isDefined | isMoffs,
	// Branches, with the bytes of their displacement.
	"c1": isDefined | isDirect | isJcc | 1 | kindForm(arch.CondJump),
	"c4": isDefined | isDirect | isJcc | 4 | kindForm(arch.CondJump),
	"l1": isDefined | isDirect | 1 | kindForm(arch.CondJump),
	"j1": isDefined | isDirect | 1 | kindForm(arch.Jump),
	"j4": isDefined | isDirect | 4 | kindForm(arch.Jump),
	"k4": isDefined | isDirect | 4 | kindForm(arch.Call),
	"r":  isDefined | kindForm(arch.Return),
	"rw": isDefined | 2 | kindForm(arch.Return),
	"t":  isDefined | kindForm(arch.Trap),
	"tb": isDefined | 1 | kindForm(arch.Trap),
	"tm": isDefined | hasModRM | kindForm(arch.Trap),
}

// oneByte is SDM vol. 2, table A-2, as far as it goes in 64-bit mode.
var oneByte = parseMap(0, [16]string{
	// 0   1   2   3   4   5   6   7   8   9   a   b   c   d   e   f
	"  m   m   m   m   b   z   .   .   m   m   m   m   b   z   .   . ", // 00
	"  m   m   m   m   b   z   .   .   m   m   m   m   b   z   .   . ", // 10
	"  m   m   m   m   b   z   .   .   m   m   m   m   b   z   .   . ", // 20
	"  m   m   m   m   b   z   .   .   m   m   m   m   b   z   .   . ", // 30
	"  .   .   .   .   .   .   .   .   .   .   .   .   .   .   .   . ", // 40 REX
	"  -   -   -   -   -   -   -   -   -   -   -   -   -   -   -   - ", // 50
	"  .   .   .   m   .   .   .   .   z   mz  b   mb  -   -   -   - ", // 60
	"  c1  c1  c1  c1  c1  c1  c1  c1  c1  c1  c1  c1  c1  c1  c1  c1", // 70
	"  mb  mz  .   mb  m   m   m   m   m   m   m   m   m   m   m   m ", // 80
	"  -   -   -   -   -   -   -   -   -   -   .   -   -   -   -   - ", // 90
	"  o   o   o   o   -   -   -   -   b   z   -   -   -   -   -   - ", // a0
	"  b   b   b   b   b   b   b   b   v   v   v   v   v   v   v   v ", // b0
	"  mb  mb  rw  r   .   .   mb  mz  wb  -   rw  r   t   tb  .   - ", // c0
	"  m   m   m   m   .   .   .   -   m   m   m   m   m   m   m   m ", // d0
	"  l1  l1  l1  l1  b   b   b   b   k4  j4  .   j1  -   -   -   - ", // e0
	"  .   t   .   .   t   -   m   m   -   -   -   -   -   -   m   m ", // f0
})

// twoByte is SDM vol. 2, table A-3: the map behind 0f. ud0 (ff) has a ModRM byte
// in the SDM and in every assembler, though early processors had none: it traps
// either way.
var twoByte = parseMap(0x0f, [16]string{
	// 0   1   2   3   4   5   6   7   8   9   a   b   c   d   e   f
	"  m   m   m   m   .   -   -   -   -   -   .   t   .   m   -   mb", // 00, 0f is 3DNow!
	"  m   m   m   m   m   m   m   m   m   m   m   m   m   m   m   m ", // 10
	"  mi  mi  mi  mi  .   .   .   .   m   m   m   m   m   m   m   m ", // 20
	"  -   -   -   -   -   -   .   -   .   .   .   .   .   .   .   . ", // 30, 38 and 3a are escapes
	"  m   m   m   m   m   m   m   m   m   m   m   m   m   m   m   m ", // 40
	"  m   m   m   m   m   m   m   m   m   m   m   m   m   m   m   m ", // 50
	"  m   m   m   m   m   m   m   m   m   m   m   m   m   m   m   m ", // 60
	"  mb  mb  mb  mb  m   m   m   -   m   m   .   .   m   m   m   m ", // 70
	"  c4  c4  c4  c4  c4  c4  c4  c4  c4  c4  c4  c4  c4  c4  c4  c4", // 80
	"  m   m   m   m   m   m   m   m   m   m   m   m   m   m   m   m ", // 90
	"  -   -   -   m   mb  m   m   m   -   -   -   m   mb  m   m   m ", // a0
	"  m   m   m   m   m   m   m   m   m   tm  mb  m   m   m   m   m ", // b0
	"  m   m   mb  m   mb  mb  mb  m   -   -   -   -   -   -   -   - ", // c0
	"  m   m   m   m   m   m   m   m   m   m   m   m   m   m   m   m ", // d0
	"  m   m   m   m   m   m   m   m   m   m   m   m   m   m   m   m ", // e0
	"  m   m   m   m   m   m   m   m   m   m   m   m   m   m   m   tm", // f0
})

// parseMap turns 16 rows of cells into a table, and attaches the groups of that map.
func parseMap(escape byte, rows [16]string) (t [256]form) {
	for r, row := range rows {
		for c, cell := range strings.Fields(row) {
			t[r<<4|c] = cells[cell]
		}
	}
	for i, g := range groups {
		if g.escape == escape {
			for _, op := range []byte(g.opcodes) {
				t[op] |= form(i) << groupShift
			}
		}
	}
	return t
}

// modrmLens holds, for each ModRM byte, the bytes of ModRM, SIB and displacement
// (SDM vol. 2, table 2-2). 67 changes nothing: there are no 16-bit addresses in
// 64-bit mode.
var modrmLens = func() (t [256]uint8) {
	for b := range t {
		mod, rm := b>>6, b&7
		n := 1
		if mod != 3 && rm == 4 {
			n++ // SIB
		}
		switch {
		case mod == 1:
			n++
		case mod == 2, mod == 0 && rm == 5: // the latter is relative to RIP
			n += 4
		}
		t[b] = uint8(n)
	}
	return t
}()

// modrmLen measures ModRM, SIB and displacement at the start of b, 0 if b is too short.
func modrmLen(b []byte) int {
	n := int(modrmLens[b[0]])
	if b[0]&0xc7 == 0x04 {
		if len(b) < 2 {
			return 0
		}
		if b[1]&7 == 5 { // no base, 32-bit displacement
			n += 4
		}
	}
	if n > len(b) {
		return 0
	}
	return n
}

// addressesTable reports whether ModRM at b[0] addresses base+index*8 and nothing more. A
// base of rbp or r13 can only be written with a displacement, which is then 0.
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
