package capture

import (
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets"
)

// Generic code is compiled once for all types of one shape, and all pointers have the same. Which type
// a value has is in the dictionary that a call is passed.

// reveal plans the type that a variable of generic code has, and what a pointer leads to that has only a shape, as
// that of an interface.
func (b *Builder) reveal(n *node, v *offsets.Variable, s source) {
	if v.Real == nil || n.why != "" {
		return
	}
	words, at := b.root(v.Real)
	real, why := leaf{size: 8}, ""
	if words.Kind == reflect.Array {
		n.among = words.Len
		real.at, why = b.array(at, int(words.Len))
	} else {
		real, why = b.scalar(at, 8, false)
	}
	if why != "" {
		return
	}
	n.real = real
	if n.typ.Kind == reflect.Pointer && n.typ.Elem() == nil {
		n.iface = &payload{}
		if data, _ := b.follow(s, nil); data.why == "" {
			n.iface.fill(b, data, true)
		}
	}
}

// reveal gives a value the type that it has.
func (d *decoder) reveal(v *Value, n *node) {
	t := d.realType(n)
	if t == nil || !retype(v, t) {
		return
	}
	if elem := t.Elem(); n.iface != nil && n.iface.words > 0 && v.Num != 0 && elem != nil && elem.Kind != reflect.Invalid {
		inner := d.memory(t, elem, n.iface, v.Num)
		v.Elem, v.Dynamic = &inner, ""
	}
}

// realType is the type of a value of generic code, nil if it is not known.
func (d *decoder) realType(n *node) *gotype.Type {
	if n.among == 0 {
		return d.process.DynamicType(n.real.read(d.words))
	}
	for i := range int(n.among) {
		t := d.process.DynamicType(d.words[n.real.at+i])
		if t == nil {
			continue
		}
		if t.Kind != reflect.Pointer {
			t = gotype.PointerTo(t)
		}
		if generic(t.Name) != generic(n.typ.Name) {
			return nil
		}
		return t
	}
	return nil
}

// generic is the name of a generic type without its package and its arguments.
func generic(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return name[strings.LastIndexByte(name, '.')+1:]
}

// retype gives a value, and what is in it, a type that lies in memory as its own does. It is false for another.
func retype(v *Value, t *gotype.Type) bool {
	if v.Type == nil || t == nil || v.Type.Kind != t.Kind || v.Type.Size != t.Size || len(v.Type.Fields) != len(t.Fields) {
		return false
	}
	if t.Kind == reflect.Pointer && v.Type.Elem() == nil && v.Num != 0 {
		v.Dynamic = t.Name
	}
	v.Type = t
	for i := range v.Items {
		item := t.Elem()
		if t.Kind == reflect.Struct {
			item = t.Fields[i].Type
		}
		retype(&v.Items[i], item)
	}
	if v.Elem != nil && t.Kind == reflect.Pointer && !retype(v.Elem, t.Elem()) {
		v.Elem = nil
	}
	return true
}
