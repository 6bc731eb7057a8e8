package arm64

import "testing"

// TestExclusive: no probe is between an exclusive load and its store, whichever way execution takes.
func TestExclusive(t *testing.T) {
	const (
		mov, cmp, ret  = 0xaa0103e0, 0xeb02007f, 0xd65f03c0
		load, store    = 0xc85ffc22, 0xc81bfc22
		loopOver3      = 0xb5ffffbb // cbnz x27, .-12
		notEqual3      = 0x54000061 // b.ne .+12
		notEqual2      = 0x54000041 // b.ne .+8
		over3, clearEx = 0x14000003, 0xd5033f5f
	)
	for _, c := range []struct {
		scenario string
		words    []uint32
		refused  []bool
	}{
		{"addition", []uint32{mov, load, mov, store, loopOver3, ret}, []bool{false, true, true, true, false, false}},
		{"comparison leaves in between", []uint32{load, cmp, notEqual3, store, loopOver3, ret}, []bool{true, true, true, true, false, false}},
		{"what follows a load alone", []uint32{load, mov, ret, mov}, []bool{true, false, false, false}},
		{"two loops, and what is between", []uint32{load, store, mov, load, store, ret}, []bool{true, true, false, true, true, false}},
		{"store elsewhere", []uint32{load, over3, mov, ret, store, ret}, []bool{true, true, false, false, true, false}},
		{"failed comparison goes on by itself", []uint32{load, notEqual2, store, clearEx, ret}, []bool{true, true, true, false, false}},
	} {
		function := code(c.words...)
		for i, want := range c.refused {
			if got := Processor.Cost(function, 4*i).Refused != ""; got != want {
				t.Errorf("%s: instruction %d refused: %v", c.scenario, i, got)
			}
		}
	}
	far := make([]uint32, 64)
	for i := range far {
		far[i] = mov
	}
	far[0], far[32], far[40] = load, store, ret
	for i, want := range map[int]bool{1: true, 31: true, 33: false} {
		if got := Processor.Cost(code(far...), 4*i).Refused != ""; got != want {
			t.Errorf("128 bytes between them: instruction %d refused: %v", i, got)
		}
	}
}
