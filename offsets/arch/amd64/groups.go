package amd64

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
