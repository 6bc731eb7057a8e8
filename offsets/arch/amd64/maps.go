package amd64

import "strings"

// Bits of a ppMap: the mandatory prefixes, in the order of the pp field of VEX
// and EVEX (SDM vol. 2, 2.3).
const (
	ppNone = 1 << iota
	pp66
	ppF3
	ppF2
	ppAny // for the opcodes that are defined with all four
)

// ppMap holds for each opcode of a map the set of mandatory prefixes it is
// defined with, 0 when it is undefined. What else an encoding depends on (memory
// or registers, W, L, the fields of EVEX) is not asked: it does not change the
// length. The maps are SDM vol. 2, tables, and chapters 3 to 6 for
// VEX and EVEX; AMD APM vol. 3, appendix A, for XOP.
type ppMap [256]uint8

// parsePP reads rows of hexadecimal digits, one digit an opcode. Before each row is the digit
// that its opcodes begin with; rows of undefined opcodes are left out.
func parsePP(text string) (m ppMap) {
	const digits = "0123456789abcdef"
	for _, row := range strings.Fields(text) {
		for c, digit := range []byte(row[len("0:"):]) {
			v := uint8(strings.IndexByte(digits, digit))
			if v == ppNone|pp66|ppF3|ppF2 {
				v |= ppAny
			}
			m[strings.IndexByte(digits, row[0])<<4|c] = v
		}
	}
	return m
}

// twoBytePP goes with twoByte, map0F38 and map0F3A are the maps behind 0f 38 (none with an
// immediate) and 0f 3a (all with one byte of it).
var (
	twoBytePP = parsePP(`
		0:ffff0ffff50f0fff  1:fff33373ffffffff  2:ffff000033ffff33  3:ffffff0ff0200000
		4:ffffffffffffffff  5:3f553333fff7ffff  6:3333333333332237  7:f3333331bb00aa77
		8:ffffffffffffffff  9:ffffffffffffffff  a:ffffffffffffffff  b:ffffffff4fff77ff
		c:fff1333fffffffff  d:a33333ef33333333  e:333333e333333333  f:833333333333333f`)
	map0F38 = parsePP(`
		0:3333333333330000  1:2000220200003330  2:2222220022220000  3:2222220222222222
		4:2200000000000000  8:2220000000000000  c:0000000011111102  d:0000000040026666
		f:bb000270e144f000`)
	map0F3A = parsePP(`
		0:0000000022222223  1:0000222200000000  2:2220000000000000  4:2220200000000000
		6:2222000000000000  c:0000000000001022  d:0000000000000002  f:4000000000000000`)
)

// vectorMap is one opcode map behind VEX, EVEX or XOP.
type vectorMap struct {
	opcodes    ppMap
	imm        form // bytes of immediate that every instruction of the map has
	likeLegacy bool // instead, as many as the same opcode behind 0f: 70 to 73, c2, c4 to c6 one
}

// vexMaps are AVX, AVX2 and opmask moves; AVX2, FMA, BMI, AVX-VNNI, AVX-IFMA, AMX, CMPccXADD,
// SHA512, SM3 and SM4; and the last with the four operand FMA4 of AMD.
var vexMaps = [32]vectorMap{
	1: {likeLegacy: true, opcodes: parsePP(`
		1:fff3337300000000  2:0000000033c3cc33  4:0330333300330000  5:3f553333fff7ffff
		6:2222222222222226  7:e22222210000aa66  9:33bb000033000000  a:0000000000000010
		c:00f0223000000000  d:a222222222222222  e:222222e222222222  f:8222222222222220`)},
	2: {opcodes: parsePP(`
		0:2222222222222222  1:0002002222202220  2:2222220022222222  3:2222222222222222
		4:220002220b0e0000  5:ff2200002220c0f0  6:0000000000003000  7:0040000022000000
		8:0000000000002020  9:2222002222222222  a:0000002222222222  b:f600222222222222
		c:0000000000088802  d:0077000000f22222  e:2222222222222222  f:00110d8f00000000`)},
	3: {imm: 1, opcodes: parsePP(`
		0:2220222022222222  1:0000222222000200  2:2220000000000000  3:2222000022000000
		4:2220202022222000  5:0000000000002222  6:2222000022222222  7:0000000022222222
		c:0000000000000022  d:0000000000000022  f:8000000000000000`)},
}

