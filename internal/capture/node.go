package capture

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/internal/gotype"
)

// node says how to make a value from the fetched words.
type node struct {
	name   string
	typ    *gotype.Type
	reason string // the reason why the value is not fetched, or ""
	guards []guard
	off    int64 // the value's offset from the address in the last pointer

	num, imag, len, cap leaf   // as in Value. In an interface, num and imag are its first and second word
	data, words         int    // the bytes of a string or byte slice are in the words from data to data+words
	bytesReason         string // set if words is -1, because the bytes can't be fetched
	kids                []*node
	elem                *node
	elemOmitted         bool // a pointer's target is not fetched, because it is a large struct
	iface               *payload
	slots               []*mapSearch // set if the path has the key of a map: the slots in which the element may be
	spans               []context    // set if the value is the trace ID in a context: the context and its parents
}

func newNode(name string, t *gotype.Type, s source) *node {
	return &node{name: name, typ: t, reason: s.reason, guards: s.guards, off: s.off}
}

// value plans how to fetch a value of a type. pointers is the number of nested pointers to follow.
func (b *Builder) value(name string, t *gotype.Type, s source, pointers int) *node {
	n := newNode(name, t, s)
	if n.reason != "" {
		return n
	}
	switch t.Kind {
	case reflect.Bool, reflect.Uint, reflect.Float64, reflect.UnsafePointer, reflect.Int:
		n.num = n.scalar(b, s, t.Size, t.Kind == reflect.Int)
	case reflect.Complex128:
		n.num = n.scalar(b, s, t.Size/2, false)
		n.imag = n.scalar(b, s.at(t.Size/2), t.Size/2, false)
	case reflect.Pointer:
		n.pointer(b, s, pointers)
	case reflect.String:
		to := n.follow(b, s, nil)
		n.len = n.scalar(b, s.at(8), 8, true)
		n.bytes(b, to)
	case reflect.Slice:
		n.slice(b, s)
	case reflect.Array:
		n.array(b, s, pointers)
	case reflect.Struct:
		fields := t.Fields
		if b.tooLarge(t) {
			fields = fields[:b.opt.Fields]
		}
		opt := b.opt
		if isNetipAddr(t) {
			// The field z points to the kind of the address and to its zone, which is short.
			pointers, b.opt.StrLen = max(pointers, 1), 8
		}
		path := b.path
		for i := range fields {
			f := &fields[i]
			if b.sealed {
				b.path = path + "." + f.Name
			}
			n.kids = append(n.kids, b.value(f.Name, f.Type, s.at(f.Offset), pointers))
		}
		b.opt, b.path = opt, path
		whole := func(f gotype.Field) bool { return f.Type.Size == 8 && f.Type.Kind == reflect.UnsafePointer }
		if t.IsWord() && len(t.Fields) == 2 && whole(t.Fields[0]) && whole(t.Fields[1]) { // the words of a string, perhaps
			to, _ := b.follow(s, nil)
			n.bytes(b, to)
		}
	case reflect.Interface:
		n.dynamic(b, s)
	case reflect.Map, reflect.Chan, reflect.Func:
		// Maps (runtime.hmap, internal/runtime/maps.Map) begin with the number of elements, channels (runtime.hchan)
		// with the number of elements and the capacity, and func values with the address of the code.
		to := n.follow(b, s, nil)
		n.len = n.scalar(b, to, 8, true)
		if t.Kind == reflect.Chan {
			n.cap = n.scalar(b, to.at(8), 8, true)
		}
	default:
		switch t.Size {
		case 1, 2, 4, 8:
			n.num = n.scalar(b, s, t.Size, false)
		default:
			n.reason = fmt.Sprintf("type not known, %d bytes", t.Size)
		}
	}
	if b.sealed && len(n.kids) > 0 && !slices.ContainsFunc(n.kids, func(kid *node) bool { return kid.reason == "" }) {
		n.reason, n.kids = notFetched(b.path), nil // one reason for all fields
	}
	return n
}

