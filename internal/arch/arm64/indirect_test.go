package arm64

import (
	"testing"
)

// straight is a function at 0x1000 whose instructions follow each other; at 0x2000 another one begins, and at
// 0x3000 is an array of addresses.
type straight struct {
	code  []byte
	array uint64 // the first of the array
}

const start = 0x1000

func (s straight) Start() uint64         { return start }
func (s straight) Code(at uint64) []byte { return s.code[at-start:] }

func (s straight) Above(at uint64) (uint64, bool) { return at - 4, at > start }

func (s straight) Before(at uint64) []uint64 {
	if at == start {
		return nil
	}
	return []uint64{at - 4}
}

func (s straight) Inside(addr uint64) (inside, ok bool) {
	inside = start < addr && addr < start+uint64(len(s.code))
	return inside, inside || addr == 0x2000
}

func (s straight) Pointer(at uint64) (uint64, bool) { return s.array, at == 0x3000 }

// TestLeads: switches stay inside, calls by pointers leave, and what can't be told is not.
func TestLeads(t *testing.T) {
	const (
		inside  = "inside"
		leaves  = "leaves"
		unknown = "unknown"

		br1, br16     = 0xd61f0020, 0xd61f0200
		adrpArray     = 0xd0000000 // adrp x0, .+0x2000 pages, of 0x1000: 0x3000
		addArray      = 0x91000000 // add x0, x0, #0
		element       = 0xf8617801 // ldr x1, [x0, x1, lsl #3]
		halfword      = 0x78615801 // ldrh w1, [x0, w1, uxtw #1]
		adr2          = 0x10000062 // adr x2, .+12
		addHalf       = 0x8b21a841 // add x1, x2, w1, sxth #2
		loadsWord     = 0xb8a17801 // ldrsw x1, [x0, x1, lsl #2]
		addWord       = 0x8b010001 // add x1, x0, x1
		other         = 0x8b030041 // add x1, x2, x3
		pops          = 0xa8c17bfd // ldp x29, x30, [sp], #16
		authenticates = 0xd50323bf
		raisesSP      = 0x910083ff // add sp, sp, #32
		field         = 0xf9400401 // ldr x1, [x0, #8]
		movesBase     = 0xf8408422 // ldr x2, [x1], #8
		copies        = 0xaa0103f0 // mov x16, x1
		calls         = 0x94000004
		result        = 0xaa0003e1 // mov x1, x0
		vector        = 0x2518e3e0 // ptrue: not known what it writes
		jumpTo2000    = 0xb0000001 // adrp x1, .+0x1000 pages: 0x2000
	)
	for _, c := range []struct {
		scenario string
		words    []uint32
		array    uint64
		want     string
	}{
		{"switch of GCC", []uint32{adrpArray, addArray, halfword, adr2, addHalf, br1, 0, 0}, 0, inside},
		{"switch of Clang", []uint32{adrpArray, addArray, loadsWord, addWord, br1, 0}, 0, inside},
		{"array of labels", []uint32{adrpArray, addArray, element, br1, 0}, start + 4, inside},
		{"array of functions", []uint32{adrpArray, addArray, element, br1}, 0x2000, leaves},
		{"array that holds neither", []uint32{adrpArray, addArray, element, br1}, 0x5000, unknown},
		{"array that is an argument", []uint32{element, br1}, 0x2000, unknown},
		{"method", []uint32{field, br1}, 0, leaves},
		{"method, copied", []uint32{field, copies, br16}, 0, leaves},
		{"array that was gone through", []uint32{movesBase, br1}, 0, unknown},
		{"argument", []uint32{br1}, 0, leaves},
		{"behind an epilogue", []uint32{other, pops, br1}, 0, leaves},
		{"behind the rise of SP", []uint32{other, raisesSP, br1}, 0, leaves},
		{"before the end of an epilogue", []uint32{pops, other, br1}, 0, unknown},
		{"behind an epilogue that authenticates", []uint32{other, pops, authenticates, br1}, 0, leaves},
		{"result of a call", []uint32{calls, result, br1}, 0, leaves},
		{"another function", []uint32{jumpTo2000, br1}, 0, leaves},
		{"sum of what is no table", []uint32{other, br1}, 0, unknown},
		{"switch behind an epilogue", []uint32{pops, adrpArray, addArray, loadsWord, addWord, br1}, 0, inside},
		{"unknown instruction before", []uint32{field, vector, br1}, 0, unknown},
		{"no jump", []uint32{field}, 0, unknown},
	} {
		way := straight{code(c.words...), c.array}
		at := uint64(start)
		for i, w := range c.words {
			if w == br1 || w == br16 {
				at = start + uint64(4*i)
			}
		}
		in, ok := Processor.Leads(at, way)
		got := unknown
		if ok && in {
			got = inside
		} else if ok {
			got = leaves
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.scenario, got, c.want)
		}
	}
}

// TestAlike: where data is may differ, if both say that it is the same.
func TestAlike(t *testing.T) {
	const (
		adrp1, adrp2 = 0xb0000000, 0xd0000000 // of x0, .+0x1000 and .+0x2000
		load0, load8 = 0xf9400001, 0xf9400401 // ldr x1, [x0] and [x0, #8]
		add0, add8   = 0x91000000, 0x91002000 // add x0, x0, #0 and #8
		load9        = 0xf9400409             // of x9
		near, nearer = 0x10000060, 0x10000040 // adr x0, .+12 and .+8
		ret, mov     = 0xd65f03c0, 0xaa0103e0
	)
	data := map[[2]uint64]bool{{0x2000, 0x2008}: true, {0x2000, 0x3000}: true, {0x2008, 0x3008}: true, {0x100c, 0x1008}: true}
	for _, c := range []struct {
		scenario string
		x, y     []uint32
		at       int // where they differ, -1 if they are alike
	}{
		{"the same", []uint32{mov, ret}, []uint32{mov, ret}, -1},
		{"another instruction", []uint32{mov, ret}, []uint32{mov, mov}, 4},
		{"longer", []uint32{mov}, []uint32{mov, ret}, 4},
		{"data elsewhere in the page", []uint32{adrp1, load0, ret}, []uint32{adrp1, load8, ret}, -1},
		{"data in another page", []uint32{adrp1, add0, ret}, []uint32{adrp2, add0, ret}, -1},
		{"two of one page", []uint32{adrp1, load0, load8, ret}, []uint32{adrp2, load0, load8, ret}, -1},
		{"other data", []uint32{adrp1, load0, ret}, []uint32{adrp2, load8, ret}, 4},
		{"another register", []uint32{adrp1, load8, ret}, []uint32{adrp2, load9, ret}, 4},
		{"number that is added to no page", []uint32{add0, ret}, []uint32{add8, ret}, 0},
		{"page of which nothing is used", []uint32{adrp1, mov, ret}, []uint32{adrp2, mov, ret}, 0},
		{"near data", []uint32{near, ret}, []uint32{nearer, ret}, -1},
	} {
		at, ok := Processor.Alike(code(c.x...), code(c.y...), start, func(x, y uint64, _ bool) bool { return x == y || data[[2]uint64{x, y}] })
		if ok != (c.at < 0) || !ok && at != c.at {
			t.Errorf("%s: %d, %v; want %d", c.scenario, at, ok, c.at)
		}
	}
}
