package capture

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/ftgo/ftgo/internal/gotype"
)

// payload says what is fetched of an interface's dynamic value. The dynamic type is not known when the probe is planned.
// Therefore the kernel fetches the first words of the value, whatever they are, and the text to which the first word
// points. For an error, it also fetches the text to which the second and third word point. This is enough for common types.
type payload struct {
	typ leaf // the address of the dynamic type, if the first word of the interface is an itab
	// at is the index, in decoder.words, of the first word fetched from the address in the data word. words is the number
	// of these words.
	at, words int
	data      source                 // the memory at the address in the data word
	planner   *Builder               // a sealed Builder, which plans the value once its type is known; nil without data
	nodes     map[*gotype.Type]*node // the planned values by dynamic type
	path      string                 // the path from the outermost interface to this one
}

// payloadWords is the size of fs.PathError in words: Op and Path are strings and Err is an error.
const payloadWords = 6

// errnoWords are the indexes of the words that point to a syscall.Errno in the Err of os.SyscallError and fs.PathError.
var errnoWords = [2]int64{3, 5}

// dynamic plans how to fetch an interface: the type, and, if the interface is error or has no methods, payloadWords words of
// the value and the text to which the first of them points. For an error, it also plans the text to which the second and third
// word point, and the numbers to which the words in errnoWords point.
func (n *node) dynamic(b *Builder, s source) {
	types := n.follow(b, s, nil)
	p := &payload{path: b.path}
	n.iface = p
	if n.typ.Methods {
		// An itab begins with the interface's type and the dynamic type (runtime/runtime2.go, internal/abi/iface.go).
		var reason string
		if p.typ, reason = b.scalar(types.at(8), 8, false); !b.sealed { // a sealed Builder can't fetch the type, but Process.ItabType may know it
			n.reason = cmp.Or(n.reason, reason)
		}
	}
	if n.reason != "" {
		return
	}
	p.data, n.imag = b.follow(s.at(8), nil)
	isError := IsError(n.typ)
	if n.reason = p.data.reason; n.reason != "" || n.typ.Methods && !isError {
		return
	}
	// behind returns the memory at the address in a word of the value.
	behind := func(word int64) (to source) {
		to.base, _, to.reason = p.data.at(8*word).text(b, 8)
		return to
	}
	var reason string
	p.at, reason = b.array(p.data, payloadWords)
	fetched := reason == ""
	for word := range int64(3) {
		// An error may be &MyError{Code, Message}. Most other dynamic values are a string or a number, and then the
		// second and third word are no addresses: each attempt to read from them costs a page fault.
		if reason == "" && (word == 0 || isError) {
			_, reason = b.array(behind(word), b.textWords())
		}
	}
	for _, word := range errnoWords {
		if reason == "" && isError {
			b.scalar(behind(word), 8, false)
		}
	}
	if fetched {
		p.words = payloadWords
		p.data.guards = nil // decoder.memory checks all words
	}
	planner := *b
	planner.sealed, planner.opt.Fields, planner.vars, planner.args = true, 0, nil, slices.Clone(b.args)
	p.planner, p.nodes = &planner, make(map[*gotype.Type]*node)
}

// IsError reports whether a type is the interface error, or its shape in generic code.
func IsError(t *gotype.Type) bool {
	return t.Kind == reflect.Interface && (t.Name == "error" || t.Name == "go.shape.interface { Error() string }")
}

const noDynamicType = "dynamic type not known"

// notFetched returns the reason why a part of an interface's dynamic value is not shown. It tells the user how to
// select the part: path leads to it from the interface, which the message calls x.
func notFetched(path string) string { return "not fetched: ask for FUNC(x" + path + ")" }

// pathTo returns the path to the dynamic value if it has type t.
func (p *payload) pathTo(t *gotype.Type) string { return p.path + ".(" + t.Name + ")" }

// dynamic decodes the dynamic type and value of an interface.
func (d *decoder) dynamic(n *node, v *Value) {
	v.TypeWord, v.Num, v.Imag = v.Num, v.Imag, 0
	if v.TypeWord == 0 {
		return
	}
	p := n.iface
	t, reason := d.interfaceType(v.TypeWord, n.typ.Methods, p.typ)
	switch {
	case !p.typ.fetched() && reason == badPointer:
		v.State, v.Reason = Unfetched, notFetched(p.path)
		return
	case v.markUnreadable(reason):
		return
	}
	v.Dynamic = t.Name
	e := Value{Type: t, Num: v.Num}
	v.Elem = &e
	switch {
	case t.Size == 0:
	case t.Direct && t.Kind == reflect.Pointer:
		if elem := t.Elem(); elem != nil && p.words > 0 && v.Num != 0 && elem.Kind != reflect.Invalid {
			inner := d.memory(t, elem, p, v.Num)
			e.Elem = &inner
		}
	case t.Direct && (t.Kind == reflect.Map || t.Kind == reflect.Chan) && p.words > 0:
		e.Len, e.Cap = int64(d.words[p.at]), int64(d.words[p.at+1])
	case t.Direct && (t.Kind == reflect.Func || t.Kind == reflect.UnsafePointer):
	case t.Direct:
		e.State, e.Reason = Unfetched, notFetched(p.pathTo(t))
	default:
		e = d.memory(t, t, p, v.Num)
	}
}

// interfaceType returns the dynamic type of an interface by its first word, which is an itab if the interface has
// methods. at is the address of the type that was fetched from the itab, for itabs that are not in the file.
func (d *decoder) interfaceType(word uint64, methods bool, at leaf) (t *gotype.Type, reason string) {
	addr := word
	if methods {
		var ok bool
		if addr, ok = d.process.ItabType(word); !ok {
			if addr = at.read(d.words); d.checkAddr(word) != "" || addr == 0 {
				return nil, badPointer
			}
		}
	}
	if t = d.process.DynamicType(addr); t == nil {
		reason = noDynamicType
	}
	return t, reason
}

// checkType returns the reason why an interface does not have the dynamic type in a guard, or "". word is the first
// word of the interface.
func (d *decoder) checkType(word uint64, g *guard) string {
	if word == 0 {
		return nilPointer
	}
	t, reason := d.interfaceType(word, g.methods, g.itab)
	if reason == "" && t != g.holds {
		reason = "it is " + t.Name
	}
	return reason
}

// memory decodes a value of type t in the memory at addr, which an interface's data word contains. t is the dynamic
// type, or, if that is a pointer, its target.
func (d *decoder) memory(dynamic, t *gotype.Type, p *payload, addr uint64) Value {
	v := Value{Type: t}
	switch {
	case t.Size == 0:
		return v
	case p.words > 0:
		if v.markUnreadable(d.checkWords(addr, p.at, p.words)) {
			return v
		}
	case p.planner == nil:
		v.State, v.Reason = Unfetched, notFetched(p.pathTo(t))
		return v
	}
	n := p.nodes[dynamic]
	if n == nil {
		p.planner.path = p.pathTo(dynamic)
		n = p.planner.value("", t, p.data, 0)
		p.nodes[dynamic] = n
	}
	return d.value(n)
}
