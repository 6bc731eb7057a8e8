package capture

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// maxElementText is how many bytes are fetched of strings among a map's elements.
const maxElementText = 32

// elements are what is fetched of a map that has all of them in one place.
type elements struct {
	more   leaf // not 0: they are elsewhere, too
	guards []guard
	full   [mapSlots]leaf
	pairs  [mapSlots][2]*node // keys and elements
}

// elements plans a map's elements, once there is all of the other values: those take no room from them. Where
// nobody has asked for the map by its name, only numbers are fetched: a string in each empty slot
// costs as many faults as words that are fetched of it.
func (n *node) elements(b *Builder, header source, pointers int) {
	m, ok := mapFormOf(n.typ)
	if n.why != "" || !ok || pointers == 0 || !b.opt.Arrays || header.search != nil || m.indirect ||
		!listable(m.key, b.asked) || !listable(m.elem, b.asked) {
		return
	}
	b.later = append(b.later, func() {
		var e elements
		var why string
		if e.more, why = b.scalar(header.at(m.more), m.moreSize, false); why != "" {
			return
		}
		slots, _ := b.follow(header.at(m.slots), nil)
		b.whole(slots, m.size)
		e.guards = slots.guards
		opt := b.opt
		defer func() { b.opt = opt }()
		b.opt.StrLen = min(opt.StrLen, maxElementText)
		for i := range e.pairs {
			if e.full[i], why = b.scalar(slots.at(int64(i)), 1, false); why != "" {
				return
			}
		}
		for i := range e.pairs {
			at := int64(i)
			e.pairs[i] = [2]*node{b.value("key", m.key, slots.at(m.keys+at*m.keyStride), 0), b.value("value", m.elem, slots.at(m.elems+at*m.elemStride), 0)}
		}
		n.elems = &e
	})
}

// listable tells whether values of a type may be fetched for eight slots of a map: those of few words, and, if
// they are asked for, strings.
func listable(t *gotype.Type, asked bool) bool {
	switch t.Kind {
	case reflect.Bool, reflect.Int, reflect.Uint, reflect.Float64, reflect.Complex128, reflect.Pointer, reflect.UnsafePointer:
		return true
	case reflect.String:
		return asked
	case reflect.Array:
		elem := t.Elem()
		return elem != nil && t.Size <= 64 && listable(elem, asked)
	case reflect.Struct:
		return t.Size <= 64 && !slices.ContainsFunc(t.Fields, func(f gotype.Field) bool { return !listable(f.Type, asked) })
	}
	return false
}

// elements takes those of a map, in the order of their keys. Each is a value with two fields.
func (d *decoder) elements(n *node, v *Value) {
	e := n.elems
	if e == nil || v.State != Known || v.Len == 0 || v.Num == 0 || e.more.read(d.words) != 0 || d.check(e.guards) != "" {
		return
	}
	form, _ := mapFormOf(n.typ)
	for i, pair := range e.pairs {
		if !form.full(e.full[i].read(d.words)) {
			continue
		}
		key, elem := d.value(pair[0]), d.value(pair[1])
		if key.State == Known || elem.State == Known {
			v.Items = append(v.Items, Value{Type: n.typ, Fields: []Value{key, elem}})
		}
	}
	slices.SortStableFunc(v.Items, func(x, y Value) int { return compareKeys(&x.Fields[0], &y.Fields[0]) })
}

// compareKeys orders keys as package fmt does.
func compareKeys(x, y *Value) int {
	switch x.Type.Kind {
	case reflect.String:
		return bytes.Compare(x.Bytes, y.Bytes)
	case reflect.Int:
		return cmp.Compare(int64(x.Num), int64(y.Num))
	case reflect.Bool, reflect.Uint, reflect.Pointer, reflect.UnsafePointer:
		return cmp.Compare(x.Num, y.Num)
	}
	return 0
}
