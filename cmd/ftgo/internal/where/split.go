package where

import (
	"math"
	"reflect"
	"slices"
	"strings"

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

	// text is in the terms of the kernel, of an event's fields, as filters are written
	// (Documentation/trace/events.rst, "Event filtering"): "field op number", "field & number",
	// joined by && and ||, !( ). Each placeholder stands for the field that holds a piece.
	text   string
	pieces []Piece
}

const placeholder = "\x00"

func exactly(text string) Push { return Push{Exact: true, text: text} }

// size is the longest that the text can become: names have at most 31 bytes (MAX_ARG_NAME_LEN in
// kernel/trace/trace_probe.h).
func (p Push) size() int { return len(p.text) + 30*len(p.pieces) }

// join is "(p op q)", or one of both that is too long already.
func (p Push) join(op string, q Push) Push {
	switch {
	case p.size() > MaxFilter:
		return p
	case q.size() > MaxFilter:
		return q
	}
	return Push{Exact: p.Exact && q.Exact, text: "(" + p.text + op + q.text + ")", pieces: slices.Concat(p.pieces, q.pieces)}
}

// Filter writes the condition for an event's filter, in parentheses where they matter
// for joining it to others. name names the fields that hold the pieces of strings.
func (p Push) Filter(name func(Piece) string) string {
	text := p.text
	for _, piece := range p.pieces {
		text = strings.Replace(text, placeholder, name(piece), 1)
	}
	return text
}

// Split finds what the kernel can evaluate where a call begins. known tells how it knows a
// variable, or that it doesn't: results and the latency, to begin with. A call that fails
// one of the conditions is one that the filter does not let through; of the others rest
// decides.
//
// Conditions are comparisons of integers, bools and pointers with constants, "x & 4", and
// strings that are equal to a constant, joined by && || and !. Where one side of an && is
// none of these, the other side is pushed, and the whole stays in rest, as comparisons of
// strings do: the kernel reads zeros where memory can't be read.
func (e Expr) Split(known func(Ref) (capture.Field, bool)) (kernel []Push, rest Expr) {
	rest.text = e.text
	size := 0
	s := splitter(func(r Ref) (field, bool) {
		f, ok := known(r)
		return field{f}, ok
	})
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil {
			return
		} else if n.op == opAnd {
			visit(n.x)
			visit(n.y)
			return
		}
		p, ok := s.condition(n, false)
		if length := len(" && ") + p.size(); ok && size+length <= MaxFilter {
			size += length
			p.Expr = Expr{e.text, n}
			kernel = append(kernel, p)
			if p.Exact {
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

// splitter tells which field holds a variable.
type splitter func(Ref) (field, bool)

// condition is what the kernel can tell of a condition, or of its contrary: something that
// is true unless that is known to be false. Exact: it is false just then.
func (s splitter) condition(n *node, not bool) (p Push, ok bool) {
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
	return Push{}, false
}

func (s splitter) junction(n *node, not bool) (p Push, ok bool) {
	x, okX := s.condition(n.x, not)
	y, okY := s.condition(n.y, not)
	and := (n.op == opAnd) != not
	switch {
	case okX && okY:
		return x.join(either(and, " && ", " || "), y), true
	case okY:
		x = y
	}
	x.Exact = false
	return x, and && (okX || okY)
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// comparison is that of a variable, or of some bits of one, with a constant.
func (s splitter) comparison(o op, x *node, constant operand) (p Push, ok bool) {
	if x.op == opBits {
		return s.bits(o, x, constant)
	}
	if x.op != opRef {
		return Push{}, false
	}
	f, ok := s(x.ref)
	if !ok {
		return Push{}, false
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
	return Push{}, false
}

// bits is "x & 4 != 0" or "x & 4 == 0".
func (s splitter) bits(o op, n *node, constant operand) (p Push, ok bool) {
	x, mask := n.x, n.y
	if x.constant() {
		x, mask = mask, x
	}
	zero := constant.class == wholeClass && constant.whole == integer{}
	if !o.equality() || !zero || x.op != opRef || !mask.constant() {
		return Push{}, false
	}
	f, ok := s(x.ref)
	m := mask.operand(nil)
	// Kernels before 4.17 keep only 32 bits of what & leaves (filter_pred_u64 and the like
	// in kernel/trace/trace_events_filter.c).
	narrow := m.class == wholeClass && m.whole.high == 0 && m.whole.low <= math.MaxUint32
	if !ok || !narrow || f.Type.Kind != reflect.Int && f.Type.Kind != reflect.Uint {
		return Push{}, false
	}
	value, ok := f.value(m.whole)
	// A ! there is since Linux 4.0.
	return exactly(either(o == opEqual, "!", "") + "(" + f.Name + " & " + f.number(value) + ")"), ok
}
