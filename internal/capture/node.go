package capture

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// node is a value to be made of fetched words.
type node struct {
	name   string
	typ    *gotype.Type
	why    string // it is not fetched
	guards []guard

	num, imag, len, cap leaf
	// data is the first of words words of a string's or byte slice's bytes.
	data, words int
	kids        []*node
	elem        *node
	iface       *payload
}

// variable plans the fetching of a whole variable.
func (b *Builder) variable(v *offsets.Variable) *node {
	if v.Err != nil {
		return &node{name: v.Name, typ: known(v.Type), why: v.Err.Error()}
	}
	s, why := b.root(v)
	if why != "" {
		return &node{name: v.Name, typ: known(v.Type), why: why}
	}
	return b.value(v.Name, known(v.Type), s, 1)
}

func known(t *gotype.Type) *gotype.Type {
	if t == nil {
		return &gotype.Type{Name: "?"}
	}
	return t
}

// value plans the fetching of a value of a type. pointers is how many of them are followed.
func (b *Builder) value(name string, t *gotype.Type, s source, pointers int) *node {
	n := &node{name: name, typ: t, guards: s.guards, num: none, imag: none, len: none, cap: none}
	switch t.Kind {
	case reflect.Bool, reflect.Uint, reflect.Float64, reflect.UnsafePointer:
		n.num, n.why = b.scalar(s, 0, t.Size, false)
	case reflect.Int:
		n.num, n.why = b.scalar(s, 0, t.Size, true)
	case reflect.Complex128:
		if n.num, n.why = b.scalar(s, 0, t.Size/2, false); n.why == "" {
			n.imag, n.why = b.scalar(s, t.Size/2, t.Size/2, false)
		}
	case reflect.Pointer:
		b.pointer(n, s, pointers)
	case reflect.String:
		b.text(n, s)
	case reflect.Slice:
		b.slice(n, s, pointers)
	case reflect.Array:
		b.items(n, s, pointers)
	case reflect.Struct:
		for i := range t.Fields {
			f := &t.Fields[i]
			n.kids = append(n.kids, b.value(f.Name, f.Type, s.at(f.Offset), pointers))
		}
	case reflect.Interface:
		b.dynamic(n, s)
	case reflect.Map, reflect.Chan, reflect.Func:
		b.header(n, s)
	default:
		n.unknown(b, s)
	}
	return n
}

// unknown fetches what fits in a word of a type that is not known.
func (n *node) unknown(b *Builder, s source) {
	switch n.typ.Size {
	case 1, 2, 4, 8:
		n.num, n.why = b.scalar(s, 0, n.typ.Size, false)
	default:
		n.why = fmt.Sprintf("type not known, %d bytes", n.typ.Size)
	}
}

func (b *Builder) pointer(n *node, s source, pointers int) {
	to, l, why := b.follow(s, 0)
	n.num, n.why = l, why
	elem := n.typ.Elem()
	// What a pointer in generic code points to is not told: all pointers have one shape.
	if why != "" || pointers == 0 || elem == nil || elem.Kind == reflect.Invalid || strings.HasPrefix(n.typ.Name, "*go.shape.") || strings.HasPrefix(n.typ.Name, "go.shape.") {
		return
	}
	to.align = elem.Align
	n.elem = b.value("", elem, to, pointers-1)
}

// text plans a string: its header and so many bytes.
func (b *Builder) text(n *node, s source) {
	to, l, why := b.follow(s, 0)
	if n.num, n.why = l, why; why != "" {
		return
	}
	if n.len, n.why = b.scalar(s, 8, 8, true); n.why != "" {
		return
	}
	n.words = min((b.opt.StrLen+7)/8, maxArray)
	if n.data, why = b.array(to, 0, n.words); why != "" {
		n.words = 0 // its length is worth something
	}
}

func (b *Builder) slice(n *node, s source, pointers int) {
	elem := n.typ.Elem()
	b.sliceHeader(n, s)
	if n.why != "" || elem == nil {
		return
	}
	to, _, why := b.follow(s, 0)
	if why != "" {
		return
	}
	if elem.Kind == reflect.Uint && elem.Size == 1 {
		n.words = min((b.opt.StrLen+7)/8, maxArray)
		if n.data, why = b.array(to, 0, n.words); why != "" {
			n.words = 0
		}
		return
	}
	if elem.Size == 0 {
		return
	}
	to.align = elem.Align
	if packed(elem) {
		b.packed(n, to, elem)
		return
	}
	for i := range int64(b.opt.Items) {
		item := to.at(i * elem.Size)
		item.guards = append(item.guards[:len(item.guards):len(item.guards)], guard{length: n.len, item: i})
		kid := b.value("", elem, item, 0)
		if kid.why != "" {
			return
		}
		n.kids = append(n.kids, kid)
	}
}

// packed: elements that are numbers are fetched together.
func packed(t *gotype.Type) bool {
	switch t.Kind {
	case reflect.Bool, reflect.Int, reflect.Uint, reflect.Float64, reflect.Pointer, reflect.UnsafePointer:
		return t.Size == 1 || t.Size == 2 || t.Size == 4 || t.Size == 8
	}
	return false
}

func (b *Builder) packed(n *node, s source, elem *gotype.Type) {
	words := (int64(b.opt.Items)*elem.Size + 7) / 8
	at, why := b.array(s, 0, int(words))
	if why != "" {
		return
	}
	for i := range min(int64(b.opt.Items), maxArray*8/elem.Size) {
		bit := uint(8 * i * elem.Size)
		kid := &node{typ: elem, num: leaf{at + int(bit/64), bit % 64, elem.Size, elem.Kind == reflect.Int}, imag: none, len: none, cap: none}
		kid.guards = append(s.guards[:len(s.guards):len(s.guards)], guard{length: n.len, item: i})
		n.kids = append(n.kids, kid)
	}
}

// sliceHeader plans a slice's header.
func (b *Builder) sliceHeader(n *node, s source) {
	if n.num, n.why = b.scalar(s, 0, 8, false); n.why != "" {
		return
	}
	if n.len, n.why = b.scalar(s, 8, 8, true); n.why != "" {
		return
	}
	n.cap, n.why = b.scalar(s, 16, 8, true)
}

func (b *Builder) items(n *node, s source, pointers int) {
	elem := n.typ.Elem()
	if elem == nil {
		n.why = "type of elements not known"
		return
	}
	for i := range min(n.typ.Len, int64(b.opt.Items)) {
		n.kids = append(n.kids, b.value("", elem, s.at(i*elem.Size), pointers))
	}
}

// header plans maps (runtime.hmap and internal/runtime/maps.Map begin with the number of
// elements), channels (runtime.hchan with that of elements, and the room for them) and
// func values (the address of the code is the first word).
func (b *Builder) header(n *node, s source) {
	to, l, why := b.follow(s, 0)
	if n.num, n.why = l, why; why != "" {
		return
	}
	if n.len, n.why = b.scalar(to, 0, 8, true); n.why == "" && n.typ.Kind == reflect.Chan {
		n.cap, n.why = b.scalar(to, 8, 8, true)
	}
}
