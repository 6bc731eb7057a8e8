package debug

import "encoding/binary"

// reader takes numbers off the start of unwind information. Reading beyond the
// end gives 0 and makes it bad.
type reader struct {
	data []byte
	at   int
	bad  bool
}

func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.data)-r.at {
		r.bad = true
		return make([]byte, 8)
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

func (r *reader) u8() byte { return r.take(1)[0] }

func (r *reader) uleb() (v uint64) {
	for shift := 0; ; shift += 7 {
		c := r.u8()
		v |= uint64(c&0x7f) << shift
		if c&0x80 == 0 || r.bad {
			return v
		}
	}
}

func (r *reader) sleb() int64 {
	var v int64
	for shift := 0; ; {
		c := r.u8()
		v |= int64(c&0x7f) << shift
		shift += 7
		if c&0x80 == 0 || r.bad {
			if c&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// skip jumps over a block with its length before it.
func (r *reader) skip() {
	n := r.uleb()
	if n > uint64(len(r.data)) {
		r.bad = true
		return
	}
	r.take(int(n))
}

// pointer reads an address in one of the encodings DW_EH_PE_…; here is the address
// that it is read from. Encodings that no linker writes make the reader bad.
func (r *reader) pointer(encoding byte, here uint64) (v uint64) {
	switch encoding & 0x0f {
	case 0x00, 0x04, 0x0c:
		v = binary.LittleEndian.Uint64(r.take(8))
	case 0x02:
		v = uint64(binary.LittleEndian.Uint16(r.take(2)))
	case 0x03:
		v = uint64(binary.LittleEndian.Uint32(r.take(4)))
	case 0x0a:
		v = uint64(int16(binary.LittleEndian.Uint16(r.take(2))))
	case 0x0b:
		v = uint64(int32(binary.LittleEndian.Uint32(r.take(4))))
	default:
		r.bad = true
	}
	switch encoding & 0x70 {
	case 0x00:
	case 0x10: // relative to its own place
		v += here
	default:
		r.bad = true
	}
	return v
}
