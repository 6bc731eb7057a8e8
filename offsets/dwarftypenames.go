package offsets

import (
	"debug/dwarf"
	"encoding/binary"
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

// typeNamed finds a type as debug information names it: "main.T", "time.Duration",
// "*net/http.Request", "map[string]int". Predeclared types are known without any, and
// so are pointers and slices of what is known.
func (b *Binary) typeNamed(name string) (*gotype.Type, bool) {
	if t, ok := gotype.Basic(name); ok {
		return t, true
	}
	if t, ok := b.composedType(name); ok {
		return t, true
	}
	d, err := b.entries()
	if err != nil {
		return nil, false
	}
	return d.typeNamed(name)
}

// composedType makes a type out of what its elements are called.
func (b *Binary) composedType(name string) (*gotype.Type, bool) {
	if elem, ok := strings.CutPrefix(name, "*"); ok {
		if t, ok := b.typeNamed(elem); ok {
			return gotype.PointerTo(t), true
		}
	}
	if elem, ok := strings.CutPrefix(name, "[]"); ok {
		if t, ok := b.typeNamed(elem); ok {
			return gotype.SliceOf(t), true
		}
	}
	return nil, false
}

func (d *debugEntries) typeNamed(name string) (*gotype.Type, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.readNames() != nil {
		return nil, false
	}
	at, ok := d.names.types[name]
	if !ok {
		at, ok = d.names.types[escapedPath(name)]
	}
	if !ok {
		return nil, false
	}
	t := d.typeAt(at, 0)
	return t, t.Kind != gotype.Unknown
}

// escapedPath is the name with the import path as symbols have it: with dots in its
// last element escaped (cmd/internal/objabi/path.go).
func escapedPath(name string) string {
	slash, dot := strings.LastIndexByte(name, '/'), strings.LastIndexByte(name, '.')
	if slash < 0 || dot < slash {
		return name
	}
	return name[:slash] + strings.ReplaceAll(name[slash:dot], ".", "%2e") + name[dot:]
}

// readNames goes through all entries, once, for what has a name and is no function.
func (d *debugEntries) readNames() error {
	if d.names != nil {
		return nil
	}
	names := &entryNames{types: make(map[string]dwarf.Offset), vars: make(map[string]staticEntry)}
	for _, u := range d.units {
		if _, err := d.at(u.start); err != nil {
			return err
		}
		for {
			e, err := d.next()
			if err != nil {
				return err
			}
			if e == nil || e.Offset >= u.end {
				break
			}
			d.addName(names, u, e)
			if e.Tag == dwarf.TagNamespace || e.Tag == 0 {
				continue
			}
			if err := d.skip(e); err != nil {
				return err
			}
		}
	}
	d.names = names
	return nil
}

func (d *debugEntries) addName(names *entryNames, u *entryUnit, e *dwarf.Entry) {
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
func (d *debugEntries) attrHere(e *dwarf.Entry, a dwarf.Attr) any {
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
func (d *debugEntries) staticAddr(u *entryUnit, location []byte) (uint64, bool) {
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
