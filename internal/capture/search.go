package capture

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"

	"github.com/ftgo/ftgo/internal/gotype"
)

// mapSlots is the number of slots that a key is compared with. The kernel can't look up a key in a map, because the hash
// function has a random seed. But a map of up to eight elements keeps them in one group of slots.
const mapSlots = 8

// mapSearch compares a key with the key in one slot of a map.
type mapSearch struct {
	key, elem     *gotype.Type
	keyAt, elemAt int64 // the offsets of the slot's key and element in the group of slots
	// swiss is true for a map as since Go 1.24. The number at extraAt in the map's header, of extraSize bytes, is 0 if all
	// elements of the map are in the group. Otherwise, the header of a swiss map does not point to a group, and the header
	// of another map points to the first of several groups. The header has the address of the first group at slotsAt, and the
	// number of elements at countAt.
	swiss              bool
	extraAt, extraSize int64
	slotsAt, countAt   int64
	// list is true for the labels of a goroutine as since Go 1.24, which are a list. labels is true for labels of all versions.
	list, labels bool
	slots        int   // the number of slots in a group
	size         int64 // the size of a group

	// The key to find, a string or an integer.
	keyText   []byte
	keyNumber uint64

	mapGuards            []guard // the guards of the map
	header, count, extra leaf    // the address of the map's header, its number of elements, and the number at extraAt
	slotGuards           []guard // the guards of the slots
	control              leaf    // the slot's control byte
	keyNode, elemNode    *node   // the key in the slot, and the value of the path
	elemGuards           int     // the number of guards of the element
}

// newMapSearch returns the search in a slot of maps of a type, or nil if its type of groups has another form. This form says
// which Go version made the map: it is {ctrl uint64; slots [8]struct{key; elem}} since Go 1.24, and {tophash [8]uint8;
// keys [8]K; elems [8]V; overflow} before.
func newMapSearch(t *gotype.Type, slot int64) *mapSearch {
	switch t.Name {
	case gotype.LabelList:
		// More labels cost the program more, because the kernel also follows what it finds behind the end of the list.
		return &mapSearch{key: stringType, elem: stringType, keyAt: 32 * slot, elemAt: 32*slot + 16, list: true, labels: true, extraAt: 8, extraSize: 8, countAt: 8, slots: 6, size: 192}
	case gotype.LabelMap:
		return &mapSearch{key: stringType, elem: stringType, keyAt: 8 + 16*slot, elemAt: 136 + 16*slot, labels: true, extraAt: 9, extraSize: 1, slotsAt: 16, slots: mapSlots, size: 272}
	}
	group := t.Group()
	if group == nil || len(group.Fields) < 2 {
		return nil
	}
	first := &group.Fields[1]
	in := first.Type.Elem()
	switch {
	case in == nil:
		return nil
	case group.Fields[0].Type.Kind == reflect.Uint:
		if first.Name != "slots" || len(in.Fields) != 2 {
			return nil
		}
		key, elem, at := &in.Fields[0], &in.Fields[1], first.Offset+slot*in.Size
		// internal/runtime/maps.Map has used, seed, dirPtr, dirLen (Go 1.24). A directory points to tables of groups.
		return &mapSearch{key: key.Type, elem: elem.Type, keyAt: at + key.Offset, elemAt: at + elem.Offset, swiss: true, extraAt: 24, extraSize: 8, slotsAt: 16, slots: mapSlots, size: group.Size}
	case len(group.Fields) < 3 || group.Fields[2].Type.Elem() == nil:
		return nil
	}
	elem := group.Fields[2].Type.Elem()
	// runtime.hmap has count, flags, B, noverflow, hash0, buckets.
	return &mapSearch{key: in, elem: elem, keyAt: first.Offset + slot*in.Size, elemAt: group.Fields[2].Offset + slot*elem.Size, extraAt: 9, extraSize: 1, slotsAt: 16, slots: mapSlots, size: group.Size}
}

// used reports whether a slot with a control byte has an element. Before Go 1.24, values below minTopHash, which was 4
// before Go 1.12 and 5 since, mark empty and moved slots (runtime/map.go).
func (m *mapSearch) used(control uint64) bool {
	if m.swiss {
		return control < 1<<7
	}
	return control >= 4
}

