package amd64

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

func (m *ppMap) at(op byte) uint8 { return m[op] }

// parsePP reads 16 rows of hexadecimal digits, one digit an opcode.
func parsePP(rows [16]string) (m ppMap) {
	for r, row := range rows {
		for c, digit := range []byte(row) {
			v := digit - '0'
			if digit >= 'a' {
				v = digit - 'a' + 10
			}
			if v == ppNone|pp66|ppF3|ppF2 {
				v |= ppAny
			}
			m[r<<4|c] = v
		}
	}
	return m
}

// twoBytePP goes with twoByte.
var twoBytePP = parsePP([16]string{
	//0123456789abcdef
	"ffff0ffff50f0fff", // 00
	"fff33373ffffffff", // 10
	"ffff000033ffff33", // 20
	"ffffff0ff0200000", // 30
	"ffffffffffffffff", // 40
	"3f553333fff7ffff", // 50
	"3333333333332237", // 60
	"f3333331bb00aa77", // 70
	"ffffffffffffffff", // 80
	"ffffffffffffffff", // 90
	"ffffffffffffffff", // a0
	"ffffffff4fff77ff", // b0
	"fff1333fffffffff", // c0
	"a33333ef33333333", // d0
	"333333e333333333", // e0
	"833333333333333f", // f0
})

// map0F38: all with ModRM, none with an immediate.
var map0F38 = parsePP([16]string{
	//0123456789abcdef
	"3333333333330000", // 00
	"2000220200003330", // 10
	"2222220022220000", // 20
	"2222220222222222", // 30
	"2200000000000000", // 40
	"0000000000000000", // 50
	"0000000000000000", // 60
	"0000000000000000", // 70
	"2220000000000000", // 80
	"0000000000000000", // 90
	"0000000000000000", // a0
	"0000000000000000", // b0
	"0000000011111102", // c0
	"0000000040026666", // d0
	"0000000000000000", // e0
	"bb000270e144f000", // f0
})

// map0F3A: all with ModRM and one byte of immediate.
var map0F3A = parsePP([16]string{
	//0123456789abcdef
	"0000000022222223", // 00
	"0000222200000000", // 10
	"2220000000000000", // 20
	"0000000000000000", // 30
	"2220200000000000", // 40
	"0000000000000000", // 50
	"2222000000000000", // 60
	"0000000000000000", // 70
	"0000000000000000", // 80
	"0000000000000000", // 90
	"0000000000000000", // a0
	"0000000000000000", // b0
	"0000000000001022", // c0
	"0000000000000002", // d0
	"0000000000000000", // e0
	"4000000000000000", // f0
})
