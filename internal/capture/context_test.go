package capture

import (
	"reflect"
	"testing"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// fewTypes are the types of a program, by their addresses; its itabs lie 0x100 behind them.
type fewTypes map[uint64]*gotype.Type

func (f fewTypes) DynamicType(addr uint64) *gotype.Type { return f[addr] }
func (f fewTypes) ItabType(itab uint64) (uint64, bool) {
	_, ok := f[itab-0x100]
	return itab - 0x100, ok
}
func (f fewTypes) FuncName(uint64) string                   { return "" }
func (f fewTypes) Readable(uint64, int) (readable, ok bool) { return true, true }

// TestContexts: a chain ends where it is known to, and says where it is not.
func TestContexts(t *testing.T) {
	parent := gotype.Field{Type: &gotype.Type{Name: "context.Context", Kind: reflect.Interface, Size: 16, Methods: true}}
	structOf := func(fields ...gotype.Field) *gotype.Type { return &gotype.Type{Kind: reflect.Struct, Fields: fields} }
	pointer := func(name string, to *gotype.Type) *gotype.Type { return gotype.PointerTo(to).Named(name) }
	key, val := gotype.Field{Offset: 16, Type: anyType}, gotype.Field{Offset: 32, Type: anyType}
	const value, cancel, background, own, another, timer = 0x5000, 0x6000, 0x7000, 0x8000, 0x9000, 0xa000
	types := fewTypes{
		value:      pointer("*context.valueCtx", structOf(parent, key, val)),
		cancel:     pointer("*context.cancelCtx", structOf(parent)),
		background: {Name: "context.backgroundCtx"},
		own:        pointer("*main.ctx", structOf(parent)),
		another:    pointer("*context.valueCtx", structOf(parent, val)), // another package's
		timer:      pointer("*context.timerCtx", structOf(gotype.Field{Type: structOf(parent)})),
	}
	for _, test := range []struct {
		name        string
		parents     []uint64 // of the first, the second …
		items, left int64
	}{
		{"values alone", []uint64{value, value, background}, 2, 2},
		{"none", []uint64{background}, 0, 0},
		{"between others", []uint64{cancel, value, timer, background}, 1, 1},
		{"behind another package's", []uint64{value, another, value, background}, 1, -1},
		{"behind one that is not known", []uint64{value, own, value}, 1, -1},
		{"more than are looked at", []uint64{value, value, value, value}, 4, -1},
	} {
		n, d := &node{}, &decoder{process: types}
		for i := range test.parents {
			parent := uint64(0)
			if i+1 < len(test.parents) {
				parent = test.parents[i+1] + 0x100
			}
			n.chain = append(n.chain, contextLevel{at: len(d.words), key: &node{typ: anyType, iface: &payload{}, num: none, imag: none, len: none, cap: none}})
			n.chain[i].value = n.chain[i].key
			d.words = append(d.words, parent, 0, 0, 0, 0, 0)
		}
		v := Value{Type: anyType}
		d.contexts(n, &v, types[test.parents[0]])
		if int64(len(v.Items)) != test.items || v.Len != test.left {
			t.Errorf("%s: %d values, length %d; want %d, %d", test.name, len(v.Items), v.Len, test.items, test.left)
		}
	}
}
