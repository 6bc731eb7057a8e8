package debug

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Unwind holds the entries of .eh_frame, sorted by address. The entries name no functions, but stripping does not remove
// them, and they contain two kinds of data that symbols lack: the start and end of each piece of code, and the distance of
// SP from the return address at each of its instructions.
//
// The format: Linux Standard Base Core 5.0, chapter 10.6, and DWARF 5, section 6.4.
type Unwind []UnwindEntry

// UnwindEntry is a frame description entry: a piece of code and the program that describes its frames.
type UnwindEntry struct {
	Addr, Size uint64
	common     *common
	program    []byte
}

// common is a common information entry, which several frame description entries share.
type common struct {
	codeAlign, dataAlign int64
	pointers             byte // the encoding of addresses in entries
	augmented            bool
	program              []byte
}

// ReadUnwind reads .eh_frame. It returns nil for a file without it.
func ReadUnwind(m *image.Image) Unwind {
	s := m.RawSection(".eh_frame")
	if s == nil {
		return nil
	}
	data := make([]byte, s.Size)
	if _, err := s.ReadAt(data, 0); err != nil {
		return nil
	}
	return parseUnwind(data, s.Addr)
}

// parseUnwind parses .eh_frame, which is loaded at addr. It skips entries that it can't read.
func parseUnwind(data []byte, addr uint64) Unwind {
	var t Unwind
	commons := make(map[int]*common)
	for at := 0; at+4 <= len(data); {
		size, id := uint64(binary.LittleEndian.Uint32(data[at:])), at+4
		if size == 0xffffffff && at+12 <= len(data) {
			size, id = binary.LittleEndian.Uint64(data[at+4:]), at+12
		}
		if size > uint64(len(data)-id) {
			break
		}
		end := id + int(size)
		if size >= 4 {
			r := &reader{data: data[:end], at: id + 4}
			if back := int(binary.LittleEndian.Uint32(data[id:])); back == 0 {
				commons[at] = r.common()
			} else if c := commons[id-back]; c != nil {
				if e, ok := r.entry(c, addr); ok {
					t = append(t, e)
				}
			}
		}
		at = end
	}
	slices.SortFunc(t, func(x, y UnwindEntry) int { return cmp.Compare(x.Addr, y.Addr) })
	return t
}

// At returns the entry whose code contains an address.
func (t Unwind) At(addr uint64) (*UnwindEntry, bool) {
	i := sort.Search(len(t), func(i int) bool { return t[i].Addr > addr }) - 1
	if i < 0 || addr-t[i].Addr >= t[i].Size {
		return nil, false
	}
	return &t[i], true
}

// common reads a common information entry after its id. It returns nil if the entry is damaged or has an unknown version or
// augmentation.
func (r *reader) common() *common {
	version := r.u8()
	n := bytes.IndexByte(r.data[min(r.at, len(r.data)):], 0)
	if version != 1 && version != 3 || n < 0 {
		return nil
	}
	augmentation := string(r.data[r.at : r.at+n])
	r.at += n + 1
	c := &common{codeAlign: int64(r.uleb()), dataAlign: r.sleb()}
	if version == 1 {
		r.u8() // the return address's column
	} else {
		r.uleb()
	}
	if augmentation != "" {
		if augmentation[0] != 'z' {
			return nil
		}
		c.augmented = true
		program := r.uleb()
		program += uint64(r.at)
		for _, a := range augmentation[1:] {
			switch a {
			case 'R':
				c.pointers = r.u8()
			case 'L':
				r.u8()
			case 'P':
				r.pointer(r.u8(), 0)
			case 'S', 'B': // signal frame, pointer authentication
			default:
				return nil
			}
		}
		if program > uint64(len(r.data)) {
			return nil
		}
		r.at = int(program)
	}
	if r.bad {
		return nil
	}
	c.program = r.data[r.at:]
	return c
}

// entry reads a frame description entry after its id.
func (r *reader) entry(c *common, section uint64) (e UnwindEntry, ok bool) {
	e.common = c
	e.Addr = r.pointer(c.pointers, section+uint64(r.at))
	e.Size = r.pointer(c.pointers&0x0f, 0)
	if c.augmented {
		n := r.uleb()
		if n > uint64(len(r.data)) {
			return e, false
		}
		r.at += int(n)
	}
	if r.bad || r.at > len(r.data) || e.Size == 0 || e.Addr+e.Size < e.Addr {
		return e, false
	}
	e.program = r.data[r.at:]
	return e, true
}

// FrameRule gives the canonical frame address, which is the value of SP before the call, as a register plus an offset.
type FrameRule struct {
	Register uint64 // DWARF's number
	offset   int64
	Computed bool // an expression gives the address instead
}

// Entered reports whether SP has the value that it had at the function's entry.
func (f FrameRule) Entered(m *arch.Machine) bool {
	return f.Register == m.DwarfSP && f.offset == m.CFA && !f.Computed
}

