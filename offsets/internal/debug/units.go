// Package debug reads Go's debug information: functions, types, variables and source lines from DWARF. It also reads the
// layout of stack frames from .eh_frame, which C has.
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

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// ErrNone means that the file has no DWARF of Go, because it was built with -ldflags=-w or stripped, or is not from Go.
var ErrNone = errors.New("no debug information")

// Info is the debug information of the Go code of a file. It reads entries when they are needed. Only names need a pass over
// all entries.
type Info struct {
	image       *image.Image
	info, lines []byte      // sections
	units       []*unit     // by offset
	ranges      []unitRange // by address

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
	entry *dwarf.Entry
	end   dwarf.Offset            // the end of the unit's entries
	funcs map[uint64]dwarf.Offset // entries of subprograms by address; nil before they are needed
	// constants are the constants of the unit's package; nil before they are needed.
	constants []constant
}

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
	d.entryReader = entryReader{d.data, 2*len(d.info) + 1<<16} // enough to read a sound file twice
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
	if len(d.units) == 0 {
		return nil, ErrNone
	}
	slices.SortFunc(d.ranges, func(x, y unitRange) int { return cmp.Compare(x.low, y.low) })
	return d, nil
}

// addUnit adds a unit of Go. It skips a unit that can't be read, because the other units may be sound.
func (d *Info) addUnit(first, end dwarf.Offset) error {
	e, err := d.at(first)
	if errors.Is(err, errTooLong) {
		return err
	}
	const languageGo = 0x16 // DW_LANG_Go
	if err != nil || e.Tag != dwarf.TagCompileUnit || val[int64](e, dwarf.AttrLanguage) != languageGo {
		return nil
	}
	u := &unit{entry: e, end: end}
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
			d.addName(e)
			return e.Tag == dwarf.TagCompileUnit, nil
		})
		if err != nil {
			d.named = nil
			return err
		}
	}
	return nil
}

// Variable finds a package variable.
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
func (d *Info) addName(e *dwarf.Entry) {
	switch e.Tag {
	case dwarf.TagVariable:
		name, _ := d.attr(e, dwarf.AttrName).(string)
		typ, _ := d.attr(e, dwarf.AttrType).(dwarf.Offset)
		const opAddr = 0x03 // DW_OP_addr, which the address follows
		location := val[[]byte](e, dwarf.AttrLocation)
		if _, twice := d.vars[name]; len(location) == 9 && location[0] == opAddr && !twice {
			d.vars[strings.Clone(name)] = staticEntry{binary.LittleEndian.Uint64(location[1:]), typ}
		}
	case dwarf.TagBaseType, dwarf.TagPointerType, dwarf.TagStructType, dwarf.TagTypedef, dwarf.TagArrayType,
		dwarf.TagSubroutineType:
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
