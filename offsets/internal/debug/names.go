package debug

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// entryNames are the types and package variables of a file by name.
type entryNames struct {
	types map[string]dwarf.Offset
	vars  map[string]staticEntry
}

// staticEntry is a variable at an address.
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
	at, ok := d.names.types[name]
	if !ok {
		at, ok = d.names.types[EscapedPath(name)]
	}
	if !ok {
		return nil, false
	}
	t := d.typeAt(at, 0)
	return t, t.Kind != reflect.Invalid
}

// EscapedPath is the name with the import path as symbols have it: with dots in its
// last element escaped (cmd/internal/objabi/path.go).
func EscapedPath(name string) string {
	slash, dot := strings.LastIndexByte(name, '/'), strings.LastIndexByte(name, '.')
	if slash < 0 || dot < slash {
		return name
	}
	return name[:slash] + strings.ReplaceAll(name[slash:dot], ".", "%2e") + name[dot:]
}

// readNames goes through all entries, once, for what has a name and is no function.
func (d *Info) readNames() error {
	if d.names != nil {
		return nil
	}
	names := &entryNames{types: make(map[string]dwarf.Offset), vars: make(map[string]staticEntry)}
	for _, u := range d.units {
		err := d.walk(u.start, u.end, func(e *dwarf.Entry) (inside bool, err error) {
			d.addName(names, u, e)
			return e.Tag == dwarf.TagCompileUnit || e.Tag == dwarf.TagNamespace, nil
		})
		if err != nil {
			return err
		}
	}
	d.names = names
	return nil
}

// Variable finds a variable of a package, or of C.
func (d *Info) Variable(name string) (t *gotype.Type, addr uint64, ok bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.readNames(); err != nil {
		return nil, 0, false, fmt.Errorf("read debug information: %w", err)
	}
	e, ok := d.names.vars[name]
	if !ok {
		if e, ok = d.names.vars[EscapedPath(name)]; !ok {
			return nil, 0, false, nil
		}
	}
	return d.typeAt(e.typ, 0), e.addr, true, nil
}

// Variables are the names of all that Variable finds.
func (d *Info) Variables() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readNames() != nil {
		return nil
	}
	return slices.Collect(maps.Keys(d.names.vars))
}

func (d *Info) addName(names *entryNames, u *unit, e *dwarf.Entry) {
	switch e.Tag {
	case dwarf.TagVariable:
		name, _ := d.attrHere(e, dwarf.AttrName).(string)
		location, _ := e.Val(dwarf.AttrLocation).([]byte)
		typ, _ := d.attrHere(e, dwarf.AttrType).(dwarf.Offset)
		addr, ok := d.staticAddr(u, location)
		if _, twice := names.vars[name]; ok && !twice {
			names.vars[strings.Clone(name)] = staticEntry{addr, typ}
		}
	case dwarf.TagBaseType, dwarf.TagPointerType, dwarf.TagStructType, dwarf.TagTypedef, dwarf.TagArrayType,
		dwarf.TagSubroutineType, dwarf.TagEnumerationType, dwarf.TagClassType:
		name, _ := e.Val(dwarf.AttrName).(string)
		declared, _ := e.Val(dwarf.AttrDeclaration).(bool)
		name = strings.TrimPrefix(name, ".") // gccgo's, of the package itself
		if name == "" || declared {
			return
		}
		// What a typedef stands for has its name too, in Go: that would do, were it not
		// for interfaces.
		if _, twice := names.types[name]; !twice || e.Tag == dwarf.TagTypedef {
			names.types[name] = e.Offset
		}
	}
}

// attrHere is attr for entries that are gone through one after the other.
func (d *Info) attrHere(e *dwarf.Entry, a dwarf.Attr) any {
	if v := e.Val(a); v != nil {
		return v
	}
	if e.Val(dwarf.AttrSpecification) == nil && e.Val(dwarf.AttrAbstractOrigin) == nil {
		return nil
	}
	v := d.attr(e, a)
	d.at(e.Offset)
	return v
}

// staticAddr evaluates the location of a variable: DW_OP_addr and the address, or, in
// DWARF 5, DW_OP_addrx and its number (2.5.1.1).
func (d *Info) staticAddr(u *unit, location []byte) (uint64, bool) {
	const opAddr, opAddrx = 0x03, 0xa1
	switch {
	case len(location) == 9 && location[0] == opAddr:
		return binary.LittleEndian.Uint64(location[1:]), true
	case len(location) > 1 && location[0] == opAddrx:
		addrs, _ := d.sections.read("addr") // as the entries were
		n, size := binary.Uvarint(location[1:])
		at := uint64(u.addrBase) + 8*n
		if size != len(location)-1 || n > uint64(len(addrs)) || u.addrBase < 0 || at+8 > uint64(len(addrs)) {
			return 0, false
		}
		return binary.LittleEndian.Uint64(addrs[at:]), true
	}
	return 0, false
}
