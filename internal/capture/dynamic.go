package capture

import (
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/offsets/gotype"
)

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
			if !plausible(v.TypeWord) || at == 0 {
				v.State, v.Why = Unreadable, badPointer
				return
			}
		}
	}
	t := d.process.DynamicType(at)
	if t == nil {
		v.State, v.Why = Unreadable, "dynamic type not known"
		return
	}
	v.Dynamic = t.Name
	e := Value{Type: t, Num: v.Num}
	p := n.iface
	if t.Direct {
		switch t.Kind {
		case reflect.Pointer:
			if elem := t.Elem(); elem != nil && p.words > 0 && v.Num != 0 && elem.Kind != reflect.Invalid {
				inner := d.memory(elem, p, v.Num)
				e.Elem = &inner
			}
		case reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		default:
			e.State, e.Why = Unfetched, "type inside an interface"
		}
	} else if p.words > 0 {
		e = d.memory(t, p, v.Num)
	} else {
		e.State, e.Why = Unfetched, "type inside an interface"
	}
	if e.Type.Kind == reflect.Map || e.Type.Kind == reflect.Chan {
		e.Len = int64(d.first(p))
	}
	v.Elem = &e
}

// first is the first word of a payload.
func (d *decoder) first(p *payload) uint64 {
	if p.words == 0 {
		return 0
	}
	return d.words[p.at]
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
		v.State, v.Why = Unfetched, "further than what is fetched"
		return v
	}
	word := func(off int64) uint64 { return binary.LittleEndian.Uint64(img[off:]) }
	switch t.Kind {
	case reflect.Bool, reflect.Uint, reflect.Int, reflect.Float64, reflect.UnsafePointer, reflect.Pointer:
		var b [8]byte
		copy(b[:], img[off:off+min(t.Size, 8)])
		v.Num = leaf{size: min(t.Size, 8), signed: t.Kind == reflect.Int}.read([]uint64{binary.LittleEndian.Uint64(b[:])})
	case reflect.Complex128:
		half := t.Size / 2
		var b [16]byte
		copy(b[:], img[off:off+half])
		copy(b[8:], img[off+half:off+t.Size])
		v.Num, v.Imag = binary.LittleEndian.Uint64(b[:]), binary.LittleEndian.Uint64(b[8:])
	case reflect.String:
		d.stringInImage(&v, p, word(off), word(off+8), off)
	case reflect.Slice:
		v.Num, v.Len, v.Cap = word(off), int64(word(off+8)), int64(word(off+16))
	case reflect.Struct:
		for i := range t.Fields {
			f := d.inImage(t.Fields[i].Type, p, img, off+t.Fields[i].Offset, depth-1)
			f.Name = t.Fields[i].Name
			v.Fields = append(v.Fields, f)
		}
	case reflect.Interface:
		d.interfaceInImage(&v, p, word(off), word(off+8), off)
	default:
		v.State, v.Why = Unfetched, "type inside an interface"
	}
	return v
}

func (d *decoder) stringInImage(v *Value, p *payload, ptr, length uint64, off int64) {
	v.Num, v.Len = ptr, int64(length)
	switch {
	case v.Len == 0:
		v.Bytes = []byte{}
		return
	case v.Len < 0 || !plausible(ptr):
		v.State, v.Why = Unreadable, badPointer
		return
	}
	i := off / 8
	if off%8 != 0 || i >= int64(len(p.texts)) || p.texts[i] < 0 {
		v.State, v.Why = Unfetched, "further than what is fetched"
		return
	}
	b, why := d.image(ptr, p.texts[i], p.textWords)
	if why != "" {
		v.State, v.Why = Unreadable, why
		return
	}
	v.Bytes = b[:min(int64(len(b)), v.Len, int64(max(d.strLen, 1)))]
}

// interfaceInImage is an interface in an interface's value: its type, and the number of a
// syscall.Errno where that is fetched.
func (d *decoder) interfaceInImage(v *Value, p *payload, typ, data uint64, off int64) {
	v.TypeWord, v.Num = typ, data
	if typ == 0 {
		return
	}
	if v.Type.Methods {
		at, ok := d.process.ItabType(typ)
		if !ok {
			v.State, v.Why = Unfetched, "further than what is fetched"
			return
		}
		typ = at
	}
	t := d.process.DynamicType(typ)
	if t == nil {
		v.State, v.Why = Unreadable, "dynamic type not known"
		return
	}
	v.Dynamic = t.Name
	e := Value{Type: t, Num: data}
	// off is that of the type's word, the number's is the next.
	if i := slices.Index(errnoWords[:], off/8+1); isErrno(t) && i >= 0 && p.errnos[i].at >= 0 {
		e.Num = p.errnos[i].read(d.words)
	} else if t.Kind != reflect.Pointer {
		e.State, e.Why = Unfetched, "further than what is fetched"
	}
	v.Elem = &e
}
