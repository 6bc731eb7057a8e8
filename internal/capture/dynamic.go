package capture

import (
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/offsets/gotype"
)

const (
	tooFar      = "further than what is fetched"
	inside      = "type inside an interface"
	typeNotTold = "dynamic type not known"
)

// dynamic is the value in an interface.
func (d *decoder) dynamic(n *node, v *Value) {
	v.TypeWord, v.Num, v.Imag = v.Num, v.Imag, 0
	if v.TypeWord == 0 {
		return
	}
	p := n.iface
	at := v.TypeWord
	if n.typ.Methods {
		var ok bool
		if at, ok = d.process.ItabType(v.TypeWord); !ok {
			at = p.typ.read(d.words)
			if p.within {
				v.State, v.Why = Unfetched, tooFar
				return
			} else if implausible(v.TypeWord) != "" || at == 0 {
				v.unreadable(badPointer)
				return
			}
		}
	}
	t := d.process.DynamicType(at)
	if t == nil {
		v.unreadable(typeNotTold)
		return
	}
	v.Dynamic = t.Name
	e := Value{Type: t, Num: v.Num}
	v.Elem = &e
	switch {
	case p.within && isErrno(t) && p.errnos[0].at >= 0:
		e.Num = p.errnos[0].read(d.words)
	case p.within && t.Kind != reflect.Pointer:
		e.State, e.Why = Unfetched, tooFar
	case t.Direct && t.Kind == reflect.Pointer:
		if elem := t.Elem(); elem != nil && p.words > 0 && v.Num != 0 && elem.Kind != reflect.Invalid {
			inner := d.memory(elem, p, v.Num)
			e.Elem = &inner
		}
	case t.Direct && (t.Kind == reflect.Map || t.Kind == reflect.Chan || t.Kind == reflect.Func || t.Kind == reflect.UnsafePointer):
	case t.Direct || p.words == 0:
		e.State, e.Why = Unfetched, inside
	default:
		e = d.memory(t, p, v.Num)
	}
	if p.words > 0 && (t.Kind == reflect.Map || t.Kind == reflect.Chan) {
		e.Len = int64(d.words[p.at])
	}
}

// memory is a value in the fetched memory that an interface's data word points to.
func (d *decoder) memory(t *gotype.Type, p *payload, addr uint64) Value {
	if why := d.unread(addr, p.at, p.words); why != "" {
		return Value{Type: t, State: Unreadable, Why: why}
	}
	n, ok := p.nodes.Load(t)
	if !ok {
		n, _ = p.nodes.LoadOrStore(t, p.node("", t, 0, 3))
	}
	return d.value(n.(*node))
}

// node plans a value at an offset of the fetched memory.
func (p *payload) node(name string, t *gotype.Type, off int64, depth int) *node {
	n := newNode(name, t, source{})
	end := int64(8 * p.words)
	if off < 0 || t.Size < 0 || off+t.Size > end && t.Kind != reflect.Struct || off >= end && t.Size > 0 || depth == 0 {
		n.why = tooFar
		return n
	}
	// number is a part of one word.
	number := func(off, size int64, signed bool) leaf {
		if size == 0 || off%8+size > 8 || off+size > end {
			n.why = tooFar
			return none
		}
		return leaf{p.at + int(off/8), uint(8 * (off % 8)), size, signed}
	}
	switch t.Kind {
	case reflect.Bool, reflect.Uint, reflect.Int, reflect.Float64, reflect.UnsafePointer, reflect.Pointer:
		n.num = number(off, t.Size, t.Kind == reflect.Int)
	case reflect.Complex128:
		n.num, n.imag = number(off, t.Size/2, false), number(off+t.Size/2, t.Size/2, false)
	case reflect.String:
		n.num, n.len, n.words = number(off, 8, false), number(off+8, 8, true), -1
		if i := off / 8; i < int64(len(p.texts)) && p.texts[i] >= 0 {
			n.data, n.words = p.texts[i], p.textWords
		}
	case reflect.Slice:
		n.num, n.len, n.cap = number(off, 8, false), number(off+8, 8, true), number(off+16, 8, true)
	case reflect.Struct:
		for _, f := range t.Fields {
			n.kids = append(n.kids, p.node(f.Name, f.Type, off+f.Offset, depth-1))
		}
	case reflect.Interface:
		// Its type is known, and the number of a syscall.Errno where that is fetched.
		n.num, n.imag = number(off, 8, false), number(off+8, 8, false)
		n.iface = &payload{typ: none, within: true, errnos: [2]leaf{none, none}}
		if i := slices.Index(errnoWords[:], off/8+1); i >= 0 {
			n.iface.errnos[0] = p.errnos[i]
		}
	default:
		n.why = inside
	}
	return n
}
