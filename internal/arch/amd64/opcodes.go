package amd64

import (
	_ "embed"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
)

// form is what the length and the kind of an instruction need from its opcode, 0 if it is none.
type form uint32

const (
	hasModRM   form = 8 << iota
	modIgnored      // ModRM names registers whatever its mod field says
	immZ            // 4 bytes, 2 with 66
	immV            // 4 bytes, 2 with 66, 8 with REX.W
	isMoffs         // 8 bytes, 4 with 67
	isDirect        // the immediate is a displacement
	isJcc
	isCut // alone: code ends before the immediate

	fixedImm form = 7 // bytes of immediate that no prefix changes
	immBits       = fixedImm | immZ | immV

	kindShift  = 11            // a Kind in four bits
	ppShift    = 15            // the mandatory prefixes that it is defined behind, as bits
	anyPP      = 31 << ppShift // all four, and what legacyPP can't tell
	groupShift = 20            // an index into groups
)

func kindForm(k arch.Kind) form { return form(k) << kindShift }

func (f form) kind() arch.Kind { return arch.Kind(f >> kindShift & 15) }

// behind is the form behind a mandatory prefix, 0 if there is none. It is numbered as in the field pp
// of VEX and EVEX (SDM vol. 2, 2.3): none, 66, f3, f2.
func (f form) behind(pp uint8) form {
	if f>>(ppShift+pp)&1 == 0 {
		return 0
	}
	return f
}

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

// letters are what a cell of the opcode maps is written in.
var letters = [128]form{
	'm': hasModRM, 'i': modIgnored, 'b': 1, 'w': 2, 'd': 4, 'z': immZ, 'v': immV, 'o': isMoffs,
	'j': isDirect | kindForm(arch.Jump), 'k': isDirect | kindForm(arch.Call),
	'c': isDirect | isJcc | kindForm(arch.CondJump), 'l': isDirect | kindForm(arch.CondJump),
	'r': kindForm(arch.Return), 't': kindForm(arch.Trap), 'n': kindForm(arch.Nop),
}

// opcodesText says what it holds.
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
	// opcodes are the maps of each kind by their numbers, of which VEX and XOP have five bits.
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

// number reads a hexadecimal one.
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

// addGroup reads opcodes, /reg values, and ModRM bytes or ranges of them: "c6c7 0 c0-c7 f8".
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

// group says which ModRM bytes an opcode is defined for.
type group struct {
	mem uint8  // /reg values with a memory operand, as bits
	reg uint64 // ModRM-0xc0 values without one, as bits
}

func (g *group) defines(modrm byte) bool {
	if modrm >= 0xc0 {
		return g.reg>>(modrm-0xc0)&1 != 0
	}
	return g.mem>>(modrm>>3&7)&1 != 0
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

// addressesTable reports whether ModRM at b[0] addresses base+index*8 and nothing more: the gc
// compiler (1.19 and later) makes jumps through that for switch statements and nothing else; in C it
// can be a tail call through an array. A base of rbp or r13 can only be written with a displacement, which is then 0.
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

// ops3DNow are the bytes behind the operands of 0f 0f that select an operation (AMD APM
// vol. 3, appendix A).
const ops3DNow = "\x0c\x0d\x1c\x1d\x8a\x8e\x90\x94\x96\x97\x9a\x9e\xa0\xa4\xa6\xa7\xaa\xae\xb0\xb4\xb6\xb7\xbb\xbf"
