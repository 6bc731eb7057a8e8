package where

import "strconv"

// cond is a condition in the terms of the kernel: of an event's fields.
type cond interface {
	// append writes it as filters are written (Documentation/trace/events.rst, "Event
	// filtering"): "field op number", "field & number", joined by && and ||, !( ).
	// Numbers are read by kstrtoll if the field is signed, else by kstrtoull
	// (parse_pred in kernel/trace/trace_events_filter.c).
	append(b []byte, piece func(Ref, Piece) string) []byte
}

// Filter writes the condition for an event's filter, in parentheses where they matter
// for joining it to others. piece names the fields that hold the pieces of strings.
func (p Push) Filter(piece func(Ref, Piece) string) string {
	return string(p.cond.append(nil, piece))
}

// number is a number as wide as its field.
type number struct {
	pattern uint64 // if signed, sign-extended
	signed  bool
}

func (n number) append(b []byte) []byte {
	if n.signed {
		return strconv.AppendInt(b, int64(n.pattern), 10)
	}
	return strconv.AppendUint(b, n.pattern, 10)
}

// numeric compares a field with a number.
type numeric struct {
	field string
	op    op
	value number
}

func (c numeric) append(b []byte, _ func(Ref, Piece) string) []byte {
	b = append(append(append(append(b, c.field...), ' '), opTexts[c.op]...), ' ')
	return c.value.append(b)
}

// masked tells whether some bits of a field are set, or none.
type masked struct {
	field string
	mask  number
	none  bool
}

func (c masked) append(b []byte, _ func(Ref, Piece) string) []byte {
	if c.none {
		b = append(b, '!') // since Linux 4.0
	}
	b = append(append(append(b, '('), c.field...), " & "...)
	return append(c.mask.append(b), ')')
}

// junction is "x && y" or "x || y".
type junction struct {
	and  bool
	x, y cond
}

func (c junction) append(b []byte, piece func(Ref, Piece) string) []byte {
	b = c.x.append(append(b, '('), piece)
	b = append(b, either(c.and, " && ", " || ")...)
	return append(c.y.append(b, piece), ')')
}
