package debug

import (
	"debug/dwarf"
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
)

// constant is an integer that has a name, without the package.
type constant struct {
	name  string
	typ   dwarf.Offset
	value uint64
}

// lastElement is that of an import path, which source files use.
func lastElement(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }

// constantsOf are those of a package, by its import path or the last element of that, each unit's in the
// order of the source. d.mu is held.
func (d *Info) constantsOf(pkg string, found func(path string, c constant) (more bool)) {
	for _, u := range d.units {
		path := val[string](u.entry, dwarf.AttrName)
		if pkg != path && pkg != lastElement(path) {
			continue
		}
		if u.constants == nil {
			u.constants = []constant{}
			d.walk(u, func(e *dwarf.Entry) (inside bool, err error) { // what was read will do
				if value, ok := e.Val(dwarf.AttrConstValue).(int64); ok && e.Tag == dwarf.TagConstant {
					name := val[string](e, dwarf.AttrName)
					name = strings.Clone(name[strings.LastIndexByte(name, '.')+1:])
					u.constants, err = append(u.constants, constant{name, ref(e, dwarf.AttrType), uint64(value)}), d.use(len(name)) // which they may share
				}
				return e.Tag == dwarf.TagCompileUnit, err
			})
		}
		for _, c := range u.constants {
			if !found(path, c) {
				return
			}
		}
	}
}

// Constant finds an integer constant of a package of Go, by the package's import path or the last element
// of that, where all packages that it may be agree in the value.
func (d *Info) Constant(pkg, name string) (t *gotype.Type, value uint64, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	agreed := true
	d.constantsOf(pkg, func(_ string, c constant) bool {
		if c.name == name {
			agreed = agreed && (!ok || c.value == value)
			t, value, ok = d.typeAt(c.typ, 0), c.value, true
		}
		return agreed
	})
	return t, value, ok && agreed
}

// withConstants is a type of integers, which the constants of its package that are of it name.
func (d *Info) withConstants(t *gotype.Type, at dwarf.Offset) *gotype.Type {
	path, _, declared := strings.Cut(lastElement(t.Name), ".")
	if path = t.Name[:len(t.Name)-len(lastElement(t.Name))] + path; !declared || t.Kind != reflect.Int && t.Kind != reflect.Uint {
		return t
	}
	t.SetConstants(func() map[uint64]string {
		d.mu.Lock()
		defer d.mu.Unlock()
		names := make(map[uint64]string)
		d.constantsOf(path, func(_ string, c constant) bool {
			if _, known := names[c.value]; !known && c.typ == at {
				names[c.value] = lastElement(path) + "." + c.name
				return d.use(len(names[c.value])) == nil
			}
			return true
		})
		return names
	})
	return t
}

// enumeration is a type of C whose values have names.
func (d *Info) enumeration(t *gotype.Type, e *dwarf.Entry) *gotype.Type {
	t.SetConstants(func() map[uint64]string {
		d.mu.Lock()
		defer d.mu.Unlock()
		names := make(map[uint64]string)
		for c, err := range d.below(e) {
			if err != nil {
				break // what was read will do
			}
			name := val[string](c, dwarf.AttrName)
			if value, ok := c.Val(dwarf.AttrConstValue).(int64); ok && names[uint64(value)] == "" && d.use(len(name)) == nil {
				names[uint64(value)] = name
			}
		}
		return names
	})
	return t
}

// mapGroup finds what a map keeps eight keys and elements in, by what the linker made of its header
// (cmd/link/internal/ld/dwarf.go, synthesizemaptypes): hash<K,V> has buckets, map<K,V> since Go 1.24 tables
// of groups.
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

func pointedTo(t *gotype.Type) *gotype.Type {
	if t == nil || t.Kind != reflect.Pointer {
		return nil
	}
	return t.Elem()
}

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