// evexMaps are AVX-512 F, BW, DQ, VL; the same, and VBMI, VNNI, BITALG, BF16 and others; with
// the FP16 comparisons; FP16; FP16, fused and complex.
var evexMaps = [8]vectorMap{
	1: {likeLegacy: true, opcodes: parsePP(`
		1:fff3337300000000  2:0000000033c3cc33  5:0f003333fff7ffff  6:222222222222222e
		7:e2222220ffee006e  c:00f0223000000000  d:0222222022222222  e:222222e222222222
		f:0222222022222220`)},
	2: {opcodes: parsePP(`
		0:2000200000022200  1:6666662022222222  2:6666666666622200  3:6666662266622222
		4:2022222200002222  5:22ea220022220000  6:0022222080000000  7:22e2022222222222
		8:0002000022220202  9:2222002222aa2222  a:2222002222aa2222  b:0000222222222222
		c:0000202220222202  d:0000000000002222`)},
	3: {imm: 1, opcodes: parsePP(`
		0:2202220032320002  1:0000222222220222  2:2222023300000000  3:0000000022220022
		4:0022200000000000  5:2200223300000000  6:0000003300000000  7:2222000000000000
		c:0050000000000022`)},
	5: {opcodes: parsePP(`
		1:4400000000000300  2:0000000000404411  5:0500000055f75555  6:0000000000000020
		7:0000000077a63f20`)},
	6: {opcodes: parsePP(`
		1:0003000000000000  2:0000000000002200  4:0022000000002222  5:000000cc00000000
		9:0000002222222222  a:0000002222222222  b:0000002222222222  d:000000cc00000000`)},
}

// xopMaps have TBM and LWP in 9, bextr and LWP in 10.
var xopMaps = [32]vectorMap{
	8: {imm: 1, opcodes: parsePP(`
		8:0000011100000011  9:0000011100000011  a:0011001000000000  b:0000001000000000
		c:1111000000001111  e:0000000000001111`)},
	9: {opcodes: parsePP(`
		0:0110000000000000  1:0010000000000000  8:1111000000000000  9:1111111111110000
		c:0111001100010000  d:0111001100010000  e:0111000000000000`)},
	10: {imm: 4, opcodes: parsePP(`
		1:1010000000000000`)},
}

// opcodeVector is opcode for VEX (SDM vol. 2, 2.3), EVEX (2.7) and XOP (AMD APM
// vol. 3, 1.2), behind their first byte.
func opcodeVector(w []byte, p int, set, rex uint8) (form, int) {
	if set&^(pAddr|pSegment) != 0 || rex != 0 {
		return 0, p // #UD (SDM vol. 2, 2.3.2 to 2.3.4)
	}
	escape := w[p-1]
	payload := 3 // bytes up to and including the opcode
	switch escape {
	case 0xc5:
		payload = 2
	case 0x62:
		payload = 4
	}
	if p+payload > len(w) {
		return isCut, p
	}
	head, op := w[p], w[p+payload-1]
	pp := w[p+1] & 3
	m := &vexMaps[head&0x1f]
	switch escape {
	case 0xc5:
		m, pp = &vexMaps[1], head&3
	case 0x8f:
		m = &xopMaps[head&0x1f]
	case 0x62:
		// These two bits are fixed, except in the extended EVEX of APX.
		if head&0x08 != 0 || w[p+1]&0x04 == 0 {
			return 0, p
		}
		m = &evexMaps[head&7]
	}
	p += payload
	switch {
	case m.opcodes[op]>>pp&1 == 0:
		return 0, p
	case m == &vexMaps[1] && op == 0x77: // vzeroupper, vzeroall
		return isDefined, p
	case m.likeLegacy:
		return isDefined | hasModRM | twoByte[op]&fixedImm, p
	}
	return isDefined | hasModRM | m.imm, p
}
