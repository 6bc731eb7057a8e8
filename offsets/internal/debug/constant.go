package debug

import (
	"debug/dwarf"
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
)

// constant is a named integer constant. Its name has no package.
type constant struct {
	name  string
	typ   dwarf.Offset
	value uint64
}

// lastElement returns the last element of an import path.
func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// constantsOf returns the constants of a package, given by its import path or the path's last element. The constants of one
// unit are in the order of the source. The caller holds d.mu.
func (d *Info) constantsOf(pkg string) (all []constant) {
	for _, u := range d.units {
		if path := val[string](u.entry, dwarf.AttrName); pkg != path && pkg != lastElement(path) {
			continue
		}
		if u.constants == nil {
			u.constants = []constant{}
			d.walk(u, func(e *dwarf.Entry) (inside bool, err error) { // after an error use the constants read so far
				if value, ok := e.Val(dwarf.AttrConstValue).(int64); ok && e.Tag == dwarf.TagConstant {
					name := val[string](e, dwarf.AttrName)
					name = strings.Clone(name[strings.LastIndexByte(name, '.')+1:])
					// A hostile file lets many constants share a long name.
					u.constants, err = append(u.constants, constant{name, ref(e, dwarf.AttrType), uint64(value)}), d.use(len(name))
				}
				return e.Tag == dwarf.TagCompileUnit, err
			})
		}
		all = append(all, u.constants...)
	}
	return all
}

// Constant finds an integer constant of a Go package, given by its import path or the path's last element. ok is false
// if several packages match and their constants have different values.
func (d *Info) Constant(pkg, name string) (t *gotype.Type, value uint64, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range d.constantsOf(pkg) {
		if c.name != name {
			continue
		}
		if ok && c.value != value {
			return t, 0, false
		}
		t, value, ok = d.typeAt(c.typ, 0), c.value, true
	}
	return t, value, ok
}

// withConstants adds the names of values to a declared integer type: the constants of this type in its package. It returns
// other types unchanged.
func (d *Info) withConstants(t *gotype.Type, at dwarf.Offset) *gotype.Type {
	path, _, declared := strings.Cut(lastElement(t.Name), ".")
	if path = t.Name[:len(t.Name)-len(lastElement(t.Name))] + path; !declared || t.Kind != reflect.Int && t.Kind != reflect.Uint {
		return t
	}
	t.SetConstants(func() map[uint64]string {
		d.mu.Lock()
		defer d.mu.Unlock()
		names := make(map[uint64]string)
		for _, c := range d.constantsOf(path) {
			if name := lastElement(path) + "." + c.name; c.typ == at && names[c.value] == "" && d.use(len(name)) == nil {
				names[c.value] = name
			}
		}
		return names
	})
	return t
}

// mapGroup returns a func that finds the type of a map's groups (before Go 1.24: buckets), each of which holds eight keys
// and elements. The linker describes a map's header in debug information (cmd/link/internal/ld/dwarf.go,
// synthesizemaptypes): the struct hash<K,V> with buckets, since Go 1.24 the struct map<K,V> with tables of groups.
func (d *Info) mapGroup(header dwarf.Offset) func() *gotype.Type {
	return func() *gotype.Type {
		d.mu.Lock()
		t := d.typeAt(header, 0)
		d.mu.Unlock()
		if t = pointedTo(t); t == nil {
			return nil
		}
		if buckets := fieldType(t, "buckets"); buckets != nil {
			return pointedTo(buckets)
		}
		table := pointedTo(pointedTo(fieldType(t, "dirPtr")))
		return pointedTo(fieldType(fieldType(table, "groups"), "data"))
	}
}

// pointedTo returns the type that a pointer type points to, nil for other types.
func pointedTo(t *gotype.Type) *gotype.Type {
	if t == nil || t.Kind != reflect.Pointer {
		return nil
	}
	return t.Elem()
}

// fieldType returns the type of a field of a struct, or nil.
func fieldType(t *gotype.Type, name string) *gotype.Type {
	if t == nil {
		return nil
	}
	for _, f := range t.Fields {
		if f.Name == name {
			return f.Type
		}
	}
	return nil
}
