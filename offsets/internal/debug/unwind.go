package debug

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"sort"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Unwind is what .eh_frame says of a file's code, by address. It names no
// functions, but it outlives stripping, and knows two things that symbols don't:
// where a piece of code begins and ends, and how far SP is from the return
// address at each of its instructions.
//
// The format: Linux Standard Base Core 5.0, chapter 10.6, and DWARF 5, section 6.4.
type Unwind []UnwindEntry

// UnwindEntry is one frame description entry: a piece of code and the program that
// tells its frames.
type UnwindEntry struct {
	Addr, Size uint64
	common     *common
	program    []byte
}

// common is what several entries have in common.
type common struct {
	codeAlign, dataAlign int64
	pointers             byte // how entries spell addresses
	augmented            bool
	program              []byte
}

// ReadUnwind reads .eh_frame; a file without it has none.
func ReadUnwind(m *image.Image) Unwind {
	s := m.Plain(".eh_frame")
	if s == nil {
		return nil
	}
	data := make([]byte, s.Size)
	if _, err := s.ReadAt(data, 0); err != nil {
		return nil
	}
	return parseUnwind(data, s.Addr)
}

// parseUnwind reads .eh_frame, which is loaded at addr. What it can't read it leaves out: its
// users must do without where there is nothing.
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

// At returns the entry of the code that an address lies in.
func (t Unwind) At(addr uint64) (*UnwindEntry, bool) {
	i := sort.Search(len(t), func(i int) bool { return t[i].Addr > addr }) - 1
	if i < 0 || addr-t[i].Addr >= t[i].Size {
		return nil, false
	}
	return &t[i], true
}

// common reads a common information entry behind its id; nil for one that says
// more than is understood.
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

// entry reads a frame description entry behind its id.
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
