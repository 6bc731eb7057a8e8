package capture

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/gotype"
)

// Process interprets addresses among the fetched words in the process that they are from.
type Process interface {
	// DynamicType returns the type whose descriptor is at an address, nil if it is not known.
	DynamicType(addr uint64) *gotype.Type
	// ItabType returns the address of the concrete type in an itab. ok is false if the itab is not in the file, but was
	// made at run time.
	ItabType(itab uint64) (addr uint64, ok bool)
	// Bias is the difference between an address in the process and in the file.
	Bias() uint64
	// FuncName returns the name of the function that begins at an address, or "".
	FuncName(pc uint64) string
	// Readable reports whether the memory at an address can be read. Where it can't, the kernel fetches zeros.
	// known is false if this can't be determined.
	Readable(addr uint64) (readable, known bool)
}

// AppendValues decodes the fetched words, and appends the values of the paths or variables to values.
func (c *Capture) AppendValues(values []Value, words []uint64, p Process) []Value {
	arranged := make([]uint64, len(c.positions))
	for i, at := range c.positions {
		arranged[i] = words[at]
	}
	d := decoder{Capture: c, words: arranged, process: p}
	first := len(values)
	values = d.values(values, c.roots)
	if c.resume != 0 && c.resumed.read(arranged) == c.resume+p.Bias() {
		for i, n := range c.roots {
			if n.slots == nil || !n.slots[0].labels {
				values[first+i] = Value{Name: n.name, Type: n.typ, State: Unreadable, Reason: lostArgs}
			}
		}
	}
	return values
}

type decoder struct {
	*Capture
	words   []uint64
	process Process
}

const (
	nilPointer       = "nil pointer"
	lostArgs         = "lost when the stack grew: the function uses none of its arguments"
	badPointer       = "no valid pointer"
	zeroOrUnreadable = "zero, or not readable: the process can't be asked"
)

// markUnreadable sets the state to Unreadable unless reason is "", and reports whether it did.
func (v *Value) markUnreadable(reason string) bool {
	if reason != "" {
		v.State, v.Reason = Unreadable, reason
	}
	return reason != ""
}

// checkAddr returns the reason why an address is not valid, or "". The first page is not: user space begins above
// mmap_min_addr.
func (d *decoder) checkAddr(p uint64) string {
	switch {
	case p == 0:
		return nilPointer
	case p < 4096 || p >= d.end:
		return badPointer
	}
	return ""
}

// checkGuards returns the reason why words behind guards have no meaning, or "".
func (d *decoder) checkGuards(guards []guard) string {
	for i, g := range guards {
		if g.length.fetched() {
			if int64(g.length.read(d.words)) <= g.item {
				return "index out of range"
			}
			continue
		}
		p := g.pointer.read(d.words)
		if g.holds != nil {
			if reason := d.checkType(p, &g); reason != "" {
				return reason
			}
			continue
		}
		if reason := d.checkAddr(p); reason != "" {
			return reason
		}
		// If the kernel can't read the next pointer, the words behind that pointer are left over from an earlier event.
		if i+1 < len(guards) && !guards[i+1].length.fetched() {
			if readable, known := d.process.Readable(p + uint64(guards[i+1].at)); known && !readable {
				return badPointer
			}
		}
	}
	return ""
}

// checkZeros returns the reason why zeros that were fetched at an address may not be the memory's contents, or "".
func (d *decoder) checkZeros(addr uint64) string {
	switch readable, known := d.process.Readable(addr); {
	case !known:
		return zeroOrUnreadable
	case !readable:
		return badPointer
	}
	return ""
}

// nodeAddr returns the address that a node's words were fetched from through a pointer, or 0.
func (d *decoder) nodeAddr(n *node) uint64 {
	for i := len(n.guards) - 1; i >= 0; i-- {
		if !n.guards[i].length.fetched() && n.guards[i].holds == nil {
			return n.guards[i].pointer.read(d.words) + uint64(n.off)
		}
	}
	return 0
}

