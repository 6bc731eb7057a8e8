package capture

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/internal/gotype"
)

// node is a value to be made of fetched words.
type node struct {
	name   string
	typ    *gotype.Type
	why    string // it is not fetched
	guards []guard
	off    int64 // from where the last pointer points to

	num, imag, len, cap leaf
	data, words         int // data is the first of words words of a string's or byte slice's bytes
	kids                []*node
	elem                *node
	iface               *payload
	unasked             string // why bytes that are out of reach are not shown
	short               bool   // what it points to is left out, because it is large
	slots               []*search
	real                leaf  // the address of its type, of which typ is the shape
	among               int64 // real is the first of so many words, of which one is that; 0: real is
}

func newNode(name string, t *gotype.Type, s source) *node {
	return &node{name: name, typ: t, why: s.why, guards: s.guards, off: s.off}
}

// value plans the fetching of a value of a type. pointers is how many of them are followed.
func (b *Builder) value(name string, t *gotype.Type, s source, pointers int) *node {
	n := newNode(name, t, s)
	if n.why != "" {
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
			fields = fields[:b.short]
		}
		opt := b.opt
		if isAddr(t) {
			// Its kind is behind a pointer, with the zone, which is short.
			pointers, b.opt.StrLen = max(pointers, 1), 8
		}
		way := b.way
		for i := range fields {
			f := &fields[i]
			if b.complete {
				b.way = way + "." + f.Name
			}
			n.kids = append(n.kids, b.value(f.Name, f.Type, s.at(f.Offset), pointers))
		}
		b.opt, b.way = opt, way
		if maybeText(t) {
			to, _ := b.follow(s, nil)
			n.bytes(b, to)
		}
	case reflect.Interface:
		n.dynamic(b, s)
	case reflect.Map, reflect.Chan, reflect.Func:
		// First in maps (runtime.hmap, internal/runtime/maps.Map) is the number of elements, in channels
		// (runtime.hchan) that and the room for them, in func values the address of the code.
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
			n.why = fmt.Sprintf("type not known, %d bytes", t.Size)
		}
	}
	if b.complete && len(n.kids) > 0 && !slices.ContainsFunc(n.kids, func(kid *node) bool { return kid.why == "" }) {
		n.why, n.kids = unasked(b.way), nil // one for all of them
	}
	return n
}

// maybeText tells of two words that may be a string.
func maybeText(t *gotype.Type) bool {
	return t.IsWord() && len(t.Fields) == 2 && t.Fields[0].Type.Size == 8 && t.Fields[1].Type.Size == 8 &&
		t.Fields[0].Type.Kind == reflect.UnsafePointer && t.Fields[1].Type.Kind == reflect.UnsafePointer
}

// isAddr tells of netip.Addr as it is since Go 1.23. Before, what its pointer leads to does not tell more.
func isAddr(t *gotype.Type) bool {
	if t.Name != "net/netip.Addr" && t.Name != "netip.Addr" {
		return false
	}
	return slices.ContainsFunc(t.Fields, func(f gotype.Field) bool { return f.Name == "z" && f.Type.Kind == reflect.Struct })
}

// tooLarge tells of structs that have more fields than are wanted. The first of a variable is noted.
func (b *Builder) tooLarge(t *gotype.Type) bool {
	if t.Kind != reflect.Struct || b.short == 0 || len(t.Fields) <= b.short || t.IsWord() {
		return false
	}
	if b.large == nil {
		part := slices.IndexFunc(t.Fields, func(f gotype.Field) bool {
			return slices.Contains([]reflect.Kind{reflect.Int, reflect.Uint, reflect.String, reflect.Bool}, f.Type.Kind)
		})
		b.large = &Large{Fields: len(t.Fields), Part: t.Fields[max(part, 0)].Name}
	}
	return true
}

// scalar plans a number of the node's: nothing if something of the node is out of reach.
func (n *node) scalar(b *Builder, s source, size int64, signed bool) (l leaf) {
	if n.why != "" {
		return leaf{}
	}
	l, n.why = b.scalar(s, size, signed)
	return l
}

// follow plans the pointer that a node's value begins with.
func (n *node) follow(b *Builder, s source, elem *gotype.Type) source {
	to, l := b.follow(s, elem)
	n.num, n.why = l, to.why
	return to
}

// bytes plans the first of a string's or byte slice's bytes. Without, its length is worth something.
func (n *node) bytes(b *Builder, s source) {
	if n.why != "" {
		return
	}
	var why string
	switch n.data, why = b.array(s, b.textWords()); {
	case why == "":
		n.words = b.textWords()
	case b.complete && n.typ.Kind == reflect.String:
		n.words, n.unasked = -1, why
	}
}

func (n *node) pointer(b *Builder, s source, pointers int) {
	elem := n.typ.Elem()
	to := n.follow(b, s, elem)
	if n.short = elem != nil && b.tooLarge(elem); n.short {
		return
	}
	if n.why == "" && pointers > 0 && elem != nil && elem.Kind != reflect.Invalid {
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
	case n.why != "" || elem == nil || elem.Size == 0:
		return
	case OfBytes(n.typ):
		n.bytes(b, to)
		return
	case packed(elem):
		words := min((items*elem.Size+7)/8, maxArray)
		if _, why := b.array(to, int(words)); why != "" {
			return
		}
		items = min(items, words*8/elem.Size)
	}
	for i := range items {
		kid := b.value("", elem, to.at(i*elem.Size).behind(guard{length: n.len, item: i}), 0)
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

func (n *node) array(b *Builder, s source, pointers int) {
	elem := n.typ.Elem()
	if elem == nil {
		n.why = "type of elements not known"
		return
	}
	for i := range min(n.typ.Len, int64(b.opt.Items)) {
		n.kids = append(n.kids, b.value("", elem, s.at(i*elem.Size), pointers))
	}
}
