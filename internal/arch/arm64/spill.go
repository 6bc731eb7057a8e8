package arm64

import "github.com/ftgo/ftgo/internal/arch"

// Spilled reads the code before the call of morestack, which stores registers in their stack slots with STR and STP, and
// moves the return address to x3. Go 1.18 and later spill all registers that arguments are passed in, even unused
// ones (RegArgs in cmd/compile/internal/ssagen/ssa.go, SpillRegisterArgs in cmd/internal/obj).
func (processor) Spilled(code []byte, c arch.Check) (spills []arch.Spill, ok bool) {
	if c.Jump < 0 || c.Jump+size > len(code) {
		return nil, false
	}
	for at := c.Jump + int(target(word(code[c.Jump:]))); 0 < at && at+size <= len(code); at += size {
		w := word(code[at:])
		switch o, known := decode(w); {
		case classify(w) == call:
			return spills, true
		case w == 0xaa1e03e3: // MOV x30, x3
		case !known || o.loads || !o.stores || o.base != stack || o.indexed || o.writes != 0:
			return nil, false
		default:
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
		}
	}
	return nil, false
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
