package capture

import (
	"reflect"
	"slices"
	"sync"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// payload is what is fetched of an interface's value. Its type is not known beforehand:
// some words, and what a string among them would point to, serve the usual ones.
type payload struct {
	typ leaf // address of the dynamic type, where the first word is an itab
	// words are so many words of what the data word points to, from word at on; those of a
	// string in the first, second and third word are texts[0] to [2].
	at, words int
	texts     [3]int // first word each, -1 for none
	textWords int
	// errnos are what words 4 and 6 point to: numbers in Err of *os.SyscallError and *fs.PathError.
	errnos [2]leaf
	nodes  sync.Map // the values that it has been, by the types that the interface held
	// within: it is in another interface's value, and errnos[0] is all that is fetched of it.
	within bool
	path   string // the way there from an interface that was fetched
}

// errnoWords are those words.
var errnoWords = [2]int64{3, 5}

// A *fs.PathError, Op and Path string and Err error, has six words.
const payloadWords = 6

// dynamic plans an interface: the value of errors and empty interfaces, of others the type alone.
func (n *node) dynamic(b *Builder, s source) {
	types := n.follow(b, s, nil)
	p := &payload{typ: none, texts: [3]int{-1, -1, -1}, errnos: [2]leaf{none, none}}
	n.iface = p
	if n.typ.Methods {
		// itab is inter, type, … (runtime/runtime2.go, internal/abi/iface.go).
		p.typ = n.scalar(b, types.at(8), 8, false)
	}
	if n.why != "" {
		return
	}
	data, l := b.follow(s.at(8), nil)
	n.imag, n.why = l, data.why
	isError := IsError(n.typ)
	if n.why == "" && (!n.typ.Methods || isError) {
		p.fill(b, data, isError)
	}
}

// payload plans what a pointer leads to.
func (b *Builder) payload(s source) *payload {
	p := &payload{typ: none, texts: [3]int{-1, -1, -1}, errnos: [2]leaf{none, none}}
	if data, _ := b.follow(s, nil); data.why == "" {
		p.fill(b, data, true)
	}
	return p
}

// fill plans some words, and what the first of them would lead to, or, if there is more, the second and third, too.
func (p *payload) fill(b *Builder, data source, more bool) {
	var why string
	if p.at, why = b.array(data, payloadWords); why != "" {
		return
	}
	p.words, p.textWords = payloadWords, b.textWords()
	// behind is what a word that is fetched already, in an array, points to.
	behind := func(word int64) (to source) {
		to.inner, _, to.why = data.at(8*word).text(b, 8)
		return to
	}
	for i := range p.texts {
		// An error may be &MyError{Code, Message}. What else an interface holds is mostly a string or a
		// number, with no pointer behind it: each word that is tried costs a fault.
		if i > 0 && !more {
			return
		}
		if p.texts[i], why = b.array(behind(int64(i)), p.textWords); why != "" {
			p.texts[i] = -1
			return
		}
	}
	for i, word := range errnoWords {
		if p.errnos[i], why = b.scalar(behind(word), 8, false); why != "" {
			p.errnos[i] = none
		}
	}
}

// isErrno is the type whose value the Err of a *fs.PathError or *os.SyscallError mostly holds.
func isErrno(t *gotype.Type) bool { return t.Name == "syscall.Errno" }

// IsError tells whether a type is the interface error, or what generic code has for it.
func IsError(t *gotype.Type) bool {
	return t.Kind == reflect.Interface && (t.Name == "error" || t.Name == "go.shape.interface { Error() string }")
}

const typeNotTold = "dynamic type not known"

// unasked is why a part of what an interface holds is not shown. It says how to ask for it: path leads there from the
// interface, which is called x.
func unasked(path string) string { return "not fetched: ask for FUNC(x" + path + ")" }

// as is the way into what the interface holds, if that is of a type.
func (p *payload) as(t *gotype.Type) string { return p.path + ".(" + t.Name + ")" }

// dynamic is the value in an interface.
func (d *decoder) dynamic(n *node, v *Value) {
	v.TypeWord, v.Num, v.Imag = v.Num, v.Imag, 0
	if v.TypeWord == 0 {
		return
	}
	p := n.iface
	t, why := d.typeOf(v.TypeWord, n.typ.Methods, p.typ)
	switch {
	case p.within && why == badPointer:
		v.State, v.Why = Unfetched, unasked(p.path)
		return
	case v.unreadable(why):
		return
	}
	v.Dynamic = t.Name
	e := Value{Type: t, Num: v.Num}
	v.Elem = &e
	switch {
	case p.within && isErrno(t) && p.errnos[0].at >= 0:
		e.Num = p.errnos[0].read(d.words)
	case t.Size == 0: // there is nothing to fetch
	case p.within && t.Kind != reflect.Pointer:
		e.State, e.Why = Unfetched, unasked(p.as(t))
	case t.Direct && t.Kind == reflect.Pointer:
		if elem := t.Elem(); elem != nil && p.words > 0 && v.Num != 0 && elem.Kind != reflect.Invalid {
			inner := d.memory(t, elem, p, v.Num)
			e.Elem = &inner
		}
	case t.Direct && (t.Kind == reflect.Map || t.Kind == reflect.Chan || t.Kind == reflect.Func || t.Kind == reflect.UnsafePointer):
	case t.Direct || p.words == 0:
		e.State, e.Why = Unfetched, unasked(p.as(t))
	default:
		e = d.memory(t, t, p, v.Num)
	}
	if p.words > 0 && (t.Kind == reflect.Map || t.Kind == reflect.Chan) {
		e.Len = int64(d.words[p.at])
		if t.Kind == reflect.Chan {
			e.Cap = int64(d.words[p.at+1])
		}
	}
}

// typeOf is the type in an interface by its first word, that of an itab where the interface has methods.
// at is the type in the itab, as it was fetched: of those that are in the file it is known.
func (d *decoder) typeOf(word uint64, methods bool, at leaf) (t *gotype.Type, why string) {
	addr := word
	if methods {
		var ok bool
		if addr, ok = d.process.ItabType(word); !ok {
			if addr = at.read(d.words); d.implausible(word) != "" || addr == 0 {
				return nil, badPointer
			}
		}
	}
	if t = d.process.DynamicType(addr); t == nil {
		why = typeNotTold
	}
	return t, why
}

// holds tells why an interface, by its first word, does not hold what is wanted, "" if it does.
func (d *decoder) holds(word uint64, want *held) string {
	if word == 0 {
		return nilPointer
	}
	t, why := d.typeOf(word, want.methods, want.at)
	if why == "" && t != want.typ {
		why = "it is " + t.Name
	}
	return why
}

// memory is a value in the fetched memory that the data word of an interface points to which holds a type: t is that, or
// what it points to.
func (d *decoder) memory(holds, t *gotype.Type, p *payload, addr uint64) Value {
	if t.Size == 0 {
		return Value{Type: t}
	}
	if why := d.unread(addr, p.at, p.words); why != "" {
		return Value{Type: t, State: Unreadable, Why: why}
	}
	n, ok := p.nodes.Load(holds)
	if !ok {
		n, _ = p.nodes.LoadOrStore(holds, p.node("", p.as(holds), t, 0, 3))
	}
	return d.value(n.(*node))
}

// node plans a value at an offset of the fetched memory, where a path leads.
func (p *payload) node(name, path string, t *gotype.Type, off int64, depth int) *node {
	n := newNode(name, t, source{})
	n.unasked = unasked(path)
	end := int64(8 * p.words)
	if off < 0 || t.Size < 0 || off+t.Size > end && t.Kind != reflect.Struct || off >= end && t.Size > 0 || depth == 0 {
		n.why = n.unasked
		return n
	}
	// number is a part of one word.
	number := func(off, size int64, signed bool) leaf {
		if size == 0 || off%8+size > 8 || off+size > end {
			n.why = n.unasked
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
			n.kids = append(n.kids, p.node(f.Name, path+"."+f.Name, f.Type, off+f.Offset, depth-1))
		}
	case reflect.Interface:
		// Its type is known, and the number of a syscall.Errno where that is fetched.
		n.num, n.imag = number(off, 8, false), number(off+8, 8, false)
		n.iface = &payload{typ: none, within: true, path: path, errnos: [2]leaf{none, none}}
		if i := slices.Index(errnoWords[:], off/8+1); i >= 0 {
			n.iface.errnos[0] = p.errnos[i]
		}
	default:
		n.why = n.unasked
	}
	return n
}
