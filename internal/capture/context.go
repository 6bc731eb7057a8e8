package capture

import (
	"reflect"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// maxContexts is how many contexts are looked at, from the one that a function has to those it was made of.
const maxContexts = 6

// contextLevel is what is fetched of one of a chain of contexts: the parent's two words are the first of all that package
// context makes, and a key and a value, two words each, follow in a valueCtx (context/context.go).
type contextLevel struct {
	guards     []guard
	at         int // the first of six words
	key, value *node
}

var anyType, _ = gotype.Basic("any")

// isContext tells of the interface.
func isContext(t *gotype.Type) bool {
	return t.Kind == reflect.Interface && t.Name == "context.Context"
}

// contexts plans what a context has, once there is all of the other values. data is where the context is.
func (n *node) contexts(b *Builder, data source) {
	if !b.asked || !b.opt.Arrays || data.search != nil {
		return
	}
	b.later = append(b.later, func() {
		for range maxContexts {
			l := contextLevel{guards: data.guards}
			var why string
			if l.at, why = b.array(data, payloadWords); why != "" {
				return
			}
			l.key, l.value = b.contained(data, l.at, 2), b.contained(data, l.at, 4)
			n.chain = append(n.chain, l)
			data, _ = b.follow(data.at(8), nil)
		}
	})
}

// contained plans an empty interface among words that are fetched from at on.
func (b *Builder) contained(s source, at int, word int64) *node {
	n := newNode("", anyType, s)
	n.num, n.imag = leaf{at + int(word), 0, 8, false}, leaf{at + int(word) + 1, 0, 8, false}
	p := &payload{typ: none, texts: [3]int{-1, -1, -1}, errnos: [2]leaf{none, none}}
	n.iface = p
	to := source{}
	to.inner, _, to.why = s.at(8*(word+1)).text(b, 8)
	var why string
	if p.at, why = b.array(to, 2); why != "" {
		return n
	}
	p.words = 2
	behind := source{}
	behind.inner, _, behind.why = to.text(b, 8)
	if p.texts[0], why = b.array(behind, min(b.textWords(), maxElementText/8)); why != "" {
		p.texts[0] = -1
	}
	p.textWords = min(b.textWords(), maxElementText/8)
	return n
}

// contexts takes the keys and values of a context of a type, the innermost first. Len is less than 0 if there may be more.
func (d *decoder) contexts(n *node, v *Value, t *gotype.Type) {
	for _, l := range n.chain {
		v.Len = -1
		switch t.Name {
		case "context.backgroundCtx", "context.todoCtx", "*context.emptyCtx":
			v.Len = int64(len(v.Items))
			return
		case "*context.valueCtx":
			if !keepsParent(t, 2) || d.check(l.guards) != "" {
				return
			}
			key, value := d.value(l.key), d.value(l.value)
			key.Name, value.Name = "key", "value"
			v.Items = append(v.Items, Value{Type: v.Type, Fields: []Value{key, value}})
		case "*context.cancelCtx", "*context.timerCtx", "*context.afterFuncCtx", "context.withoutCancelCtx", "context.stopCtx":
			if !keepsParent(t, 0) || d.check(l.guards) != "" {
				return
			}
		default:
			return // where another one has its parent is not known
		}
		var why string
		if t, why = d.typeOf(d.words[l.at], true, none); why != "" {
			return
		}
	}
}

// keepsParent tells whether a context has its parent first, and then as many empty interfaces: another package
// may be called context, too.
func keepsParent(t *gotype.Type, more int) bool {
	if t.Kind == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind != reflect.Struct || len(t.Fields) <= more {
		return false
	}
	for i, f := range t.Fields[1 : 1+more] {
		if f.Offset != 16*int64(1+i) || f.Type.Kind != reflect.Interface || f.Type.Methods {
			return false
		}
	}
	for range 3 { // a timerCtx has a cancelCtx, which has it
		if t.Kind == reflect.Struct && len(t.Fields) > 0 && t.Fields[0].Offset == 0 {
			t = t.Fields[0].Type
		}
	}
	return isContext(t)
}