func (d *decoder) value(n *node) Value {
	v := Value{Name: n.name, Type: n.typ}
	if n.slots != nil {
		return d.findKey(n)
	} else if n.spans != nil {
		return d.findSpan(n)
	}
	if n.reason != "" {
		v.State, v.Reason = Unfetched, n.reason
		return v
	}
	if v.markUnreadable(d.checkGuards(n.guards)) {
		return v
	}
	v.Num, v.Imag = n.num.read(d.words), n.imag.read(d.words)
	v.Len, v.Cap = int64(n.len.read(d.words)), int64(n.cap.read(d.words))
	kind := n.typ.Kind
	if kind != reflect.Struct && kind != reflect.Array && v.Num|v.Imag|uint64(v.Len)|uint64(v.Cap) == 0 {
		if p := d.nodeAddr(n); p != 0 && v.markUnreadable(d.checkZeros(p)) {
			return v
		}
	}
	switch kind {
	case reflect.String:
		d.bytes(&v, n)
	case reflect.Slice:
		d.slice(n, &v)
	case reflect.Array, reflect.Struct:
		v.Len = n.typ.Len
		v.Items = d.values(nil, n.kids)
		if n.words > 0 {
			d.guessString(&v, n)
		}
	case reflect.Pointer:
		if n.elemOmitted {
			v.Dynamic = n.typ.Name
		}
		if v.Num != 0 && n.elem != nil {
			e := d.value(n.elem)
			e.collapse()
			v.Elem = &e
		}
	case reflect.Interface:
		d.dynamic(n, &v)
	case reflect.Map, reflect.Chan, reflect.Func:
		d.header(&v)
	}
	return v
}

// collapse makes a struct unreadable if all of its fields are unreadable for the same reason.
func (v *Value) collapse() {
	if v.Type.Kind != reflect.Struct || len(v.Items) == 0 || v.Items[0].State != Unreadable {
		return
	}
	first := v.Items[0].Reason
	if !slices.ContainsFunc(v.Items, func(f Value) bool { return f.State != Unreadable || f.Reason != first }) {
		v.markUnreadable(first)
		v.Items = nil
	}
}

func (d *decoder) values(values []Value, nodes []*node) []Value {
	values = slices.Grow(values, len(nodes))
	for _, n := range nodes {
		values = append(values, d.value(n))
	}
	return values
}

// bytes decodes the first bytes of a string or byte slice.
func (d *decoder) bytes(v *Value, n *node) {
	at, words := n.data, n.words
	switch {
	case v.Len == 0 || words == 0 && v.Len > 0:
		v.Bytes = []byte{}
	case v.Len < 0:
		v.markUnreadable("negative length")
	case v.markUnreadable(d.checkWords(v.Num, at, words)):
	case words < 0:
		v.State, v.Reason = Unfetched, n.bytesReason
	default:
		b := d.rawBytes(at, words)
		v.Bytes = b[:min(int64(len(b)), v.Len, int64(max(d.strLen, 1)))]
	}
}

// guessString sets Bytes and Len of two untyped words if they may be a string: the first word is the address of
// printable text, and the second is at most longest, which is less than any address.
func (d *decoder) guessString(v *Value, n *node) {
	const longest = 1<<16 - 1 // below mmap_min_addr
	addr, size := v.Items[0].Num, v.Items[1].Num
	if d.checkAddr(addr) != "" || size == 0 || size > longest {
		return
	}
	text := d.rawBytes(n.data, n.words)
	text = text[:min(uint64(len(text)), size, uint64(max(d.strLen, 1)))]
	if uint64(len(text)) < size {
		text = WholeRunes(text)
	}
	control := func(r rune) bool { return !unicode.IsPrint(r) && !strings.ContainsRune("\t\r\n", r) }
	if len(text) > 0 && utf8.Valid(text) && !bytes.ContainsFunc(text, control) {
		v.Bytes, v.Len = text, int64(size)
	}
}

// rawBytes returns the bytes of fetched words.
func (d *decoder) rawBytes(at, words int) []byte {
	b := make([]byte, 0, 8*words)
	for _, w := range d.words[at : at+words] {
		b = binary.LittleEndian.AppendUint64(b, w) // faster than binary.Append
	}
	return b
}

// checkWords returns the reason why words may differ from the memory at an address, or "". A negative number of words,
// as in a node, means that they were not fetched. Then checkWords checks only the address.
func (d *decoder) checkWords(addr uint64, at, words int) string {
	if reason := d.checkAddr(addr); reason != "" || words < 0 {
		return reason
	}
	if slices.ContainsFunc(d.words[at:at+words], func(w uint64) bool { return w != 0 }) {
		return ""
	}
	return d.checkZeros(addr)
}

func (d *decoder) slice(n *node, v *Value) {
	switch {
	case v.Len < 0 || v.Cap < v.Len:
		v.markUnreadable("lengths make no sense")
	case !IsByteSlice(n.typ):
		v.Items = d.values(nil, n.kids[:min(int64(len(n.kids)), v.Len)])
	case v.Num != 0 || v.Len != 0:
		d.bytes(v, n)
	}
}

func (d *decoder) header(v *Value) {
	switch {
	case v.Num == 0:
		v.Len, v.Cap = 0, 0
	case v.markUnreadable(d.checkAddr(v.Num)) || v.Len == 0 && v.markUnreadable(d.checkZeros(v.Num)):
	case v.Type.Kind == reflect.Func:
		v.Dynamic = d.process.FuncName(uint64(v.Len))
		v.Len = 0
	}
}
