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
	case f&isMoffs != 0 && set&pAddr == 0, f&immV != 0 && rex&rexW != 0:
		return 8
	case f&isMoffs == 0 && rex&rexW == 0 && set&pOpSize != 0:
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

// modrmLen measures ModRM, SIB and displacement at the start of b (SDM vol. 2, table 2-2), 0 if b
// is too short. 67 changes nothing: there are no 16-bit addresses in 64-bit mode.
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
	case mod == 2, base == 5: // the latter is relative to RIP, or has no base
		n += 4
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

// group says which ModRM bytes an opcode is defined for.
type group struct {
	escape  byte   // 0x0f for the two-byte map, else 0
	opcodes string // the opcodes it applies to, one a byte
	mem     uint8  // /reg values with a memory operand, as bits
	reg     uint64 // ModRM-0xc0 values without one, as bits
}

func (g *group) defines(modrm byte) bool {
	if modrm >= 0xc0 {
		return g.reg>>(modrm-0xc0)&1 != 0
	}
	return g.mem>>(modrm>>3&7)&1 != 0
}

// regs widens a set of /reg values to all their register forms.
func regs(set uint8) (bits uint64) {
	for r := range 8 {
		if set>>r&1 != 0 {
			bits |= 0xff << (8 * r)
		}
	}
	return bits
}

// modrms is the set of the ModRM bytes from lo to hi in each pair.
func modrms(pairs ...byte) (bits uint64) {
	for i := 0; i < len(pairs); i += 2 {
		for b := pairs[i]; ; b++ {
			bits |= 1 << (b - 0xc0)
			if b == pairs[i+1] {
				break
			}
		}
	}
	return bits
}

const every = ^uint64(0)

// groups restricts opcodes whose ModRM byte takes part in the encoding: SDM
// vol. 2, tables A-6 (groups) and A-7 to A-22 (x87). An opcode goes without a
// restriction when all of its forms are defined; that is group 0.
//
// Accepted although the SDM leaves them out, as processors execute them and
// compilers or objdump know them: test as f6/1 and f7/1, sal as /6 of
// group 2 (both in the AMD APM), and ffreep (df c0+i, in AMD's optimization guides).
// Where a mandatory prefix decides, a form counts as defined if any prefix makes it so.
var groups = [...]group{
	{opcodes: "", mem: 0xff, reg: every},
	{0, "\x8d", 0xff, 0},                                   // lea
	{0, "\x8c", 0x3f, regs(0x3f)},                          // mov from a segment register
	{0, "\x8e", 0x3d, regs(0x3d)},                          // mov to one, not to cs
	{0, "\x8f", 0x01, regs(0x01)},                          // group 1A: pop
	{0, "\xc6\xc7", 0x01, regs(0x01) | modrms(0xf8, 0xf8)}, // group 11: mov, xabort, xbegin
	{0, "\xfe", 0x03, regs(0x03)},                          // group 4: inc, dec
	{0, "\xff", 0x7f, regs(0x57)},                          // group 5: far call and jmp take memory
	{0, "\xd9", 0xfd, modrms(0xc0, 0xd0, 0xe0, 0xe1, 0xe4, 0xe5, 0xe8, 0xee, 0xf0, 0xff)},
	{0, "\xda", 0xff, modrms(0xc0, 0xdf, 0xe9, 0xe9)},
	{0, "\xdb", 0xaf, modrms(0xc0, 0xdf, 0xe2, 0xe3, 0xe8, 0xf7)},
	{0, "\xdc", 0xff, modrms(0xc0, 0xcf, 0xe0, 0xff)},
	{0, "\xdd", 0xdf, modrms(0xc0, 0xc7, 0xd0, 0xef)},
	{0, "\xde", 0xff, modrms(0xc0, 0xcf, 0xd9, 0xd9, 0xe0, 0xff)},
	{0, "\xdf", 0xff, modrms(0xc0, 0xc7, 0xe0, 0xe0, 0xe8, 0xf7)},

	{0x0f, "\x00", 0x3f, regs(0x3f)}, // group 6
	{0x0f, "\x01", 0xff, modrms(0xc0, 0xc6, 0xc8, 0xd1, 0xd4, 0xe8, 0xe9, 0xea, 0xec, 0xff)},          // group 7
	{0x0f, "\x13\x17\x2b\xb2\xb4\xb5\xc3\xe7\xf0", 0xff, 0},                                           // memory only
	{0x0f, "\x50\xc5\xd7\xf7", 0, every},                                                              // registers only
	{0x0f, "\x71\x72", 0, regs(0x54)},                                                                 // groups 12, 13: shifts
	{0x0f, "\x73", 0, regs(0xcc)},                                                                     // group 14
	{0x0f, "\xa6", 0, modrms(0xc0, 0xc0, 0xc8, 0xc8, 0xd0, 0xd0)},                                     // VIA PadLock: montmul, xsha
	{0x0f, "\xa7", 0, modrms(0xc0, 0xc0, 0xc8, 0xc8, 0xd0, 0xd0, 0xd8, 0xd8, 0xe0, 0xe0, 0xe8, 0xe8)}, // VIA PadLock: xstore, xcrypt
	{0x0f, "\xba", 0xf0, regs(0xf0)},                                                                  // group 8: bt and its kin
	{0x0f, "\xc7", 0xfa, regs(0xc0)},                                                                  // group 9: cmpxchg16b, rdrand
}

// ops3DNow are the bytes behind the operands of 0f 0f that select an operation (AMD APM
// vol. 3, appendix A).
const ops3DNow = "\x0c\x0d\x1c\x1d\x8a\x8e\x90\x94\x96\x97\x9a\x9e\xa0\xa4\xa6\xa7\xaa\xae\xb0\xb4\xb6\xb7\xbb\xbf"
