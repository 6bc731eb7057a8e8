package capture

import (
	"encoding/binary"
	"reflect"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// Process answers what fetched words mean in the process they come from.
type Process interface {
	// DynamicType is the type whose descriptor is at an address, nil if there is none.
	DynamicType(addr uint64) *gotype.Type
	// ItabType is the address of the type of an itab that is in the file.
	ItabType(itab uint64) (addr uint64, ok bool)
	// FuncName is the function at an address, "" if there is none.
	FuncName(pc uint64) string
	// Readable tells whether memory is there: the kernel reads zeros where it isn't. known
	// is false if nobody can tell any more.
	Readable(addr uint64, n int) (readable, known bool)
}

// Decode makes values of the words that were fetched.
func (c *Capture) Decode(words []uint64, p Process) []Value {
	if c.at != nil {
		arranged := make([]uint64, len(c.at))
		for i, at := range c.at {
			arranged[i] = words[at]
		}
		words = arranged
	}
	d := decoder{words: words, process: p, strLen: c.strs}
	out := make([]Value, len(c.roots))
	for i, n := range c.roots {
		out[i] = d.value(n)
	}
	return out
}

type decoder struct {
	words   []uint64
	process Process
	strLen  int
}

const (
	nilPointer = "nil pointer"
	badPointer = "no valid pointer"
	zeroOrNot  = "zero, or not readable: the process can't be asked"
)

// check tells why what is behind guards means nothing, "" if it does.
func (d *decoder) check(guards []guard) string {
	for i, g := range guards {
		if g.item >= 0 {
			if int64(g.length.read(d.words)) <= g.item {
				return "index out of range"
			}
			continue
		}
		p := g.pointer.read(d.words)
		switch {
		case p == 0:
			return nilPointer
		case !plausible(p):
			return badPointer
		}
		// Where a pointer can't be followed to the next one, what an earlier event left
		// is taken for that.
		if i+1 < len(guards) && guards[i+1].item < 0 {
			if readable, known := d.process.Readable(p, 1); known && !readable {
				return badPointer
			}
		}
	}
	return ""
}

// zeros tells why what was read at an address, all of it zero, may not have been there.
func (d *decoder) zeros(addr uint64) string {
	switch readable, known := d.process.Readable(addr, 1); {
	case !known:
		return zeroOrNot
	case !readable:
		return badPointer
	}
	return ""
}

// behind is the pointer that a node's words were read through, 0 if there is none.
func (d *decoder) behind(n *node) uint64 {
	for i := len(n.guards) - 1; i >= 0; i-- {
		if n.guards[i].item < 0 {
			return n.guards[i].pointer.read(d.words)
		}
	}
	return 0
}

// plausible: user space begins above mmap_min_addr and ends at 47 bits (57 with five
// levels of page tables, which Go does not ask for).
func plausible(p uint64) bool { return p >= 4096 && p < 1<<47 }

func (d *decoder) value(n *node) Value {
	v := Value{Name: n.name, Type: n.typ}
	if n.why != "" {
		v.State, v.Why = Unfetched, n.why
		return v
	}
	if why := d.check(n.guards); why != "" {
		v.State, v.Why = Unreadable, why
		return v
	}
	v.Num, v.Imag = n.num.read(d.words), n.imag.read(d.words)
	v.Len, v.Cap = int64(n.len.read(d.words)), int64(n.cap.read(d.words))
	if n.typ.Kind != reflect.Struct && n.typ.Kind != reflect.Array && v.Num|v.Imag|uint64(v.Len)|uint64(v.Cap) == 0 {
		if p := d.behind(n); p != 0 {
			if why := d.zeros(p); why != "" {
				v.State, v.Why = Unreadable, why
				return v
			}
		}
	}
	switch n.typ.Kind {
	case reflect.String:
		v.Bytes = d.bytes(n, &v)
	case reflect.Slice:
		d.slice(n, &v)
	case reflect.Array:
		v.Len = n.typ.Len
		v.Items = d.all(n.kids)
	case reflect.Struct:
		v.Fields = d.all(n.kids)
	case reflect.Pointer:
		if v.Num != 0 && n.elem != nil {
			e := d.value(n.elem)
			e.collapse()
			v.Elem = &e
		}
	case reflect.Interface:
		d.dynamic(n, &v)
	case reflect.Map, reflect.Chan, reflect.Func:
		d.header(n, &v)
	}
	return v
}

// collapse makes one unreadable value of a struct of which no field is readable.
func (v *Value) collapse() {
	for i := range v.Fields {
		if v.Fields[i].State != Unreadable || v.Fields[i].Why != v.Fields[0].Why {
			return
		}
	}
	if len(v.Fields) > 0 {
		v.State, v.Why, v.Fields = Unreadable, v.Fields[0].Why, nil
	}
}

func (d *decoder) all(nodes []*node) []Value {
	out := make([]Value, len(nodes))
	for i, n := range nodes {
		out[i] = d.value(n)
	}
	return out
}

// bytes are those of a string or byte slice. Its State changes if they can't be.
func (d *decoder) bytes(n *node, v *Value) []byte {
	switch {
	case v.Len == 0:
		return []byte{}
	case v.Len < 0:
		v.State, v.Why = Unreadable, "negative length"
		return nil
	case n.words == 0:
		return []byte{}
	}
	b, why := d.image(v.Num, n.data, n.words)
	if why != "" {
		v.State, v.Why = Unreadable, why
		return nil
	}
	return b[:min(int64(len(b)), v.Len, int64(max(d.strLen, 1)))]
}

// image is memory at an address as it was fetched.
func (d *decoder) image(addr uint64, at, words int) (b []byte, why string) {
	if !plausible(addr) {
		if addr == 0 {
			return nil, nilPointer
		}
		return nil, badPointer
	}
	b = make([]byte, 0, 8*words)
	zero := true
	for _, w := range d.words[at : at+words] {
		b = binary.LittleEndian.AppendUint64(b, w)
		zero = zero && w == 0
	}
	if zero {
		if why := d.zeros(addr); why != "" {
			return nil, why
		}
	}
	return b, ""
}

func (d *decoder) slice(n *node, v *Value) {
	if v.Len < 0 || v.Cap < v.Len {
		v.State, v.Why = Unreadable, "lengths make no sense"
		return
	}
	if elem := n.typ.Elem(); elem != nil && elem.Kind == reflect.Uint && elem.Size == 1 {
		if v.Num != 0 || v.Len != 0 {
			v.Bytes = d.bytes(n, v)
		}
		return
	}
	v.Items = d.all(n.kids[:min(int64(len(n.kids)), v.Len)])
}

func (d *decoder) header(n *node, v *Value) {
	if v.Num == 0 {
		v.Len, v.Cap = 0, 0
		return
	}
	if !plausible(v.Num) {
		v.State, v.Why = Unreadable, badPointer
		return
	}
	if v.Len == 0 {
		if why := d.zeros(v.Num); why != "" {
			v.State, v.Why = Unreadable, why
			return
		}
	}
	if n.typ.Kind == reflect.Func {
		v.Dynamic = d.process.FuncName(uint64(v.Len))
		v.Len = 0
	}
}
