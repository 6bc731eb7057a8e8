// Package debug reads debug information: functions, types, variables, source lines and inlined calls from DWARF, and the
// layout of stack frames from .eh_frame.
package debug

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// ErrNone means that the file has no DWARF, because it was built with -ldflags=-w or stripped.
var ErrNone = errors.New("no debug information")

// Info is the debug information of a file. It reads entries when they are needed. Only names and inlined calls need a pass
// over all entries.
type Info struct {
	image              *image.Image
	info, lines, addrs []byte      // sections
	units              []*unit     // by offset
	ranges             []unitRange // by address
	// lineFuel is the number of bytes of line tables that may still be read, because units of a hostile file may share a table.
	lineFuel atomic.Int64

	mu sync.Mutex // protects all fields below
	entryReader
	spent    uint64        // the total size of the sections that were read, in bytes
	debugLoc func() []byte // returns .debug_loc
	types    map[dwarf.Offset]*gotype.Type
	// Types and package variables by name; nil before they are needed.
	named map[string]dwarf.Offset
	vars  map[string]staticEntry
}

// unit is a compilation unit.
type unit struct {
	entry    *dwarf.Entry
	end      dwarf.Offset            // the end of the unit's entries
	addrBase int64                   // the offset of the unit's part of .debug_addr
	funcs    map[uint64]dwarf.Offset // entries of subprograms by address; nil before they are needed
	// constants are the constants of the unit's package; nil before they are needed.
	constants []constant
	// files returns the names of the unit's source files by number, "" for an unused number. rows returns the unit's lines.
	files func() []string
	rows  func() ([]lineRow, error)
}

func (u *unit) producer() string { return val[string](u.entry, dwarf.AttrProducer) }

// unitRange is a range of addresses that a compilation unit describes.
type unitRange struct {
	low, high uint64
	unit      *unit
}

// Open lists the compilation units. It returns [ErrNone] if the file has no debug information.
func Open(m *image.Image) (*Info, error) {
	d := &Info{image: m, types: make(map[dwarf.Offset]*gotype.Type)}
	if err := d.readSections(); err != nil {
		return nil, err
	}
	d.entryReader = newEntryReader(d.data, d.info)
	d.lineFuel.Store(4*int64(len(d.lines)) + 1<<16) // every table can be read more than once
	d.debugLoc = sync.OnceValue(func() []byte {
		loc, _ := d.section("loc") // without it use the other locations
		return loc
	})
	err := eachUnit(d.info, func(first, end int, _ uint64, other bool) error {
		if other {
			return nil
		}
		return d.addUnit(dwarf.Offset(first), dwarf.Offset(end))
	})
	if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	slices.SortFunc(d.ranges, func(x, y unitRange) int { return cmp.Compare(x.low, y.low) })
	return d, nil
}

