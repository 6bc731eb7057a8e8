package offsets

import (
	"cmp"
	"errors"
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
// parameters without names: the function table has the size of them all.
func (l *goLayout) byTypesOrSlots() {
	if l.checked() != differ {
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
	a := l.binary.newAssignment(ABI0)
	places := make([][]Piece, len(l.sig.Results))
	for i := range l.sig.Results {
		var err error
		if places[i], err = a.place(l.sig.Results[i].Type); err != nil {
			return
		}
	}
	start := alignUp(size, 8) - alignUp(a.stack-a.conv.StackArgs, 8)
	if start < 0 || start%8 != 0 {
		return
	}
	for i, place := range places {
		for j := range place {
			place[j].Disp += start
		}
		l.sig.Results[i].Pieces, l.sig.Results[i].Err = place, nil
	}
}

// toSlots leaves the places that debug information tells.
func (l *goLayout) toSlots() {
	slots := func(formals []debug.Formal, variables []Variable) {
		for i := range variables {
			v := &variables[i]
			v.Pieces, v.Err = nil, nil
			if v.Type.Size == 0 {
				continue
			}
			disp, ok := l.entries.Slot(l.fn, &formals[i], isWhole(v.Type))
			if ok && v.Type.Size > 0 {
				v.Pieces = onStack(l.binary.image.Processor.Machine().SP, v.Type.Size, disp)
			} else {
				v.Err = errNoSlot
			}
		}
	}
	slots(l.fn.Params, l.sig.Params)
	slots(l.fn.Results, l.sig.Results)
}

// byLocation is for the version that lists parameters by name and tells few locations:
// a single one needs none.
func (l *goLayout) byLocation() {
	if len(l.sig.Params) <= 1 && len(l.sig.Results) <= 1 {
		l.byTypesOrSlots()
		return
	}
	l.toSlots()
	if size, ok := l.argsSize(); ok {
		l.resultsFromEnd(size)
	}
}

// bySlots is for the oldest versions, which tell all locations. Up to Go 1.9 they don't
// tell results: those without names are known by their numbers.
func (l *goLayout) bySlots() {
	l.toSlots()
	if l.binary.goVer.Minor < firstWithResults && len(l.sig.Results) == 0 && len(l.sig.Params) > 0 {
		l.note("results that have names are among the parameters: debug information of %s does not tell them apart", l.binary.goVer)
	}
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
		at, ok1 := d.Slot(fn, &x, isWhole(x.Type))
		other, ok2 := d.Slot(fn, &y, isWhole(y.Type))
		switch {
		case ok1 && ok2:
			return cmp.Compare(at, other)
		case ok1:
			return -1
		case ok2:
			return 1
		}
		return 0
	})
}
