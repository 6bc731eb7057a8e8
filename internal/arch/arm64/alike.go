package arm64

import "bytes"

// page holds the addresses that an ADRP at an offset loads in both functions. open means that they differ, and that no later
// instruction has completed and compared them.
type page struct {
	x, y        uint64
	at          int
	known, open bool
}

// Alike compares one word after the other. The address of data takes two instructions: ADRP loads the upper bits,
// relative to its own page, and an ADD, load or store that uses the register has the lower 12 bits.
func (processor) Alike(x, y []byte, addr uint64, same func(x, y uint64, absolute bool) bool) (at int, ok bool) {
	var pages [32]page
	for ; at+size <= len(x) && at+size <= len(y); at += size {
		v, w, here := word(x[at:]), word(y[at:]), addr+uint64(at)
		if v&0x9f00001f == 0x90000000|rd(v) && w&0x9f00001f == 0x90000000|rd(v) { // ADRP of the same register
			if p := &pages[rd(v)]; p.open {
				return p.at, false
			}
			own, other := pageOf(v, here), pageOf(w, here)
			pages[rd(v)] = page{own, other, at, true, own != other}
			continue
		}
		if p := &pages[rn(v)]; p.known && v&^lowBits == w&^lowBits {
			if shift, is := low(v); is {
				p.open = false
				if !same(p.x+uint64(v>>10&0xfff)<<shift, p.y+uint64(w>>10&0xfff)<<shift, false) {
					return at, false
				}
				continue
			}
		}
		if v&0x9f00001f == 0x10000000|rd(v) && w&0x9f00001f == 0x10000000|rd(v) && v != w { // ADR
			if !same(here+distance(v), here+distance(w), false) {
				return at, false
			}
			continue
		}
		if v != w {
			return at, false
		}
	}
	for _, p := range pages {
		if p.open {
			return p.at, false
		}
	}
	return at, bytes.Equal(x[at:], y[at:])
}

const lowBits = 0xfff << 10

// low reports whether an instruction adds 12 bits to a register, or accesses memory at the sum. shift is the number of
// bits that they are shifted left.
func low(w uint32) (shift uint32, is bool) {
	if w&0xffc00000 == 0x91000000 { // ADD
		return 0, true
	}
	if w&0x3b000000 != 0x39000000 {
		return 0, false
	}
	return scale(w), true
}

// distance returns the distance of ADR in bytes, or of ADRP in pages.
func distance(w uint32) uint64 { return uint64(signed(w, 5, 19)<<2 | int64(w>>29&3)) }

// pageOf returns the address that an ADRP at an address loads.
func pageOf(w uint32, at uint64) uint64 { return at&^0xfff + distance(w)<<12 }
