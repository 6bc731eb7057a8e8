package offsets

import (
	"cmp"
	"debug/dwarf"
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

	mu sync.Mutex // for all below
	entryReader
	data   *dwarf.Data
	units  []*entryUnit // by offset
	ranges []entryRange // by address
	types  map[dwarf.Offset]*gotype.Type
	names  *entryNames
	loc    func() []byte // .debug_loc
	addrs  []byte        // .debug_addr
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

func (b *Binary) readEntries() (*debugEntries, error) {
	data, err := b.dwarfData()
	if err != nil {
		return nil, err
	}
	// Both were read just now.
	info, _ := b.debugSection("info")
	addrs, _ := b.debugSection("addr")
	d := &debugEntries{
		binary: b, data: data, entryReader: newEntryReader(data, info),
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

// readUnits lists the compilation units.
func (d *debugEntries) readUnits(info []byte) error {
	err := eachUnit(info, func(u unitHeader) error {
		if u.other {
			return nil
		}
		return d.addUnit(dwarf.Offset(u.first), dwarf.Offset(u.end))
	})
	slices.SortFunc(d.ranges, func(x, y entryRange) int { return cmp.Compare(x.low, y.low) })
	return err
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
	if err := d.use(len(ranges)); err != nil {
		return err
	}
	for _, r := range ranges {
		if r[0] < r[1] {
			d.ranges = append(d.ranges, entryRange{r[0], r[1], u})
		}
	}
	return nil
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
