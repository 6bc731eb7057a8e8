package capture

import (
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/offsets/gotype"
)

const (
	tooFar      = "further than what is fetched"
	inside      = "type inside an interface"
	typeNotTold = "dynamic type not known"
)

func unfetched(t *gotype.Type, why string) Value { return Value{Type: t, State: Unfetched, Why: why} }

// dynamic is the value in an interface.
func (d *decoder) dynamic(n *node, v *Value) {
	v.TypeWord, v.Num, v.Imag = v.Num, v.Imag, 0
	if v.TypeWord == 0 {
		return
	}
	at := v.TypeWord
	if n.typ.Methods {
		var ok bool
		if at, ok = d.process.ItabType(v.TypeWord); !ok {
			at = n.iface.typ.read(d.words)
			if implausible(v.TypeWord) != "" || at == 0 {
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
	p := n.iface
	e := unfetched(t, inside)
	switch {
	case t.Direct && t.Kind == reflect.Pointer:
		e = Value{Type: t, Num: v.Num}
		if elem := t.Elem(); elem != nil && p.words > 0 && v.Num != 0 && elem.Kind != reflect.Invalid {
			inner := d.memory(elem, p, v.Num)
			e.Elem = &inner
		}
	case t.Direct && (t.Kind == reflect.Map || t.Kind == reflect.Chan || t.Kind == reflect.Func || t.Kind == reflect.UnsafePointer):
		e = Value{Type: t, Num: v.Num}
	case t.Direct || p.words == 0:
		e.Num = v.Num
	default:
		e = d.memory(t, p, v.Num)
	}
	if p.words > 0 && (t.Kind == reflect.Map || t.Kind == reflect.Chan) {
		e.Len = int64(d.words[p.at])
	}
	v.Elem = &e
}

// memory is a value in the fetched memory that an interface's data word points to.
func (d *decoder) memory(t *gotype.Type, p *payload, addr uint64) Value {
	img, why := d.image(addr, p.at, p.words)
	if why != "" {
		return Value{Type: t, State: Unreadable, Why: why}
	}
	return d.inImage(t, p, img, 0, 3)
}

// inImage makes a value of the bytes at an offset of fetched memory.
func (d *decoder) inImage(t *gotype.Type, p *payload, img []byte, off int64, depth int) Value {
	v := Value{Type: t}
	if off < 0 || t.Size < 0 || off+t.Size > int64(len(img)) && t.Kind != reflect.Struct || depth == 0 || off >= int64(len(img)) && t.Size > 0 {
		return unfetched(t, tooFar)
	}
	word := func(off int64) uint64 { return binary.LittleEndian.Uint64(img[off:]) }
	// number is the one of up to eight bytes there.
	number := func(off, size int64, signed bool) uint64 {
		var b [8]byte
		copy(b[:], img[off:off+min(size, 8)])
		return leaf{size: min(size, 8), signed: signed}.read([]uint64{binary.LittleEndian.Uint64(b[:])})
	}
	switch t.Kind {
	case reflect.Bool, reflect.Uint, reflect.Int, reflect.Float64, reflect.UnsafePointer, reflect.Pointer:
		v.Num = number(off, t.Size, t.Kind == reflect.Int)
	case reflect.Complex128:
		v.Num, v.Imag = number(off, t.Size/2, false), number(off+t.Size/2, t.Size/2, false)
	case reflect.String:
		v.Num, v.Len = word(off), int64(word(off+8))
		d.textInImage(&v, p, off)
	case reflect.Slice:
		v.Num, v.Len, v.Cap = word(off), int64(word(off+8)), int64(word(off+16))
	case reflect.Struct:
		for i := range t.Fields {
			f := d.inImage(t.Fields[i].Type, p, img, off+t.Fields[i].Offset, depth-1)
			f.Name = t.Fields[i].Name
			v.Fields = append(v.Fields, f)
		}
	case reflect.Interface:
		v.TypeWord, v.Num = word(off), word(off+8)
		d.interfaceInImage(&v, p, off)
	default:
		return unfetched(t, inside)
	}
	return v
}

func (d *decoder) textInImage(v *Value, p *payload, off int64) {
	i := off / 8
	switch {
	case v.Len == 0:
		v.Bytes = []byte{}
	case v.Len < 0 || implausible(v.Num) != "":
		v.unreadable(badPointer)
	case off%8 != 0 || i >= int64(len(p.texts)) || p.texts[i] < 0:
		v.State, v.Why = Unfetched, tooFar
	default:
		d.bytes(v, p.texts[i], p.textWords)
	}
}

// interfaceInImage is an interface in an interface's value: its type, and the number of a
// syscall.Errno where that is fetched.
func (d *decoder) interfaceInImage(v *Value, p *payload, off int64) {
	if v.TypeWord == 0 {
		return
	}
	at := v.TypeWord
	if v.Type.Methods {
		var ok bool
		if at, ok = d.process.ItabType(at); !ok {
			v.State, v.Why = Unfetched, tooFar
			return
		}
	}
	t := d.process.DynamicType(at)
	if t == nil {
		v.unreadable(typeNotTold)
		return
	}
	v.Dynamic = t.Name
	e := Value{Type: t, Num: v.Num}
	// off is that of the type's word, the number's is the next.
	if i := slices.Index(errnoWords[:], off/8+1); isErrno(t) && i >= 0 && p.errnos[i].at >= 0 {
		e.Num = p.errnos[i].read(d.words)
	} else if t.Kind != reflect.Pointer {
		e.State, e.Why = Unfetched, tooFar
	}
	v.Elem = &e
}
