package offsets

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// goSignature lays out what a function of Go takes and gives.
func (b *Binary) goSignature(f *Func, fn *debug.Function, d *debug.Info) *Signature {
	fn.Params, fn.Results = debug.Distinct(fn.Params), debug.Distinct(fn.Results)
	if b.goVer.Minor <= lastSorted {
		d.InStackOrder(fn, fn.Params)
		d.InStackOrder(fn, fn.Results)
	}
	l := goLayout{binary: b, f: f, fn: fn, entries: d, sig: &Signature{Captured: b.captured(fn)}}
	l.variables()
	switch v := b.goVer.Minor; {
	case f.ABI == ABI0 && v >= b.image.Processor.Machine().FirstRegisters:
		l.byTypesOrSlots(true)
	case v >= firstWithBlanks:
		l.byTypes()
	case v >= firstWithLocations:
		l.byTypesOrRegisters()
	case v == b.image.Processor.Machine().FirstRegisters && v < firstWithLocations:
		l.byTypesIfComplete()
	case v >= firstInOrder:
		l.byTypesOrSlots(true)
	case v == lastSorted:
		// It lists parameters by name and tells few locations: a single one needs none.
		l.byTypesOrSlots(len(l.sig.Params) <= 1 && len(l.sig.Results) <= 1)
	default:
		// The oldest versions tell all locations. Up to Go 1.9 they don't tell results: those without
		// names are known by their numbers.
		l.toSlots()
		if v < firstWithResults && len(l.sig.Results) == 0 && len(l.sig.Params) > 0 {
			l.note("results that have names are among the parameters: debug information of %s does not tell them apart", b.goVer)
		}
	}
	if size, ok := l.argsSize(); ok && f.ABI == ABI0 && size > 0 && len(fn.Params)+len(fn.Results) == 0 {
		l.note("it has %d bytes of parameters and results that debug information does not describe", size)
	}
	if v := b.goVer; v.Minor < firstWithClosures && fn.Locals && strings.HasPrefix(symname.Split(f.Name).Suffix, ".func") {
		l.note("what the closure refers to is not in debug information of %s", v)
	}
	return l.sig
}

// What debug information of Go says, by minor version, as compared with what functions
// were passed.
const (
	// firstWithResults: they are told from parameters.
	firstWithResults = 10
	// lastSorted is the second version that lists parameters by name instead of in
	// order; the first, 1.10, has all their locations.
	lastSorted   = 11
	firstInOrder = 12
	// firstWithLocations: the registers of parameters are right where they are told,
	// and there are all results.
	firstWithLocations = 18
	// firstWithBlanks: there are parameters without names, and receivers.
	firstWithBlanks = 22
	// firstWithClosures: variables that a closure refers to have their offset.
	firstWithClosures = 23
)

// goLayout is the work on one signature.
type goLayout struct {
	binary  *Binary
	f       *Func
	fn      *debug.Function
	entries *debug.Info
	sig     *Signature
}

func (l *goLayout) variables() {
	l.sig.Params, l.sig.Results = variablesOf(l.fn.Params, "p"), variablesOf(l.fn.Results, "r")
}

func (l *goLayout) note(format string, args ...any) {
	if l.sig.Note != "" {
		l.sig.Note += "; "
	}
	l.sig.Note += fmt.Sprintf(format, args...)
}

// byTypes computes where values are from their types, and returns where they end on the stack.
func (l *goLayout) byTypes() (end int64) {
	a := l.binary.newAssignment(l.f.ABI)
	dictionary := l.binary.dictionary(l.f)
	if before := min(dictionary, len(l.sig.Params)); before < 0 {
		placeAll(a, l.sig.Params)
	} else {
		placeAll(a, l.sig.Params[:before])
		dictionary, err := a.Place(arch.PointerWord)
		placeAll(a, l.sig.Params[before:])
		for i := range l.sig.Params {
			if p := &l.sig.Params[i]; err == nil && p.Type.Dictionary > 0 {
				p.Real = &Variable{Type: arch.PointerWord, Pieces: dictionary, Through: []int64{8 * int64(p.Type.Dictionary-1)}}
			}
		}
	}
	a.GoResults()
	placeAll(a, l.sig.Results)
	return a.End()
}

// dictionary is the number of the parameter before which a generic function takes its dictionary,
// a pointer that source files don't have; -1 if it takes none. Go 1.18 and 1.19 pass it first,
// later versions behind the receiver (cmd/compile/internal/noder/reader.go, funcBody). Closures
// have it among what they capture. Since Go 1.27 methods may have type parameters of their own. The function tables of Go 1.18 to 1.20 don't have type arguments: what is
// no wrapper takes one.
func (b *Binary) dictionary(f *Func) int {
	name := symname.Split(f.Name)
	generic := strings.Contains(name.TypeArgs+name.Func, "[go.shape.") || name.TypeArgs == "[...]" && !b.isWrapper(f)
	switch {
	case !generic, strings.HasPrefix(name.Func, "type:"), strings.HasPrefix(name.Func, "type.."):
		return -1
	case name.Suffix != "" && name.Suffix != abi0Suffix:
		return -1
	case name.Receiver != "" && b.goVer.Minor >= 20:
		return 1
	}
	return 0
}

