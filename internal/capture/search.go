package capture

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"

	"github.com/ftgo/ftgo/internal/gotype"
)

// A map's hash function has a seed that nobody can tell, so that the kernel can't look for a key. But a
// map of up to eight elements has them all in one place, where each is compared with the key.
const mapSlots = 8

// search is the look for a key in one slot of a map. The header of all maps has the address of the slots at slotsAt.
type search struct {
	key, elem *gotype.Type
	// Where the slots, of size bytes together, have the keys and the elements, and how far apart those of two slots are.
	keys, keyStride, elems, elemStride, size int64
	indirect                                 bool // there is a pointer to the element instead
	// more is a number of the header of moreSize bytes that is 0 if all elements are in those slots. If it is not,
	// none is there where the map is opaque, and the first ones are else.
	more, moreSize int64
	opaque         bool
	full           func(control uint64) bool // tells whether a slot has an element, by its control byte

	text   []byte // the key that is wanted, or its number
	number uint64

	way                     []guard // to the map
	header, count, moreThan leaf    // where the map is; its elements; whether there may be others than in the slots
	guards                  []guard // to the slots
	control                 leaf
	in, value               *node // the key and the element that the slot has
	depth                   int   // how many guards the element has
}

const slotsAt = 16

// newSearch returns the look for a key in maps of a type. It goes by the type of the slots: {ctrl uint64; slots [8]struct{key; elem}}, or
// {tophash [8]uint8; keys [8]K; elems [8]V; overflow}.
func newSearch(t *gotype.Type) (m *search, ok bool) {
	m = new(search)
	g := t.Group()
	if g == nil || len(g.Fields) < 2 {
		return m, false
	}
	first := &g.Fields[1]
	in := first.Type.Elem()
	if m.size = g.Size; in == nil {
		return m, false
	}
	if g.Fields[0].Type.Kind == reflect.Uint {
		if first.Name != "slots" || len(in.Fields) != 2 {
			return m, false
		}
		key, elem := &in.Fields[0], &in.Fields[1]
		m.key, m.elem = key.Type, elem.Type
		m.keys, m.elems = first.Offset+key.Offset, first.Offset+elem.Offset
		m.keyStride, m.elemStride = in.Size, in.Size
		// internal/runtime/maps.Map has used, seed, dirPtr, dirLen (Go 1.24).
		m.more, m.moreSize, m.opaque = 24, 8, true
		m.full = func(control uint64) bool { return control < 1<<7 }
	} else {
		if len(g.Fields) < 3 || g.Fields[2].Type.Elem() == nil {
			return m, false
		}
		m.key, m.elem = in, g.Fields[2].Type.Elem()
		m.keys, m.elems = first.Offset, g.Fields[2].Offset
		m.keyStride, m.elemStride = m.key.Size, m.elem.Size
		// runtime.hmap has count, flags, B, noverflow, hash0, buckets. Lower values than minTopHash, which
		// was 4 before Go 1.12, are no hashes (runtime/map.go).
		m.more, m.moreSize = 9, 1
		m.full = func(control uint64) bool { return control >= 4 }
	}
	// Larger keys and elements than of 128 bytes are elsewhere (internal/abi/map.go).
	if elem := t.Elem(); elem != nil && elem.Size > 128 {
		m.elem, m.indirect = elem, true
	}
	return m, true
}

