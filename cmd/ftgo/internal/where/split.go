package where

import (
	"math"
	"reflect"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// Field is what the kernel knows of a variable when it evaluates an event's filter.
type Field struct {
	// Name is that of the event's field, which holds the variable itself, but the length
	// of a string or byte slice. It must come from a register or the stack: what lies
	// behind a pointer reads as 0 where it can't be read, which is no reason to drop a
	// call.
	Name string
	// Type is the variable's; int for Len and Cap.
	Type *gotype.Type
	// Signed: the kernel takes the field for a signed number. It is as wide as Type, 8
	// bytes for a length.
	Signed bool
}

// Push is a condition for the kernel: a part of a filter, or one that follows from it.
type Push struct {
	// Expr is the part of the filter that it stands for.
	Expr Expr
	// Exact: it is as strict as Expr, which need not be evaluated again.
	Exact bool

	cond cond
}

// MaxFilter bounds the text of all conditions together. An event's filter must be shorter
// than a page (event_filter_write in kernel/trace/trace_events.c), and the caller may have
// conditions of its own.
const MaxFilter = 3500

// Split finds what the kernel can evaluate where a call begins. field tells how it knows a
// variable, or that it doesn't: results and the latency, to begin with. A call that fails
// one of the conditions is one that the filter does not let through; of the others rest
// decides.
//
// Conditions are comparisons of integers, bools and pointers with constants, "x & 4", and
// strings that are equal to a constant, joined by && || and !. Where one side of an && is
// none of these, the other side is pushed, and the whole stays in rest, as comparisons of
// strings do: the kernel reads zeros where memory can't be read.
func (e Expr) Split(field func(Ref) (Field, bool)) (kernel []Push, rest Expr) {
	rest.text = e.text
	size := 0
	var visit func(n *node)
	visit = func(n *node) {
		switch {
		case n == nil:
			return
		case n.op == opAnd:
			visit(n.x)
			visit(n.y)
			return
		}
		push := Push{Expr: Expr{e.text, n}}
		var ok bool
		if push.cond, push.Exact, ok = (splitter{field}).condition(n, false); ok {
			length := len(" && ") + len(push.Filter(longestName))
			if ok = size+length <= MaxFilter; ok {
				size += length
				kernel = append(kernel, push)
			}
		}
		switch {
		case ok && push.Exact:
		case rest.root == nil:
			rest.root = n
		default:
			rest.root = &node{op: opAnd, at: n.at, x: rest.root, y: n}
		}
	}
	visit(e.root)
	return kernel, rest
}

// longestName stands for the field of a piece: names have at most 31 bytes
// (MAX_ARG_NAME_LEN in kernel/trace/trace_probe.h).
func longestName(Ref, Piece) string { return "x234567890123456789012345678901" }

type splitter struct {
	field func(Ref) (Field, bool)
}

// condition is what the kernel can tell of a condition, or of its contrary: something that
// is true unless that is known to be false. exact: it is false just then.
func (s splitter) condition(n *node, not bool) (c cond, exact, ok bool) {
	switch n.op {
	case opNot:
		return s.condition(n.x, !not)
	case opAnd, opOr:
		x, exactX, okX := s.condition(n.x, not)
		y, exactY, okY := s.condition(n.y, not)
		and := (n.op == opAnd) != not
		switch {
		case okX && okY:
			return junction{and, x, y}, exactX && exactY, true
		case okX && and:
			return x, false, true
		}
		return y, false, okY && and
	case opRef:
		f, ok := s.field(n.ref)
		if !ok || f.Type.Kind != reflect.Bool {
			return nil, false, false
		}
		return numeric{f.Name, either(not, opEqual, opNotEqual), number{0, f.Signed}}, true, true
	}
	if !n.op.comparison() {
		return nil, false, false
	}
	o, x, y := n.op, n.x, n.y
	if x.constant() {
		o, x, y = o.flipped(), y, x
	}
	if not {
		o = o.inverse()
	}
	if !y.constant() {
		return nil, false, false
	}
	return s.comparison(o, x, y.operand(nil))
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// comparison is that of a variable, or of some bits of one, with a constant.
func (s splitter) comparison(o op, x *node, constant operand) (c cond, exact, ok bool) {
	if x.op == opBits {
		return s.bits(o, x, constant)
	}
	if x.op != opRef {
		return nil, false, false
	}
	f, ok := s.field(x.ref)
	if !ok {
		return nil, false, false
	}
	equality := o == opEqual || o == opNotEqual
	switch f.Type.Kind {
	case reflect.Bool:
		if equality && constant.class == truthClass {
			return numeric{f.Name, either((o == opEqual) == constant.truth, opNotEqual, opEqual), number{0, f.Signed}}, true, true
		}
	case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Chan, reflect.Func:
		if equality && constant.class == nilClass {
			return numeric{f.Name, o, number{0, f.Signed}}, true, true
		}
		if f.Type.Kind != reflect.Pointer && f.Type.Kind != reflect.UnsafePointer {
			return nil, false, false
		}
		c, ok = f.compare(o, constant)
		return c, ok, ok
	case reflect.Int, reflect.Uint:
		c, ok = f.compare(o, constant)
		return c, ok, ok
	case reflect.String, reflect.Slice:
		if equality && constant.class == textClass && (f.Type.Kind == reflect.String || ofBytes(f.Type)) {
			return newEquality(x.ref, f, o, constant.text.bytes)
		}
	}
	return nil, false, false
}

// bits is "x & 4 != 0" or "x & 4 == 0".
func (s splitter) bits(o op, n *node, constant operand) (c cond, exact, ok bool) {
	x, mask := n.x, n.y
	if x.constant() {
		x, mask = mask, x
	}
	if o != opEqual && o != opNotEqual || constant.class != wholeClass || constant.whole.abs != 0 || x.op != opRef || !mask.constant() {
		return nil, false, false
	}
	f, ok := s.field(x.ref)
	m := mask.operand(nil)
	// Kernels before 4.17 keep only 32 bits of what & leaves (filter_pred_u64 and the like
	// in kernel/trace/trace_events_filter.c).
	if !ok || f.Type.Kind != reflect.Int && f.Type.Kind != reflect.Uint || m.class != wholeClass || m.whole.negative || m.whole.abs > math.MaxUint32 {
		return nil, false, false
	}
	value, ok := f.value(m.whole)
	return masked{f.Name, value, o == opEqual}, ok, ok
}
