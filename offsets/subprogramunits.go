package offsets

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// debugEntries answers what functions, types and variables are by their entries in
// debug information. It goes to those that are asked for; only names need a pass over
// everything.
type debugEntries struct {
	binary *Binary

	mu     sync.Mutex // for all below
	data   *dwarf.Data
	r      *dwarf.Reader
	units  []*entryUnit // by offset
	ranges []entryRange // by address
	// fuel is what may still be read: entries may refer to each other, and share what
	// is long, so that a small file is endless.
	fuel  int
	types map[dwarf.Offset]*gotype.Type
	names *entryNames
	loc   func() []byte // .debug_loc
	addrs []byte        // .debug_addr
}

// entryUnit is a compilation unit.
type entryUnit struct {
	start, end dwarf.Offset // of the entries
	base       uint64       // address that location lists count from
	addrBase   int64        // of its part of .debug_addr
	name       string
	language   int64
	producer   string
	funcs      map[uint64]dwarf.Offset // entries of subprograms by address; nil before they are needed
}

type entryRange struct {
	low, high uint64
	unit      *entryUnit
}

// DW_LANG_… (DWARF 5, 7.12).
const (
	langGo          = 0x16
	langCPlusPlus   = 0x04
	langCPlusPlus03 = 0x19
	langCPlusPlus11 = 0x1a
	langCPlusPlus14 = 0x21
)

var errDebugTooLong = errors.New("read debug information: it leads in circles, or says too much")

func (b *Binary) readEntries() (*debugEntries, error) {
	data, err := b.dwarfData()
	if err != nil {
		return nil, err
	}
	// Both were read just now.
	info, _ := b.debugSection("info")
	addrs, _ := b.debugSection("addr")
	d := &debugEntries{
		binary: b, data: data, r: data.Reader(),
		fuel:  2*len(info) + 1<<16,
		types: make(map[dwarf.Offset]*gotype.Type),
		addrs: addrs,
		loc: func() []byte {
			loc, _ := b.debugSection("loc")
			return loc
		},
	}
	if err := d.readUnits(info); err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	return d, nil
}

// readUnits lists the compilation units by their headers (DWARF 5, 7.5.1), which say
// where the next one is.
func (d *debugEntries) readUnits(info []byte) error {
	le := binary.LittleEndian
	for at := 0; len(info)-at >= 24; {
		size, head, word := uint64(le.Uint32(info[at:])), 4, 4
		if size == 0xffffffff {
			size, head, word = le.Uint64(info[at+4:]), 12, 8
		}
		if size > uint64(len(info)-at-head) {
			return errors.New("a unit is longer than the section")
		}
		next := at + head + int(size)
		// version, then address size and offset of the abbreviations in one order or
		// the other.
		version := le.Uint16(info[at+head:])
		first := at + head + 2 + word + 1
		if version >= 5 {
			const compile, partial = 1, 3
			if kind := info[at+head+2]; kind != compile && kind != partial {
				at = next
				continue
			}
			first++
		}
		if err := d.addUnit(dwarf.Offset(first), dwarf.Offset(next)); err != nil {
			return err
		}
		at = next
	}
	slices.SortFunc(d.ranges, func(x, y entryRange) int { return cmp.Compare(x.low, y.low) })
	return nil
}

// addUnit notes a unit. One that can't be read is left out: the others may be sound.
func (d *debugEntries) addUnit(first, end dwarf.Offset) error {
	e, err := d.at(first)
	if errors.Is(err, errDebugTooLong) {
		return err
	}
	if err != nil || e.Tag != dwarf.TagCompileUnit {
		return nil
	}
	u := &entryUnit{start: first, end: end}
	u.name, _ = e.Val(dwarf.AttrName).(string)
	u.language, _ = e.Val(dwarf.AttrLanguage).(int64)
	u.producer, _ = e.Val(dwarf.AttrProducer).(string)
	u.base, _ = e.Val(dwarf.AttrLowpc).(uint64)
	u.addrBase, _ = e.Val(dwarf.AttrAddrBase).(int64)
	d.units = append(d.units, u)
	ranges, err := d.data.Ranges(e)
	if err != nil {
		return nil
	}
	if d.fuel -= len(ranges); d.fuel < 0 {
		return errDebugTooLong
	}
	for _, r := range ranges {
		if r[0] < r[1] {
			d.ranges = append(d.ranges, entryRange{r[0], r[1], u})
		}
	}
	return nil
}

// at reads the entry at an offset; next reads the one behind.
func (d *debugEntries) at(offset dwarf.Offset) (*dwarf.Entry, error) {
	d.r.Seek(offset)
	e, err := d.next()
	if err == nil && e == nil {
		err = errors.New("reference beyond the end")
	}
	return e, err
}

func (d *debugEntries) next() (*dwarf.Entry, error) {
	e, err := d.r.Next()
	if err != nil || e == nil {
		return nil, err
	}
	d.fuel -= 1 + len(e.Field)/4
	for i := range e.Field {
		if text, ok := e.Field[i].Val.(string); ok {
			d.fuel -= len(text) / 64
		}
	}
	if d.fuel < 0 {
		return nil, errDebugTooLong
	}
	return e, nil
}

// unitNamed is where the entries begin of the unit of that name, 0 if there is none. A
// package of Go is one.
func (d *debugEntries) unitNamed(name string) dwarf.Offset {
	for _, u := range d.units {
		if u.name == name {
			return u.start
		}
	}
	return 0
}

// unitOf is the unit that an address belongs to, or nil.
func (d *debugEntries) unitOf(addr uint64) *entryUnit {
	i := sort.Search(len(d.ranges), func(i int) bool { return d.ranges[i].low > addr }) - 1
	if i < 0 || addr >= d.ranges[i].high {
		return nil
	}
	return d.ranges[i].unit
}
