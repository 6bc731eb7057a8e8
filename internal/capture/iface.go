package capture

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/internal/gotype"
)

// payload is what is fetched of an interface's value. Its type is not known beforehand:
// some words, and what a string among them would point to, serve the usual ones.
type payload struct {
	typ leaf // address of the dynamic type, where the first word is an itab
	// words are so many words of what the data word points to, from word at on.
	at, words int
	data      source                 // what the data word points to
	built     *Builder               // fetches nothing more; nil if nothing is fetched
	nodes     map[*gotype.Type]*node // the values that it has been, by the types that the interface held
	path      string                 // the way there from an interface that was fetched
}

// A *fs.PathError, Op and Path string and Err error, has six words.
const payloadWords = 6

// errnoWords are those of them that lead to the number of a syscall.Errno in Err of *os.SyscallError and *fs.PathError.
var errnoWords = [2]int64{3, 5}

// dynamic plans an interface: the value of errors and empty interfaces, of others the type alone.
func (n *node) dynamic(b *Builder, s source) {
	types := n.follow(b, s, nil)
	p := &payload{path: b.way}
	n.iface = p
	if n.typ.Methods {
		// itab is inter, type, … (runtime/runtime2.go, internal/abi/iface.go).
		var why string
		if p.typ, why = b.scalar(types.at(8), 8, false); !b.complete { // else the type is that of an itab in the file, or not known
			n.why = cmp.Or(n.why, why)
		}
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

// fill plans some words, and what the first of them would lead to, or, if there is more, the second and third, too.
func (p *payload) fill(b *Builder, data source, more bool) {
	p.data = data
	defer func() {
		built := *b
		built.complete, built.short, built.vars, built.args = true, 0, nil, slices.Clone(b.args)
		p.built = &built
	}()
	var why string
	if p.at, why = b.array(data, payloadWords); why != "" {
		return
	}
	p.words = payloadWords
	p.data.guards = nil // decoder.memory looks at all words
	// behind is what a word that is fetched already, in an array, points to.
	behind := func(word int64) (to source) {
		to.inner, _, to.why = data.at(8*word).text(b, 8)
		return to
	}
	for word := range int64(3) {
		// An error may be &MyError{Code, Message}. What else an interface holds is mostly a string or a
		// number, with no pointer behind it: each word that is tried costs a fault.
		if word > 0 && !more {
			return
		}
		if _, why = b.array(behind(word), b.textWords()); why != "" {
			return
		}
	}
	for _, word := range errnoWords {
		b.scalar(behind(word), 8, false)
	}
}

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
	case !p.typ.there() && why == badPointer:
		v.State, v.Why = Unfetched, unasked(p.path)
		return
	case v.unreadable(why):
		return
	}
	v.Dynamic = t.Name
	e := Value{Type: t, Num: v.Num}
	v.Elem = &e
	isHeader := t.Kind == reflect.Map || t.Kind == reflect.Chan
	switch {
	case t.Size == 0: // there is nothing to fetch
	case t.Direct && t.Kind == reflect.Pointer:
		if elem := t.Elem(); elem != nil && p.words > 0 && v.Num != 0 && elem.Kind != reflect.Invalid {
			inner := d.memory(t, elem, p, v.Num)
			e.Elem = &inner
		}
	case t.Direct && isHeader && p.words > 0:
		e.Len = int64(d.words[p.at])
		if t.Kind == reflect.Chan {
			e.Cap = int64(d.words[p.at+1])
		}
	case t.Direct && (t.Kind == reflect.Func || t.Kind == reflect.UnsafePointer):
	case t.Direct:
		e.State, e.Why = Unfetched, unasked(p.as(t))
	default:
		e = d.memory(t, t, p, v.Num)
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

// holds tells why an interface, by its first word, does not hold what a guard wants, "" if it does.
func (d *decoder) holds(word uint64, g *guard) string {
	if word == 0 {
		return nilPointer
	}
	t, why := d.typeOf(word, g.methods, g.itab)
	if why == "" && t != g.holds {
		why = "it is " + t.Name
	}
	return why
}

// memory is a value in the fetched memory that the data word of an interface points to which holds a type: t is that, or
// what it points to.
func (d *decoder) memory(holds, t *gotype.Type, p *payload, addr uint64) Value {
	v := Value{Type: t}
	switch {
	case t.Size == 0:
		return v
	case p.words > 0:
		if v.unreadable(d.unread(addr, p.at, p.words)) {
			return v
		}
	case p.built == nil:
		v.State, v.Why = Unfetched, unasked(p.as(t))
		return v
	}
	n := p.nodes[holds]
	if n == nil {
		p.built.way = p.as(holds)
		n = p.built.value("", t, p.data, 0)
		if p.nodes == nil {
			p.nodes = make(map[*gotype.Type]*node)
		}
		p.nodes[holds] = n
	}
	return d.value(n)
}