// addUnit adds a unit. It skips a unit that can't be read, because the other units may be sound.
func (d *Info) addUnit(first, end dwarf.Offset) error {
	e, err := d.at(first)
	if errors.Is(err, errTooLong) {
		return err
	}
	if err != nil || e.Tag != dwarf.TagCompileUnit {
		return nil
	}
	u := &unit{entry: e, end: end, addrBase: val[int64](e, dwarf.AttrAddrBase)}
	u.files = sync.OnceValue(func() []string { return d.readFiles(u) })
	u.rows = sync.OnceValues(func() ([]lineRow, error) { return d.readRows(u) })
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

// unitAt returns the unit that describes an address, or nil.
func (d *Info) unitAt(addr uint64) *unit {
	i := sort.Search(len(d.ranges), func(i int) bool { return d.ranges[i].low > addr }) - 1
	if i < 0 || addr >= d.ranges[i].high {
		return nil
	}
	return d.ranges[i].unit
}

// HasGo reports whether some unit was compiled by gc.
func (d *Info) HasGo() bool {
	return slices.ContainsFunc(d.units, func(u *unit) bool { return strings.HasPrefix(u.producer(), "Go cmd/compile") })
}

// staticEntry is a variable at a fixed address.
type staticEntry struct {
	addr uint64
	typ  dwarf.Offset
}

// TypeNamed finds a type by its whole name.
func (d *Info) TypeNamed(name string) (*gotype.Type, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readNames() != nil {
		return nil, false
	}
	at := cmp.Or(d.named[name], d.named[EscapedPath(name)])
	if at == 0 {
		return nil, false
	}
	t := d.typeAt(at, 0)
	return t, t.Kind != reflect.Invalid
}

// EscapedPath returns a name whose import path is spelled as in symbols, with dots in its last element escaped
// (cmd/internal/objabi/path.go).
func EscapedPath(name string) string {
	slash, dot := strings.LastIndexByte(name, '/'), strings.LastIndexByte(name, '.')
	if slash < 0 || dot < slash {
		return name
	}
	return name[:slash] + strings.ReplaceAll(name[slash:dot], ".", "%2e") + name[dot:]
}

// readNames lists all named types and variables in one pass.
func (d *Info) readNames() error {
	if d.named != nil {
		return nil
	}
	d.named, d.vars = make(map[string]dwarf.Offset), make(map[string]staticEntry)
	for _, u := range d.units {
		err := d.walk(u, func(e *dwarf.Entry) (inside bool, err error) {
			d.addName(u, e)
			return e.Tag == dwarf.TagCompileUnit || e.Tag == dwarf.TagNamespace, nil
		})
		if err != nil {
			d.named = nil
			return err
		}
	}
	return nil
}

// Variable finds a package variable of Go or a global variable of C.
func (d *Info) Variable(name string) (t *gotype.Type, addr uint64, ok bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.readNames(); err != nil {
		return nil, 0, false, fmt.Errorf("read debug information: %w", err)
	}
	for _, spelled := range []string{name, EscapedPath(name)} {
		if e, ok := d.vars[spelled]; ok {
			return d.typeAt(e.typ, 0), e.addr, true, nil
		}
	}
	return nil, 0, false, nil
}

// Variables returns the names of all variables that Variable finds.
func (d *Info) Variables() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readNames() != nil {
		return nil
	}
	return slices.Collect(maps.Keys(d.vars))
}

// addName adds the entry of a type or a variable to d.named or d.vars.
func (d *Info) addName(u *unit, e *dwarf.Entry) {
	switch e.Tag {
	case dwarf.TagVariable:
		name, _ := d.attr(e, dwarf.AttrName).(string)
		typ, _ := d.attr(e, dwarf.AttrType).(dwarf.Offset)
		addr, ok := d.staticAddr(u, val[[]byte](e, dwarf.AttrLocation))
		if _, twice := d.vars[name]; ok && !twice {
			d.vars[strings.Clone(name)] = staticEntry{addr, typ}
		}
	case dwarf.TagBaseType, dwarf.TagPointerType, dwarf.TagStructType, dwarf.TagTypedef, dwarf.TagArrayType,
		dwarf.TagSubroutineType, dwarf.TagEnumerationType, dwarf.TagClassType:
		name := val[string](e, dwarf.AttrName)
		if name == "" || val[bool](e, dwarf.AttrDeclaration) {
			return
		}
		// In Go a typedef and the type that it refers to have the same name. Prefer the typedef, because for an interface
		// the other type is only a struct.
		if _, twice := d.named[name]; !twice || e.Tag == dwarf.TagTypedef {
			d.named[name] = e.Offset
		}
	}
}

// staticAddr evaluates the location of a variable: DW_OP_addr and the address, or in DWARF 5 DW_OP_addrx and the index of
// the address (2.5.1.1).
func (d *Info) staticAddr(u *unit, location []byte) (uint64, bool) {
	const opAddr, opAddrx = 0x03, 0xa1
	switch {
	case len(location) == 9 && location[0] == opAddr:
		return binary.LittleEndian.Uint64(location[1:]), true
	case len(location) > 1 && location[0] == opAddrx:
		n, size := binary.Uvarint(location[1:])
		at := uint64(u.addrBase) + 8*n
		if size != len(location)-1 || n > uint64(len(d.addrs)) || u.addrBase < 0 || at+8 > uint64(len(d.addrs)) {
			return 0, false
		}
		return binary.LittleEndian.Uint64(d.addrs[at:]), true
	}
	return 0, false
}
