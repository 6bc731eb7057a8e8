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

// maxRead is the maximum number of instructions that Read decodes.
const maxRead = 64

// Read decodes the function up to the first instruction whose operands it does not know. The result may
// contain registers that a prologue saves for the caller, such as x29, but not x30.
func (processor) Read(code []byte) (read []arch.Reg) {
	var found, written set
	for at := 0; at+size <= len(code) && at < maxRead*size; at += size {
		w := word(code[at:])
		o, known := decode(w)
		c := classify(w)
		if !known || !goesOn(c) || c == call || c == callReg || c == authCall {
			break
		}
		for r := range uint32(link) {
			if o.reads&^written&^found&one(r) != 0 {
				read = append(read, x[r])
			}
		}
		found |= o.reads &^ written
		written |= o.writes
	}
	return read
}
