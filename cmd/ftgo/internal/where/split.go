package where

import (
	"go/constant"
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
)

// MaxFilter is the largest size, in bytes, of the kernel's filter that Split returns. An event's filter must be shorter
// than a page (event_filter_write in kernel/trace/trace_events.c), and the caller may add conditions.
const MaxFilter = 3500

// Split finds the part of the filter that the kernel can evaluate at the entry of a call. A call passes the filter
// if it passes both inKernel and rest. kernel is the text of inKernel in the language of the kernel's filters
// (Documentation/trace/events.rst, "Event filtering"): "field op number", joined by && and ||.
//
// The kernel can compare integers, bools and pointers with constants. inKernel holds the operands of the outermost &&
// that consist of such conditions, joined by && || and !, and fit into MaxFilter bytes.
// field returns the event's field that holds a variable. If no field holds it, ok is false: results and the latency have
// no field.
func (e Expr) Split(field func(Ref) (name string, t *gotype.Type, ok bool)) (kernel string, inKernel, rest Expr) {
	var texts []string
	size := 0
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil {
			return
		} else if n.op == "&&" {
			visit(n.x)
			visit(n.y)
			return
		}
		to := &rest
		text, ok := splitter(field).condition(n, false)
		if length := len(" && ") + len(text); ok && size+length <= MaxFilter {
			to = &inKernel
			size += length
			texts = append(texts, text)
		}
		if to.root != nil {
			n = &node{op: "&&", at: n.at, x: to.root, y: n}
		}
		to.root = n
	}
	visit(e.root)
	return strings.Join(texts, " && "), inKernel, rest
}

// splitter returns the event's field that holds a variable. If no field holds it, ok is false.
type splitter func(Ref) (name string, t *gotype.Type, ok bool)

// condition returns the condition n in the language of the kernel's filters. If not is true, it returns the opposite of n.
// ok is false if the kernel can't evaluate the condition.
func (s splitter) condition(n *node, not bool) (text string, ok bool) {
	switch op, x, y := n.op, n.x, n.y; {
	case op == "!":
		return s.condition(x, !not)
	case op == "&&" || op == "||":
		a, okA := s.condition(x, not)
		b, okB := s.condition(y, not)
		text = "(" + a + either((op == "&&") != not, " && ", " || ") + b + ")"
		return text, okA && okB && len(text) <= MaxFilter
	case n.variable():
		return s.comparison(either(not, "==", "!="), n, truthOperand(False))
	case comparison(op):
		if x.constant() {
			op, x, y = strings.NewReplacer("<", ">", ">", "<").Replace(op), y, x
		}
		if not {
			op = operators[op].inverse
		}
		if y.constant() {
			return s.comparison(op, x, y.eval(nil))
		}
	}
	return "", false
}

// comparison returns the comparison of a variable with a constant.
func (s splitter) comparison(op string, x *node, to operand) (text string, ok bool) {
	if !x.variable() || x.ref.First > 0 {
		return "", false
	}
	name, t, ok := s(x.ref)
	if !ok {
		return "", false
	}
	number, class := constant.MakeInt64(0), classOf(t)
	switch {
	case equality(op) && class == truthClass && to.class == truthClass:
		if to.truth == True { // every value but 0 is true
			op = operators[op].inverse
		}
	case equality(op) && to.class == nilClass && class&nilableClass != 0:
	case class&wholeClass != 0 && to.number():
		if number = constant.ToInt(to.exact()); !fits(t, number) || t.Size > 8 { // 1e6 is an integer, too
			return "", false
		}
	default:
		return "", false
	}
	return name + " " + op + " " + number.ExactString(), true
}

// fits reports whether i is an integer that a variable of type t can hold. The kernel would cut a larger integer to
// the size of the field.
func fits(t *gotype.Type, i constant.Value) bool {
	unused := max(0, 64-8*t.Size)
	if t.Kind == reflect.Int {
		n, exact := constant.Int64Val(i)
		return exact && n<<unused>>unused == n
	}
	n, exact := constant.Uint64Val(i)
	return exact && n<<unused>>unused == n
}