// FrameAt returns the rule that is valid before the instruction at addr runs. ok is false if the rule is unknown.
func (t Unwind) FrameAt(addr uint64) (f FrameRule, ok bool) {
	e, ok := t.At(addr)
	if !ok {
		return f, false
	}
	m := frameMachine{entry: e, until: addr - e.Addr}
	if !m.run(e.common.program) || !m.run(e.program) {
		return f, false
	}
	return m.rule, true
}

// frameMachine executes the program of an entry. It follows only the rule of the frame address.
type frameMachine struct {
	entry *UnwindEntry
	at    uint64 // the present offset from the entry's start
	until uint64 // the offset to stop at
	rule  FrameRule
	saved []FrameRule
}

const (
	maxSavedRules = 64 // compilers save one or two
	// maxFrameProgram is the maximum number of bytes of a program to execute. A hostile file may have a long program
	// and thousands of functions in one entry.
	maxFrameProgram = 1 << 14
)

// run executes a program up to until. It returns false if the program has an unknown instruction or is too long.
func (m *frameMachine) run(program []byte) bool {
	r := &reader{data: program}
	c := m.entry.common
	for r.at < len(r.data) && m.at <= m.until {
		if r.at > maxFrameProgram {
			return false
		}
		op := r.u8()
		units := uint64(0) // the number of code units to advance
		if low := op & 0x3f; op >= 0x40 {
			op &= 0xc0 // the other bits are an operand
			units = uint64(low)
		}
		switch op {
		case 0x40: // DW_CFA_advance_loc
		case 0x80: // DW_CFA_offset
			units = 0
			r.uleb()
		case 0x00, 0xc0: // DW_CFA_nop, DW_CFA_restore
			units = 0
		case 0x02, 0x03, 0x04: // DW_CFA_advance_loc1, 2, 4
			units = r.number(1 << (op - 0x02))
		case 0x06, 0x07, 0x08, 0x2e: // restore_extended, undefined, same_value, GNU_args_size
			r.uleb()
		case 0x05, 0x09, 0x14, 0x2f, 0x11, 0x15: // offset_extended, register, val_offset, GNU_negative_offset_extended, …_sf
			r.uleb()
			r.uleb()
		case 0x10, 0x16: // expression, val_expression
			r.uleb()
			r.skip()
		case 0x0a: // remember_state
			if len(m.saved) == maxSavedRules {
				return false
			}
			m.saved = append(m.saved, m.rule)
		case 0x0b: // restore_state
			last := len(m.saved) - 1
			if last < 0 {
				return false
			}
			m.rule, m.saved = m.saved[last], m.saved[:last]
		case 0x0c: // def_cfa
			m.rule = FrameRule{Register: r.uleb(), offset: int64(r.uleb())}
		case 0x0d: // def_cfa_register
			m.rule.Register = r.uleb()
		case 0x0e: // def_cfa_offset
			m.rule.offset = int64(r.uleb())
		case 0x0f: // def_cfa_expression
			m.rule = FrameRule{Computed: true}
			r.skip()
		case 0x12: // def_cfa_sf
			m.rule = FrameRule{Register: r.uleb(), offset: r.sleb() * c.dataAlign}
		case 0x13: // def_cfa_offset_sf
			m.rule.offset = r.sleb() * c.dataAlign
		default:
			return false
		}
		if r.bad {
			return false
		}
		m.at += units * uint64(c.codeAlign)
	}
	return true
}

// reader reads numbers from a byte slice. Reading beyond the end returns 0 and sets bad.
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

// number reads a little-endian number of n bytes.
func (r *reader) number(n int) uint64 {
	var all [8]byte
	copy(all[:n], r.take(n))
	return binary.LittleEndian.Uint64(all[:])
}

func (r *reader) u8() byte { return r.take(1)[0] }

// leb reads a LEB128 number. bits is the number of bits in the number, last the last byte of the number.
func (r *reader) leb() (v uint64, bits int, last byte) {
	for {
		last = r.u8()
		v |= uint64(last&0x7f) << bits
		if bits += 7; last&0x80 == 0 || r.bad {
			return v, bits, last
		}
	}
}

func (r *reader) uleb() uint64 {
	v, _, _ := r.leb()
	return v
}

func (r *reader) sleb() int64 {
	v, bits, last := r.leb()
	if last&0x40 != 0 && bits < 64 {
		v |= ^uint64(0) << bits
	}
	return int64(v)
}

// skip skips a block that begins with its length.
func (r *reader) skip() { r.take(int(min(r.uleb(), uint64(len(r.data))+1))) }

// pointer reads an address in an encoding DW_EH_PE_…. here is the address of the encoded bytes. pointer sets bad for
// encodings that no linker writes.
func (r *reader) pointer(encoding byte, here uint64) uint64 {
	size := 8
	switch encoding & 0x0f {
	case 0x00, 0x04, 0x0c:
	case 0x02, 0x0a:
		size = 2
	case 0x03, 0x0b:
		size = 4
	default:
		r.bad = true
	}
	v := r.number(size)
	if unused := 64 - 8*size; encoding&0x08 != 0 {
		v = uint64(int64(v<<unused) >> unused)
	}
	switch encoding & 0x70 {
	case 0x00:
	case 0x10: // relative to here
		v += here
	default:
		r.bad = true
	}
	return v
}
