package capture

import (
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets"
)

// The compiler compiles generic code once for all types of one shape, and all pointers have the same shape. The type
// arguments are in the dictionary that each call is passed.

// planRealType plans how to fetch the actual type of a variable whose type is a shape. If a pointer's target has no
// known type, it also plans to fetch the target like the data of an interface.
func (b *Builder) planRealType(n *node, v *offsets.Variable, s source) {
	if v.Real == nil || n.reason != "" {
		return
	}
	words, at := b.root(v.Real)
	real, reason := leaf{size: 8}, ""
	if words.Kind == reflect.Array {
		n.candidates = words.Len
		real.at, reason = b.array(at, int(words.Len))
	} else {
		real, reason = b.scalar(at, 8, false)
	}
	if reason != "" {
		return
	}
	n.typeAddr = real
	if n.typ.Kind == reflect.Pointer && n.typ.Elem() == nil {
		n.iface = &payload{}
		if data, _ := b.follow(s, nil); data.reason == "" {
			n.iface.fill(b, data, true)
		}
	}
}

// setRealType replaces the shape of a value by its actual type, if this type is known and retype accepts it. It then
// also decodes the target of a pointer that planRealType fetched.
func (d *decoder) setRealType(v *Value, n *node) {
	t := d.realType(n)
	if t == nil || !retype(v, t) {
		return
	}
	if elem := t.Elem(); n.iface != nil && n.iface.words > 0 && v.Num != 0 && elem != nil && elem.Kind != reflect.Invalid {
		inner := d.memory(t, elem, n.iface, v.Num)
		v.Elem, v.Dynamic = &inner, ""
	}
}

// realType returns the actual type of a value of generic code, or nil if it is not known. Of several candidates it
// takes the first that is the address of a type. If this type and the shape have different generic names, it returns
// nil.
func (d *decoder) realType(n *node) *gotype.Type {
	if n.candidates == 0 {
		return d.process.DynamicType(n.typeAddr.read(d.words))
	}
	for i := range int(n.candidates) {
		t := d.process.DynamicType(d.words[n.typeAddr.at+i])
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

// generic returns the name of a generic type without its package and type arguments.
func generic(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return name[strings.LastIndexByte(name, '.')+1:]
}

// retype sets the type of a value and, recursively, of the values in it. It returns false and leaves the value as it is
// if the kind, the size or the number of fields differs.
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