// lookup goes to the element of a map in the slot at hand.
func (b *Builder) lookup(t *gotype.Type, s source, key string) (*gotype.Type, source, error) {
	m, ok := newSearch(t)
	switch {
	case !ok:
		return t, s, fmt.Errorf("how %s has its elements is not known", t.Name)
	case s.search != nil:
		return t, s, fmt.Errorf("[%s]: an element of a map that is in another map is not looked for", key)
	}
	var err error
	switch m.key.Kind {
	case reflect.String:
		var text string
		text, err = strconv.Unquote(key)
		m.text = []byte(text)
	case reflect.Int:
		var number int64
		number, err = strconv.ParseInt(key, 10, 64)
		m.number = uint64(number)
	case reflect.Uint:
		m.number, err = strconv.ParseUint(key, 10, 64)
	default:
		return t, s, fmt.Errorf("keys of %s can't be compared: neither strings nor integers", t.Name)
	}
	if err != nil || len(m.text) > 8*maxArray {
		return t, s, fmt.Errorf("%s is no key of %s", key, t.Name)
	}
	header, at := b.follow(s, nil)
	b.whole(header, 32)
	m.header = at
	m.count, header.why = b.scalar(header, 8, true)
	m.moreThan, _ = b.scalar(header.at(m.more), m.moreSize, false)
	slots, _ := b.follow(header.at(slotsAt), nil)
	b.whole(slots, m.size)
	m.guards = slots.guards
	m.control, slots.why = b.scalar(slots.at(int64(b.slot)), 1, false)
	opt := b.opt
	b.opt.StrLen = max(1, len(m.text))
	m.in = b.value("", m.key, slots.at(m.keys+int64(b.slot)*m.keyStride), 0)
	b.opt = opt
	elem := slots.at(m.elems + int64(b.slot)*m.elemStride)
	if m.indirect {
		elem, _ = b.follow(elem, m.elem)
	}
	elem.search, m.way, m.depth = m, s.guards, len(elem.guards)
	return m.elem, elem, nil
}

// whole fetches memory in few arrays, so that its parts need not be fetched.
func (b *Builder) whole(s source, size int64) {
	const most = 1024
	if !b.opt.Arrays || size > most || s.why != "" {
		return
	}
	for words := int((size + 7) / 8); words > 0; words -= maxArray {
		if _, why := b.array(s, words); why != "" {
			return
		}
		s = s.at(8 * maxArray)
	}
}

// found plans the fetching of what a path with a key leads to, in each slot.
func (b *Builder) found(path string, t *gotype.Type, s source) *node {
	n := newNode(path, t, s)
	opt := b.opt
	defer func() { b.opt, b.slot = opt, 0 }()
	b.opt.Items = min(opt.Items, 1)
	var sources []source
	for b.slot = range mapSlots {
		_, s, _ := b.walk(path)
		sources, n.slots = append(sources, s), append(n.slots, s.search)
	}
	for i, s := range sources { // all keys go first
		n.slots[i].value = b.value(path, t, s, 1)
	}
	return n
}

// search finds the slot whose key is the one that is wanted.
func (d *decoder) search(n *node) Value {
	v, s := Value{Name: n.name, Type: n.typ}, n.slots[0]
	absent := func() Value {
		v.unreadable("no such key")
		// What is behind a pointer in the element is nowhere.
		v.Missing = len(n.slots[0].value.guards) == s.depth
		return v
	}
	count, header := int64(s.count.read(d.words)), s.header.read(d.words)
	more := s.moreThan.read(d.words) != 0
	switch {
	case !s.header.there() || !s.count.there() || !s.moreThan.there():
		v.State, v.Why = Unfetched, n.why
		return v
	case v.unreadable(d.check(s.way)):
		return v
	case header == 0 || count == 0 && !v.unreadable(d.implausible(header)) && !v.unreadable(d.zeros(header)):
		return absent()
	case v.State != Known:
		return v
	case more && s.opaque:
		v.State, v.Why = Unfetched, fmt.Sprintf("not searched: a map made for more than %d elements", mapSlots)
		return v
	case v.unreadable(d.check(s.guards)):
		return v
	}
	for _, s := range n.slots {
		if s.control.there() && !s.full(s.control.read(d.words)) {
			continue
		}
		key := d.value(s.in)
		isText := s.key.Kind == reflect.String
		switch {
		case key.State != Known:
			v.State, v.Why = key.State, key.Why
		case isText && key.Len != int64(len(s.text)), !isText && key.Num != s.number:
		case isText && len(s.text) > 8*s.in.words:
			v.State, v.Why = Unfetched, noRoom
		case !isText || bytes.HasPrefix(d.raw(s.in.data, s.in.words), s.text):
			return d.value(s.value)
		}
	}
	switch {
	case v.State != Known:
		return v
	case more:
		v.State, v.Why = Unfetched, fmt.Sprintf("not among the first %d elements", mapSlots)
		return v
	}
	return absent()
}