// lookup returns the type and the source of a map's element in slot b.slot.
func (b *Builder) lookup(t *gotype.Type, s source, key string) (*gotype.Type, source, error) {
	m := newMapSearch(t, int64(b.slot))
	switch {
	case m == nil:
		return t, s, fmt.Errorf("how %s has its elements is not known", t.Name)
	case s.search != nil:
		return t, s, fmt.Errorf("[%s]: an element of a map that is in another map is not looked for", key)
	}
	var err error
	switch m.key.Kind {
	case reflect.String:
		var text string
		text, err = strconv.Unquote(key)
		m.keyText = []byte(text)
	case reflect.Int:
		var number int64
		number, err = strconv.ParseInt(key, 10, 64)
		m.keyNumber = uint64(number)
	case reflect.Uint:
		m.keyNumber, err = strconv.ParseUint(key, 10, 64)
	default:
		return t, s, fmt.Errorf("keys of %s can't be compared: neither strings nor integers", t.Name)
	}
	if err != nil || len(m.keyText) > 8*maxArray {
		return t, s, fmt.Errorf("%s is not a key of %s", key, t.Name)
	}
	header, at := b.follow(s, nil)
	b.prefetch(header, 32)
	m.header = at
	m.count, header.reason = b.scalar(header.at(m.countAt), 8, true)
	m.extra, _ = b.scalar(header.at(m.extraAt), m.extraSize, false)
	slots, _ := b.follow(header.at(m.slotsAt), nil)
	b.prefetch(slots, m.size)
	m.slotGuards = slots.guards
	if !m.list {
		m.control, slots.reason = b.scalar(slots.at(int64(b.slot)), 1, false)
	}
	opt := b.opt
	b.opt.StrLen = max(1, len(m.keyText))
	m.keyNode = b.value("", m.key, slots.at(m.keyAt), 0)
	b.opt = opt
	elem := slots.at(m.elemAt)
	// A slot has pointers to keys and elements of more than 128 bytes (internal/abi/map.go).
	if large := t.Elem(); large != nil && large.Size > 128 {
		m.elem = large
		elem, _ = b.follow(elem, large)
	}
	elem.search, m.mapGuards, m.elemGuards = m, s.guards, len(elem.guards)
	return m.elem, elem, nil
}

// prefetch fetches memory in a few arrays, so that numbers in it need no arguments of their own. It does nothing if the
// memory is too large.
func (b *Builder) prefetch(s source, size int64) {
	const most = 1024
	if !b.opt.Arrays || size > most || s.reason != "" {
		return
	}
	for words := int((size + 7) / 8); words > 0; words -= maxArray {
		if _, reason := b.array(s, words); reason != "" {
			return
		}
		s = s.at(8 * maxArray)
	}
}

// mapElement plans how to fetch the value of a path with a key, for each slot.
func (b *Builder) mapElement(path string, t *gotype.Type, s source) *node {
	n := newNode(path, t, s)
	opt := b.opt
	defer func() { b.opt, b.slot = opt, 0 }()
	b.opt.Items = min(opt.Items, 1)
	var sources []source
	for b.slot = range s.search.slots {
		_, s, _ := b.walk(path)
		sources, n.slots = append(sources, s), append(n.slots, s.search)
	}
	for i, s := range sources { // after all keys, in case the event has no room for all elements
		n.slots[i].elemNode = b.value(path, t, s, 1)
	}
	return n
}

// findKey decodes the value in the slot with the key.
func (d *decoder) findKey(n *node) Value {
	v, s := Value{Name: n.name, Type: n.typ}, n.slots[0]
	part, parts := "key", "elements"
	if s.labels {
		part, parts = "label", "labels"
	}
	absent := func() Value {
		v.markUnreadable("no such " + part)
		// Go then yields the zero value of the element. But a path through a pointer in the element has no value.
		v.NoKey = len(s.elemNode.guards) == s.elemGuards
		return v
	}
	count, header := int64(s.count.read(d.words)), s.header.read(d.words)
	more := s.extra.read(d.words) != 0
	if s.list {
		more = count > int64(s.slots)
	}
	reason := d.checkGuards(s.mapGuards)
	switch {
	case !s.header.fetched() || !s.count.fetched() || !s.extra.fetched():
		v.State, v.Reason = Unfetched, n.reason
		return v
	case s.labels && reason == nilPointer:
		return absent()
	case v.markUnreadable(reason):
		return v
	case header == 0 || count == 0 && !v.markUnreadable(d.checkAddr(header)) && !v.markUnreadable(d.checkZeros(header)):
		return absent()
	case v.State != Known:
		return v
	case more && s.swiss:
		v.State, v.Reason = Unfetched, fmt.Sprintf("not searched: a map made for more than %d elements", mapSlots)
		return v
	case v.markUnreadable(d.checkGuards(s.slotGuards)):
		return v
	}
	for i, s := range n.slots {
		if s.control.fetched() && !s.used(s.control.read(d.words)) || s.list && int64(i) >= count {
			continue
		}
		key := d.value(s.keyNode)
		isText := s.key.Kind == reflect.String
		switch {
		case key.State != Known:
			v.State, v.Reason = key.State, key.Reason
		case isText && key.Len != int64(len(s.keyText)), !isText && key.Num != s.keyNumber:
		case isText && len(s.keyText) > 8*s.keyNode.words:
			v.State, v.Reason = Unfetched, noRoom
		case !isText || bytes.HasPrefix(d.rawBytes(s.keyNode.data, s.keyNode.words), s.keyText):
			return d.value(s.elemNode)
		}
	}
	switch {
	case v.State != Known:
		return v
	case more:
		v.State, v.Reason = Unfetched, fmt.Sprintf("not among the first %d %s", s.slots, parts)
		return v
	}
	return absent()
}