// isWrapper tells of functions that the compiler made to call others.
func (b *Binary) isWrapper(f *Func) (wrapper bool) {
	b.tables.Frames(f.Addr, func(_, _ string, _ int, is bool) { wrapper = is })
	return wrapper
}

var errHidden = errors.New("there are parameters without names that debug information leaves out: its place is not known")

// byTypesOrRegisters is for versions that leave out some parameters, but tell the
// registers of those that are used.
func (l *goLayout) byTypesOrRegisters() {
	checked := l.checked()
	if checked == agree {
		return
	}
	// Up to the last one that is where it would be without others, nothing is left out.
	sound, shifted := 0, checked == differ
	located := make([]bool, len(l.sig.Params))
	for i := range l.sig.Params {
		v := &l.sig.Params[i]
		at, ok := l.entries.Location(l.fn, l.f.Addr, &l.fn.Params[i])
		pieces, fits := piecesAt(at, v.Type)
		if !ok || !fits {
			continue
		}
		if v.Err == nil && slices.Equal(pieces, v.Pieces) {
			sound = i + 1
		} else {
			shifted = true
		}
		v.Pieces, v.Err, located[i] = pieces, nil, true
	}
	if !shifted {
		return
	}
	for i := sound; i < len(l.sig.Params); i++ {
		if !located[i] && l.sig.Params[i].Type.Size != 0 {
			lose(l.sig.Params[i:i+1], errHidden)
		}
	}
	l.hideStackResults()
}

// byTypesIfComplete is for Go 1.17, whose locations are not to be trusted.
func (l *goLayout) byTypesIfComplete() {
	if l.checked() == differ {
		lose(l.sig.Params, errHidden)
		l.hideStackResults()
	}
	// Results are left out of what was optimized, some or all.
	if !strings.Contains(l.fn.Producer(), " -N") {
		l.sig.Results = nil
		l.note("results are not in debug information of %s, unless it was built with -gcflags=-N", l.binary.goVer)
	}
}

// hideStackResults: where results begin on the stack depends on all parameters.
func (l *goLayout) hideStackResults() {
	for i, v := range l.sig.Results {
		if len(v.Pieces) > 0 && v.Pieces[0].InMemory {
			lose(l.sig.Results[i:i+1], errHidden)
		}
	}
}

// captured are the variables that a closure refers to, as its context register points to them at entry
// (cmd/compile/abi-internal.md, "Closures"). Variables that may change are referred to
// by address, and called "&name".
func (b *Binary) captured(fn *debug.Function) []Variable {
	var found []Variable
	context := b.image.Processor.Go(b.goVer.Minor, false).Context
	slices.SortFunc(fn.Captured, func(x, y debug.Formal) int { return cmp.Compare(x.Offset, y.Offset) })
	for _, c := range fn.Captured {
		v := Variable{Name: c.Name, Type: c.Type}
		piece := Piece{Register: context, InMemory: true, Disp: c.Offset}
		if name, ok := strings.CutPrefix(c.Name, "&"); ok {
			v.Name, piece.Pointer = name, true
			if v.Type = c.Type.Elem(); v.Type == nil {
				v.Type = debug.Unknown("?", -1)
			}
		}
		found = append(found, v.in(piece))
	}
	return found
}

// piecesAt spreads a value over what debug information says of it; not ok if the two don't fit.
func piecesAt(at debug.Location, t *gotype.Type) (pieces []Piece, ok bool) {
	if t.Size <= 0 {
		return nil, false
	}
	if at.Stack {
		return arch.OnStack(at.SP, t.Size, at.Disp), at.Disp >= at.Lowest
	}
	parts, single, err := arch.Flatten(t)
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
	placeAll(a, results)
	start := arch.AlignUp(size, 8) - arch.AlignUp(a.End()-a.Conv.StackArgs, 8)
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
			if disp, ok := l.entries.Slot(l.fn, &formals[i]); ok && v.Type.Size > 0 {
				v.Pieces = arch.OnStack(l.binary.image.Processor.Machine().SP, v.Type.Size, disp)
			} else if v.Type.Size != 0 {
				v.Err = errors.New("debug information does not tell where on the stack it is")
			}
		}
	}
	slots(l.fn.Params, l.sig.Params)
	slots(l.fn.Results, l.sig.Results)
}
