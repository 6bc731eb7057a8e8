// Package debug reads debug information: of functions, types and variables, of the source lines
// of instructions and the calls that were inlined there (DWARF), and of how frames lie on the
// stack (.eh_frame).
package debug

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// ErrNone: the file has no DWARF (built with -ldflags=-w, or stripped).
var ErrNone = errors.New("no debug information")

// Info is the debug information of a file. It goes to the entries that are asked for; only names
// and inlined calls need a pass over everything.
type Info struct {
	image    *image.Image
	sections sections
	info     []byte
	data     *dwarf.Data
	units    []*unit     // by offset
	ranges   []unitRange // by address
	// withLines is data that has line tables too; lineFuel is how many bytes of these may still be
	// read: units may share one.
	withLines func() (*dwarf.Data, error)
	lineFuel  atomic.Int64

	mu sync.Mutex // for all below
	entryReader
	types map[dwarf.Offset]*gotype.Type
	names *entryNames
}

// unit is a compilation unit.
type unit struct {
	entry      *dwarf.Entry
	start, end dwarf.Offset // of the entries
	base       uint64       // address that location lists count from
	addrBase   int64        // of its part of .debug_addr
	name       string
	language   int64
	producer   string
	funcs      map[uint64]dwarf.Offset // entries of subprograms by address; nil before they are needed
	lines      lineTable
}

// unitRange is a run of addresses that a compilation unit describes.
type unitRange struct {
	low, high uint64
	unit      *unit
}

// DW_LANG_… (DWARF 5, 7.12).
const (
	langGo          = 0x16
	langCPlusPlus   = 0x04
	langCPlusPlus03 = 0x19
	langCPlusPlus11 = 0x1a
	langCPlusPlus14 = 0x21
)

// Open lists the compilation units.
func Open(m *image.Image) (*Info, error) {
	d := &Info{image: m, sections: sections{image: m}, types: make(map[dwarf.Offset]*gotype.Type)}
	var err error
	if d.data, err = d.sections.dwarf(); err != nil {
		return nil, err
	}
	d.info, _ = d.sections.read("info") // which was read just now
	d.entryReader = newEntryReader(d.data, d.info)
	d.withLines = sync.OnceValues(d.readLines)
	err = eachUnit(d.info, func(u unitHeader) error {
		if u.other {
			return nil
		}
		return d.addUnit(dwarf.Offset(u.first), dwarf.Offset(u.end))
	})
	if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	slices.SortFunc(d.ranges, func(x, y unitRange) int { return cmp.Compare(x.low, y.low) })
	return d, nil
}

// addUnit notes a unit. One that can't be read is left out: the others may be sound.
func (d *Info) addUnit(first, end dwarf.Offset) error {
	e, err := d.at(first)
	if errors.Is(err, errTooLong) {
		return err
	}
	if err != nil || e.Tag != dwarf.TagCompileUnit {
		return nil
	}
	u := &unit{entry: e, start: first, end: end}
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
			d.ranges = append(d.ranges, unitRange{r[0], r[1], u})
		}
	}
	return nil
}

// unitAt is the unit that describes an address, or nil.
func (d *Info) unitAt(addr uint64) *unit {
	i := sort.Search(len(d.ranges), func(i int) bool { return d.ranges[i].low > addr }) - 1
	if i < 0 || addr >= d.ranges[i].high {
		return nil
	}
	return d.ranges[i].unit
}

// HasGo tells whether some of it is of Go's own compiler.
func (d *Info) HasGo() bool {
	return slices.ContainsFunc(d.units, func(u *unit) bool { return strings.HasPrefix(u.producer, "Go cmd/compile") })
}
