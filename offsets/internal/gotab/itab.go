package gotab

import "reflect"

// ItabType returns the address of the concrete type in the itab at an address, which is
// the first word of an interface that has methods (runtime.itab: the interface type,
// the concrete one). It knows those that the compiler made; ok is false for others,
// which the program makes as it runs and which are not in the file.
func (g *Tables) ItabType(addr uint64) (typ uint64, ok bool) {
	if addr%8 != 0 {
		return 0, false
	}
	inter, ok1 := g.image.Pointer(addr)
	typ, ok2 := g.image.Pointer(addr + 8)
	if !ok1 || !ok2 || inter == 0 || typ == 0 {
		return 0, false
	}
	// A word of something else is no itab.
	i, err := g.RuntimeType(inter)
	if err != nil || i.Kind != reflect.Interface || !i.Methods {
		return 0, false
	}
	if _, err := g.RuntimeType(typ); err != nil {
		return 0, false
	}
	return typ, true
}
