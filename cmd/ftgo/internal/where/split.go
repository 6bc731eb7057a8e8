package where

import (
	"math"
	"reflect"
	"strconv"

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
	// Text names an event's fields, as the kernel's filters do (Documentation/trace/events.rst,
	// "Event filtering"): "field op number", "field & number", joined by && and ||, !( ). It has
	// parentheses where they matter for joining it to others.
	Text string
}

func exactly(text string) Push { return Push{Exact: true, Text: text} }

// Split finds what the kernel can evaluate where a call begins. known tells how it knows a
// variable, or that it doesn't: results and the latency, to begin with. A call that fails
// one of the conditions is one that the filter does not let through; of the others rest
// decides.
//
// Conditions are comparisons of integers, bools and pointers with constants, and "x & 4",
// joined by && || and !. Where one side of an && is none of these, the other side is pushed,
// and the whole stays in rest.
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
		if length := len(" && ") + len(p.Text); ok && size+length <= MaxFilter {
			size += length
			p.Expr = Expr{text: e.text, root: n}
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
	case okX && okY && len(x.Text) > MaxFilter: // the whole would be, too
		return x, true
	case okX && okY:
		return Push{Exact: x.Exact && y.Exact, Text: "(" + x.Text + either(and, " && ", " || ") + y.Text + ")"}, true
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
	} else if x.op != opRef || x.ref.First > 0 {
		return p, false
	}
	f, ok := s(x.ref)
	if !ok {
		return p, false
	}
	switch class := classOf(f.Type); {
	case class == anyClass:
	case o.equality() && class == truthClass && constant.class == truthClass:
		return exactly(f.is(either((o == opEqual) == (constant.truth == True), opNotEqual, opEqual), "0")), true
	case o.equality() && constant.class == nilClass && class&nilableClass != 0:
		return exactly(f.is(o, "0")), true
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

// field is a variable as the kernel knows it.
type field struct{ capture.Field }

// is compares the field with a number.
func (f field) is(o op, number string) string { return f.Name + " " + o.String() + " " + number }

// number writes a number for the field: kstrtoll reads it if the field is signed, else
// kstrtoull (parse_pred in kernel/trace/trace_events_filter.c).
func (f field) number(pattern uint64) string {
	return either(f.Signed, strconv.FormatInt(int64(pattern), 10), strconv.FormatUint(pattern, 10))
}

// value is a number as the kernel knows it in the field, if the variable can be that
// number: the kernel cuts what is too large to the size of the field.
func (f field) value(i integer) (pattern uint64, ok bool) {
	unused := 64 - 8*f.Type.Size
	if unused < 0 || unused >= 64 {
		return 0, false
	}
	least, most := integer{}, integer{low: math.MaxUint64 >> unused}
	if f.Type.Kind == reflect.Int {
		least, most = signed(math.MinInt64>>unused), signed(math.MaxInt64>>unused)
	}
	pattern = i.low << unused
	pattern = either(f.Signed, uint64(int64(pattern)>>unused), pattern>>unused)
	return pattern, i.compare(least) >= 0 && i.compare(most) <= 0
}

func (f field) compare(o op, constant operand) (text string, ok bool) {
	i := constant.whole
	if constant.class == realClass { // without a fraction: 1e6
		if math.Trunc(constant.real) != constant.real || math.Abs(constant.real) >= 1<<63 {
			return "", false
		}
		i = signed(int64(constant.real))
	} else if constant.class != wholeClass {
		return "", false
	}
	value, ok := f.value(i)
	same := f.is(o, f.number(value))
	switch {
	case !ok:
		return "", false
	case o.equality() || f.Signed == (f.Type.Kind == reflect.Int):
		return same, true
	case !f.Signed:
		return "", false
	}
	// The upper half of an unsigned variable is negative in a signed field.
	upper := int64(value) < 0
	less := o&opLess != 0
	half := f.is(either(less, opGreaterEqual, opLess), "0")
	return "(" + half + either(less != upper, " && ", " || ") + same + ")", true
}
