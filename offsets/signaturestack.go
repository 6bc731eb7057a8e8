package offsets

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// piecesAt spreads a value over what debug information says of it; not ok if the two
// don't fit.
func piecesAt(at debug.Location, t *gotype.Type) (pieces []Piece, ok bool) {
	if t.Size <= 0 {
		return nil, false
	}
	if at.Stack {
		return onStack(at.SP, t.Size, at.Disp), at.Disp >= at.Lowest
	}
	parts, single, err := flatten(t)
	if err != nil || !single || len(parts) != len(at.Registers) {
		return nil, false
	}
	for i, p := range parts {
		if p.Float != (at.Registers[i] == "") {
			return nil, false
		}
		pieces = append(pieces, Piece{Offset: p.Offset, Size: p.Size, Register: at.Registers[i]})
	}
	return pieces, true
}

var errNoSlot = errors.New("debug information does not tell where on the stack it is")

// byTypesOrSlots is for versions that pass everything on the stack and leave out
// parameters without names: the function table has the size of them all. ordered: parameters are in
// the order of the source, so that their types may do.
func (l *goLayout) byTypesOrSlots(ordered bool) {
	if ordered && l.checked() != differ {
		return
	}
	l.toSlots()
	if size, ok := l.argsSize(); ok {
		l.resultsFromEnd(size)
	}
}

func (l *goLayout) argsSize() (int64, bool) { return l.binary.tables.ArgsSize(l.f.Addr) }

// resultsFromEnd lays out results that end where everything ends. If they have no names
// then none is left out.
func (l *goLayout) resultsFromEnd(size int64) {
	for i := range l.fn.Results {
		if !strings.HasPrefix(l.fn.Results[i].Name, "~r") {
			return
		}
	}
	a, results := l.binary.newAssignment(ABI0), slices.Clone(l.sig.Results)
	a.placeAll(results)
	start := alignUp(size, 8) - alignUp(a.stack-a.conv.StackArgs, 8)
	if start < 0 || start%8 != 0 || slices.ContainsFunc(results, func(v Variable) bool { return v.Err != nil }) {
		return
	}
	for _, v := range results {
		for j := range v.Pieces {
			v.Pieces[j].Disp += start
		}
	}
	l.sig.Results = results
}

// toSlots leaves the places that debug information tells.
func (l *goLayout) toSlots() {
	slots := func(formals []debug.Formal, variables []Variable) {
		lose(variables, nil)
		for i := range variables {
			v := &variables[i]
			if disp, ok := l.entries.Slot(l.fn, &formals[i], isWhole(v.Type)); ok && v.Type.Size > 0 {
				v.Pieces = onStack(l.binary.image.Processor.Machine().SP, v.Type.Size, disp)
			} else if v.Type.Size != 0 {
				v.Err = errNoSlot
			}
		}
	}
	slots(l.fn.Params, l.sig.Params)
	slots(l.fn.Results, l.sig.Results)
}

// inStackOrder puts parameters in the order of their places on the stack, those whose place is
// not known last; results without names by the compiler's numbers.
func inStackOrder(d *debug.Info, fn *debug.Function, formals []debug.Formal) {
	slices.SortStableFunc(formals, func(x, y debug.Formal) int {
		n, err1 := strconv.Atoi(strings.TrimPrefix(x.Name, "~r"))
		m, err2 := strconv.Atoi(strings.TrimPrefix(y.Name, "~r"))
		if err1 == nil && err2 == nil {
			return cmp.Compare(n, m)
		}
		place := func(v *debug.Formal) int64 {
			if at, ok := d.Slot(fn, v, isWhole(v.Type)); ok {
				return at
			}
			return math.MaxInt64
		}
		return cmp.Compare(place(&x), place(&y))
	})
}
