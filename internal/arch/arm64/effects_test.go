package arm64

import (
	"slices"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
)

// TestEffects: what is not certain is not told.
func TestEffects(t *testing.T) {
	const frame, registers, memory, repeats = "frame ", "registers ", "memory ", "repeats "
	for _, c := range []struct {
		text  string
		words []uint32
		want  string
	}{
		{"mov x0, x1", []uint32{0xaa0103e0}, frame + memory},
		{"cmp x3, x2", []uint32{0xeb02007f}, frame + registers + memory},
		{"mov x16, sp", []uint32{0x910003f0}, frame + registers + memory},
		{"bti c", []uint32{0xd503245f}, frame + registers + memory},
		{"paciasp", []uint32{0xd503233f}, memory},
		{"str x0, [sp, #8]", []uint32{0xf90007e0}, frame + registers},
		{"ldr x0, [sp, #8]", []uint32{0xf94007e0}, frame + memory},
		{"str x0, [x1]", []uint32{0xf9000020}, registers},
		{"ldr x0, [x1]", []uint32{0xf9400020}, memory},
		{"ldr x0, [sp, #4096]", []uint32{0xf94803e0}, memory},
		{"ldr x0, [sp, x1]", []uint32{0xf8616be0}, memory},
		{"stp x29, x30, [sp, #-16]!", []uint32{0xa9bf7bfd}, registers},
		{"sub sp, sp, #16", []uint32{0xd10043ff}, registers + memory},
		{"sub x29, sp, #8", []uint32{0xd10023fd}, registers + memory},
		{"mov x28, x0", []uint32{0xaa0003fc}, memory},
		{"mov x30, x0", []uint32{0xaa0003fe}, memory},
		{"sdiv x0, x1, x2", []uint32{0x9ac20c20}, frame + memory},
		{"fadd d0, d1, d2", []uint32{0x1e622820}, frame + registers + memory},
		{"fmov x0, d1", []uint32{0x9e660020}, frame + memory},
		{"bl", []uint32{0x94000004}, memory},
		{"mrs x0, tpidr_el0", []uint32{0xd53bd040}, frame + memory},
		{"mrs x0, midr_el1", []uint32{0xd5380000}, memory},
		{"adrp x27, x", []uint32{0x9000001b, 0xf9400b60}, frame + registers + memory + repeats},
		{"add x27, x27, #1", []uint32{0x9100077b}, frame + registers + memory + repeats},
		{"adrp x0, x; add x0, x0, #8", []uint32{0x90000000, 0x91002000}, frame + memory},
		{"adrp x0, x; ldr x0, [x0]", []uint32{0x90000000, 0xf9400000}, frame + memory + repeats},
		{"adrp x0, x; ldr x1, [x0]", []uint32{0x90000000, 0xf9400001}, frame + memory},
		{"ptrue p0.b", []uint32{0x2518e3e0}, ""},
		{"undefined", []uint32{0x00010000}, ""},
		{"nothing", nil, ""},
	} {
		e := Processor.Effects(code(c.words...))
		got := ""
		for _, f := range []struct {
			is   bool
			name string
		}{{e.KeepsFrame, frame}, {e.KeepsRegisters, registers}, {e.KeepsMemory, memory}, {e.Repeats, repeats}} {
			if f.is {
				got += f.name
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestSpilled: what a function saves where its stack check fails.
func TestSpilled(t *testing.T) {
	const (
		guard, compare, fails = 0xf9400b90, 0xeb3063ff, 0x54000049 // b.ls .+8
		ret, moves, calls     = 0xd65f03c0, 0xaa1e03e3, 0x94000100
	)
	// The jump back is 4 times the number of instructions before it.
	function := func(spills ...uint32) []byte {
		words := append([]uint32{guard, compare, fails, ret}, spills...)
		words = append(words, moves, calls)
		return code(append(words, 0x14000000|(-uint32(len(words)))&0x3ffffff)...)
	}
	for _, c := range []struct {
		scenario string
		spills   []uint32
		want     []arch.Spill
		ok       bool
	}{
		{"none", nil, nil, true},
		{"one, a pair, and one of floating point", []uint32{0xf90007e0, 0xa90147e1&^0x7c00 | 2<<10, 0xfd000fe0}, []arch.Spill{
			{Register: "x0", Disp: 8, Size: 8}, {Register: "x1", Disp: 16, Size: 8}, {Register: "x2", Disp: 24, Size: 8}, {Disp: 24, Size: 8},
		}, true},
		{"a byte", []uint32{0x390023e0}, []arch.Spill{{Register: "x0", Disp: 8, Size: 1}}, true},
		{"something else", []uint32{0xaa0103e0}, nil, false},
	} {
		f := function(c.spills...)
		check, ok := arch.StackCheck(Processor, f, arch.Instructions(Processor, f))
		if !ok {
			t.Fatalf("%s: no stack check", c.scenario)
		}
		spills, _, ok := arch.Spilled(Processor, f, check)
		if ok != c.ok || !slices.Equal(spills, c.want) {
			t.Errorf("%s: %v, %v", c.scenario, spills, ok)
		}
	}
}