// isNetipAddr reports whether a type is netip.Addr of Go 1.23 or later. Before, the field z pointed to an
// *intern.Value, which does not contain the kind of the address.
func isNetipAddr(t *gotype.Type) bool {
	if t.Name != "net/netip.Addr" && t.Name != "netip.Addr" {
		return false
	}
	return slices.ContainsFunc(t.Fields, func(f gotype.Field) bool { return f.Name == "z" && f.Type.Kind == reflect.Struct })
}

// tooLarge reports whether a type is a struct with more fields than are fetched.
func (b *Builder) tooLarge(t *gotype.Type) bool {
	return t.Kind == reflect.Struct && b.opt.Fields > 0 && len(t.Fields) > b.opt.Fields && !t.IsWord()
}

// scalar plans how to fetch a number of the node. It does nothing if an earlier part of the node can't be fetched.
func (n *node) scalar(b *Builder, s source, size int64, signed bool) (l leaf) {
	if n.reason != "" {
		return leaf{}
	}
	l, n.reason = b.scalar(s, size, signed)
	return l
}

// follow plans how to fetch the pointer at the start of the node's value, and returns its target.
func (n *node) follow(b *Builder, s source, elem *gotype.Type) source {
	to, l := b.follow(s, elem)
	n.num, n.reason = l, to.reason
	return to
}

// bytes plans how to fetch the first bytes of a string or byte slice. If they can't be fetched, the value is only its
// length. But if the Builder is sealed, a string gets the reason.
func (n *node) bytes(b *Builder, s source) {
	if n.reason != "" {
		return
	}
	var reason string
	switch n.data, reason = b.array(s, b.textWords()); {
	case reason == "":
		n.words = b.textWords()
	case b.sealed && n.typ.Kind == reflect.String:
		n.words, n.bytesReason = -1, reason
	}
}

func (n *node) pointer(b *Builder, s source, pointers int) {
	elem := n.typ.Elem()
	to := n.follow(b, s, elem)
	if n.elemOmitted = elem != nil && b.tooLarge(elem); n.elemOmitted {
		return
	}
	if n.reason == "" && pointers > 0 && elem != nil && elem.Kind != reflect.Invalid {
		n.elem = b.value("", elem, to, pointers-1)
	}
}

func (n *node) slice(b *Builder, s source) {
	elem := n.typ.Elem()
	to := n.follow(b, s, elem)
	n.len = n.scalar(b, s.at(8), 8, true)
	n.cap = n.scalar(b, s.at(16), 8, true)
	items := int64(b.opt.Items)
	switch {
	case n.reason != "" || elem == nil || elem.Size == 0:
		return
	case IsByteSlice(n.typ):
		n.bytes(b, to)
		return
	case isPacked(elem):
		words := min((items*elem.Size+7)/8, maxArray)
		if _, reason := b.array(to, int(words)); reason != "" {
			return
		}
		items = min(items, words*8/elem.Size)
	}
	for i := range items {
		kid := b.value("", elem, to.at(i*elem.Size).behind(guard{length: n.len, item: i}), 0)
		if kid.reason != "" {
			return
		}
		n.kids = append(n.kids, kid)
	}
}

// isPacked reports whether the elements of a slice are numbers or pointers, which are fetched together as an array.
func isPacked(t *gotype.Type) bool {
	switch t.Kind {
	case reflect.Bool, reflect.Int, reflect.Uint, reflect.Float64, reflect.Pointer, reflect.UnsafePointer:
		return t.Size == 1 || t.Size == 2 || t.Size == 4 || t.Size == 8
	}
	return false
}

func (n *node) array(b *Builder, s source, pointers int) {
	elem := n.typ.Elem()
	if elem == nil {
		n.reason = "type of elements not known"
		return
	}
	for i := range min(n.typ.Len, int64(b.opt.Items)) {
		n.kids = append(n.kids, b.value("", elem, s.at(i*elem.Size), pointers))
	}
}
