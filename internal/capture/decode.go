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

// Process answers what fetched words mean in the process they come from.
type Process interface {
	// DynamicType is the type whose descriptor is at an address, nil if there is none.
	DynamicType(addr uint64) *gotype.Type
	// ItabType is the address of the type of an itab that is in the file.
	ItabType(itab uint64) (addr uint64, ok bool)
	// FuncName is the function at an address, "" if there is none.
	FuncName(pc uint64) string
	// Readable tells whether memory is there: the kernel reads zeros elsewhere. known: it can be told.
	Readable(addr uint64) (readable, known bool)
}

// Append makes values of the words that were fetched, behind others.
func (c *Capture) Append(values []Value, words []uint64, p Process) []Value {
	if c.at != nil {
		arranged := make([]uint64, len(c.at))
		for i, at := range c.at {
			arranged[i] = words[at]
		}
		words = arranged
	}
	d := decoder{Capture: c, words: words, process: p}
	return d.append(values, c.roots)
}

type decoder struct {
	*Capture
	words   []uint64
	process Process
}

const (
	nilPointer = "nil pointer"
	badPointer = "no valid pointer"
	zeroOrNot  = "zero, or not readable: the process can't be asked"
)

// unreadable marks a value if there is a reason why.
func (v *Value) unreadable(why string) bool {
	if why != "" {
		v.State, v.Why = Unreadable, why
	}
	return why != ""
}

// implausible tells why an address can't be one, "" if it can: user space begins above mmap_min_addr.
func (d *decoder) implausible(p uint64) string {
	switch {
	case p == 0:
		return nilPointer
	case p < 4096 || d.end > 0 && p >= d.end:
		return badPointer
	}
	return ""
}

// check tells why what is behind guards means nothing, "" if it does.
func (d *decoder) check(guards []guard) string {
	for i, g := range guards {
		if g.length.there() {
			if int64(g.length.read(d.words)) <= g.item {
				return "index out of range"
			}
			continue
		}
		p := g.pointer.read(d.words)
		if g.holds != nil {
			if why := d.holds(p, &g); why != "" {
				return why
			}
			continue
		}
		if why := d.implausible(p); why != "" {
			return why
		}
		// Where a pointer can't be followed to the next, what an earlier event left stands for that.
		if i+1 < len(guards) && !guards[i+1].length.there() {
			if readable, known := d.process.Readable(p + uint64(guards[i+1].at)); known && !readable {
				return badPointer
			}
		}
	}
	return ""
}

// zeros tells why what was read at an address, all of it zero, may not have been there.
func (d *decoder) zeros(addr uint64) string {
	switch readable, known := d.process.Readable(addr); {
	case !known:
		return zeroOrNot
	case !readable:
		return badPointer
	}
	return ""
}

// behind is the address that a node's words were read from, behind a pointer, 0 if there is none.
func (d *decoder) behind(n *node) uint64 {
	for i := len(n.guards) - 1; i >= 0; i-- {
		if !n.guards[i].length.there() && n.guards[i].holds == nil {
			return n.guards[i].pointer.read(d.words) + uint64(n.off)
		}
	}
	return 0
}

func (d *decoder) value(n *node) Value {
	v := Value{Name: n.name, Type: n.typ}
	if n.slots != nil {
		return d.search(n)
	}
	if n.why != "" {
		v.State, v.Why = Unfetched, n.why
		return v
	}
	if v.unreadable(d.check(n.guards)) {
		return v
	}
	v.Num, v.Imag = n.num.read(d.words), n.imag.read(d.words)
	v.Len, v.Cap = int64(n.len.read(d.words)), int64(n.cap.read(d.words))
	kind := n.typ.Kind
	if kind != reflect.Struct && kind != reflect.Array && v.Num|v.Imag|uint64(v.Len)|uint64(v.Cap) == 0 {
		if p := d.behind(n); p != 0 && v.unreadable(d.zeros(p)) {
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
		v.Items = d.append(nil, n.kids)
		if n.words > 0 {
			d.guess(&v, n)
		}
	case reflect.Pointer:
		if n.short {
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
	if n.real.there() && v.State == Known {
		d.reveal(&v, n)
	}
	return v
}

// collapse makes one unreadable value of a struct of which no field is readable.
func (v *Value) collapse() {
	if v.Type.Kind != reflect.Struct {
		return
	}
	for i := range v.Items {
		if v.Items[i].State != Unreadable || v.Items[i].Why != v.Items[0].Why {
			return
		}
	}
	if len(v.Items) > 0 {
		v.unreadable(v.Items[0].Why)
		v.Items = nil
	}
}

func (d *decoder) append(values []Value, nodes []*node) []Value {
	values = slices.Grow(values, len(nodes))
	for _, n := range nodes {
		values = append(values, d.value(n))
	}
	return values
}

// bytes takes those of a string or byte slice from a node's words, if it can: -1 words are out of reach.
func (d *decoder) bytes(v *Value, n *node) {
	at, words := n.data, n.words
	switch {
	case v.Len == 0 || words == 0 && v.Len > 0:
		v.Bytes = []byte{}
	case v.Len < 0:
		v.unreadable("negative length")
	case v.unreadable(d.unread(v.Num, at, words)):
	case words < 0:
		v.State, v.Why = Unfetched, n.unasked
	default:
		b := d.raw(at, words)
		v.Bytes = b[:min(int64(len(b)), v.Len, int64(max(d.strLen, 1)))]
	}
}

// guess takes two words for a string if the first is the address of printable text that is as long as the second
// says, or longer. No address is as low as a length may be.
func (d *decoder) guess(v *Value, n *node) {
	const longest = 1<<16 - 1 // below mmap_min_addr
	addr, size := v.Items[0].Num, v.Items[1].Num
	if d.implausible(addr) != "" || size == 0 || size > longest {
		return
	}
	text := d.raw(n.data, n.words)
	text = text[:min(uint64(len(text)), size, uint64(max(d.strLen, 1)))]
	if uint64(len(text)) < size {
		text = WholeRunes(text)
	}
	control := func(r rune) bool { return !unicode.IsPrint(r) && !strings.ContainsRune("\t\r\n", r) }
	if len(text) > 0 && utf8.Valid(text) && !bytes.ContainsFunc(text, control) {
		v.Bytes, v.Len = text, int64(size)
	}
}

// raw are the bytes of some words.
func (d *decoder) raw(at, words int) []byte {
	b := make([]byte, 0, 8*words)
	for _, w := range d.words[at : at+words] {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// unread tells why memory at an address was not fetched into words, "" if it was.
func (d *decoder) unread(addr uint64, at, words int) string {
	if why := d.implausible(addr); why != "" || words < 0 {
		return why
	}
	for _, w := range d.words[at : at+words] {
		if w != 0 {
			return ""
		}
	}
	return d.zeros(addr)
}

func (d *decoder) slice(n *node, v *Value) {
	switch {
	case v.Len < 0 || v.Cap < v.Len:
		v.unreadable("lengths make no sense")
	case !OfBytes(n.typ):
		v.Items = d.append(nil, n.kids[:min(int64(len(n.kids)), v.Len)])
	case v.Num != 0 || v.Len != 0:
		d.bytes(v, n)
	}
}

func (d *decoder) header(v *Value) {
	switch {
	case v.Num == 0:
		v.Len, v.Cap = 0, 0
	case v.unreadable(d.implausible(v.Num)) || v.Len == 0 && v.unreadable(d.zeros(v.Num)):
	case v.Type.Kind == reflect.Func:
		v.Dynamic = d.process.FuncName(uint64(v.Len))
		v.Len = 0
	}
}
