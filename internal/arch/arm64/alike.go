package arm64

import "bytes"

// page is where an ADRP leads that differs, in both functions; at is its offset.
type page struct {
	x, y uint64
	at   int
	used bool
}

// Alike compares word by word. Where data is takes two instructions: ADRP has the upper bits of the address, relative
// to its own page, and those that go by its register have the lower 12: ADD, loads, stores.
func (processor) Alike(x, y []byte, addr uint64, same func(x, y uint64, absolute bool) bool) (at int, ok bool) {
	var pages [32]*page
	// done tells where an ADRP differs by whose register nothing goes.
	done := func(p *page) (at int, differs bool) {
		if p == nil || p.used || p.x == p.y {
			return 0, false
		}
		return p.at, true
	}
	for ; at+size <= len(x) && at+size <= len(y); at += size {
		v, w := word(x[at:]), word(y[at:])
		if v&0x9f00001f == 0x90000000|rd(v) && w&0x9f00001f == 0x90000000|rd(v) { // ADRP of the same register
			if where, differs := done(pages[rd(v)]); differs {
				return where, false
			}
			here := addr + uint64(at)
			pages[rd(v)] = &page{x: pageOf(v, here), y: pageOf(w, here), at: at}
			continue
		}
		if p := pages[rn(v)]; p != nil && v&^lowBits == w&^lowBits {
			if shift, is := low(v); is {
				p.used = true
				if !same(p.x+uint64(v>>10&0xfff)<<shift, p.y+uint64(w>>10&0xfff)<<shift, false) {
					return at, false
				}
				continue
			}
		}
		if v&0x9f00001f == 0x10000000|rd(v) && w&0x9f00001f == 0x10000000|rd(v) && v != w { // ADR
			here := addr + uint64(at)
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
		if where, differs := done(p); differs {
			return where, false
		}
	}
	return at, bytes.Equal(x[at:], y[at:])
}

const lowBits = 0xfff << 10

// low tells whether an instruction adds its 12 bits to a register, or accesses memory there, and how far they are shifted.
func low(w uint32) (shift uint32, is bool) {
	if w&0xffc00000 == 0x91000000 { // ADD
		return 0, true
	}
	if w&0x3b000000 != 0x39000000 {
		return 0, false
	}
	return scale(w), true
}

// distance is that of ADR and, in pages, that of ADRP.
func distance(w uint32) uint64 { return uint64(signed(w, 5, 19)<<2 | int64(w>>29&3)) }

func pageOf(w uint32, at uint64) uint64 { return at&^0xfff + distance(w)<<12 }
