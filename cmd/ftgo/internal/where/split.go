package where

import (
	"math"
	"reflect"

	"github.com/ftgo/ftgo/internal/capture"
)

// MaxFilter bounds the text of all conditions together. An event's filter must be shorter
// than a page (event_filter_write in kernel/trace/trace_events.c), and the caller may have
// conditions of its own.
const MaxFilter = 3500

// Push is a condition for the kernel: a part of a filter, or one that follows from it.
type Push struct {
	// Expr is the part of the filter that it stands for.
	Expr Expr
	// Exact: it is as strict as Expr, which need not be evaluated again.
	Exact bool

	cond cond
}

// Split finds what the kernel can evaluate where a call begins. field tells how it knows a
// variable, or that it doesn't: results and the latency, to begin with. A call that fails
// one of the conditions is one that the filter does not let through; of the others rest
// decides.
//
// Conditions are comparisons of integers, bools and pointers with constants, "x & 4", and
// strings that are equal to a constant, joined by && || and !. Where one side of an && is
// none of these, the other side is pushed, and the whole stays in rest, as comparisons of
// strings do: the kernel reads zeros where memory can't be read.
func (e Expr) Split(field func(Ref) (capture.Field, bool)) (kernel []Push, rest Expr) {
	rest.text = e.text
	size := 0
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil {
			return
		} else if n.op == opAnd {
			visit(n.x)
			visit(n.y)
			return
		}
		c, ok := splitter{field}.condition(n, false)
		if length := len(" && ") + c.size(); ok && size+length <= MaxFilter {
			size += length
			kernel = append(kernel, Push{Expr{e.text, n}, c.exact, c})
			if c.exact {
				return
			}
		}
		if rest.root != nil {
			n = &node{op: opAnd, at: n.at, x: rest.root, y: n}
		}
		rest.root = n
	}
	visit(e.root)
	return kernel, rest
}

type splitter struct {
	field func(Ref) (capture.Field, bool)
}

// condition is what the kernel can tell of a condition, or of its contrary: something that
// is true unless that is known to be false. exact: it is false just then.
func (s splitter) condition(n *node, not bool) (c cond, ok bool) {
	switch o, x, y := n.op, n.x, n.y; {
	case o == opNot:
		return s.condition(x, !not)
	case o == opAnd || o == opOr:
		return s.junction(n, not)
	case o == opRef:
		return s.comparison(either(not, opEqual, opNotEqual), n, truthOperand(False))
	case o.comparison():
		if x.constant() {
			o, x, y = o.flipped(), y, x
		}
		if not {
			o = o.inverse()
		}
		if y.constant() {
			return s.comparison(o, x, y.operand(nil))
		}
	}
	return cond{}, false
}

func (s splitter) junction(n *node, not bool) (c cond, ok bool) {
	x, okX := s.condition(n.x, not)
	y, okY := s.condition(n.y, not)
	and := (n.op == opAnd) != not
	switch {
	case okX && okY:
		return x.join(either(and, " && ", " || "), y), true
	case okY:
		x = y
	}
	x.exact = false
	return x, and && (okX || okY)
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// comparison is that of a variable, or of some bits of one, with a constant.
func (s splitter) comparison(o op, x *node, constant operand) (c cond, ok bool) {
	if x.op == opBits {
		return s.bits(o, x, constant)
	}
	if x.op != opRef {
		return cond{}, false
	}
	known, ok := s.field(x.ref)
	f := field{known}
	if !ok {
		return cond{}, false
	}
	switch class := classOf(f.Type); {
	case class == anyClass:
	case o.equality() && class == truthClass && constant.class == truthClass:
		return exactly(f.is(either((o == opEqual) == (constant.truth == True), opNotEqual, opEqual), "0")), true
	case o.equality() && constant.class == nilClass && class&nilableClass != 0 && f.Type.Kind != reflect.Slice:
		return exactly(f.is(o, "0")), true
	case o.equality() && class&textClass != 0 && constant.class == textClass && f.Type.Kind != reflect.Func:
		return f.textCompare(x.ref, o, constant.text.bytes)
	case class&wholeClass != 0:
		text, ok := f.compare(o, constant)
		return exactly(text), ok
	}
	return cond{}, false
}

// bits is "x & 4 != 0" or "x & 4 == 0".
func (s splitter) bits(o op, n *node, constant operand) (c cond, ok bool) {
	x, mask := n.x, n.y
	if x.constant() {
		x, mask = mask, x
	}
	zero := constant.class == wholeClass && constant.whole == integer{}
	if !o.equality() || !zero || x.op != opRef || !mask.constant() {
		return cond{}, false
	}
	known, ok := s.field(x.ref)
	f := field{known}
	m := mask.operand(nil)
	// Kernels before 4.17 keep only 32 bits of what & leaves (filter_pred_u64 and the like
	// in kernel/trace/trace_events_filter.c).
	narrow := m.class == wholeClass && m.whole.high == 0 && m.whole.low <= math.MaxUint32
	if !ok || !narrow || f.Type.Kind != reflect.Int && f.Type.Kind != reflect.Uint {
		return cond{}, false
	}
	value, ok := f.value(m.whole)
	// A ! there is since Linux 4.0.
	return exactly(either(o == opEqual, "!", "") + "(" + f.Name + " & " + f.number(value) + ")"), ok
}
