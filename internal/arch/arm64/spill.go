package arm64

import "github.com/ftgo/ftgo/internal/arch"

// Spills knows STR and STP. Before its call of runtime.morestack, a function also moves the return address to x3.
func (processor) Spills(code []byte) (spills []arch.Spill, ok bool) {
	w := word(code)
	o, known := decode(w)
	switch {
	case w == 0xaa1e03e3: // MOV x30, x3
		return nil, true
	case !known || o.loads || !o.stores || o.base != stack || o.indexed || o.writes != 0:
		return nil, false
	}
	each := o.bytes
	if o.second != noRegister {
		each /= 2
	}
	for i, r := range []uint32{o.first, o.second}[:o.bytes/each] {
		if !o.vector && r == stack { // the zero register
			return nil, false
		}
		s := arch.Spill{Disp: o.disp + int64(i)*each, Size: each}
		if !o.vector {
			s.Register = x[r]
		}
		spills = append(spills, s)
	}
	return spills, true
}
