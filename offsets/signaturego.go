package offsets

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets/internal/debug"
)

// goSignature returns the signature of a Go function by its debug information. The version of Go determines which of this
// information is reliable.
func (b *Binary) goSignature(f *Func, fn *debug.Function, d *debug.Info) *Signature {
	fn.Params, fn.Results = debug.Distinct(fn.Params), debug.Distinct(fn.Results)
	if b.goVer.Minor <= lastSorted {
		d.InStackOrder(fn, fn.Params)
		d.InStackOrder(fn, fn.Results)
	}
	l := goLayout{binary: b, f: f, fn: fn, entries: d, sig: &Signature{
		Params: variablesOf(fn.Params, "p"), Results: variablesOf(fn.Results, "r"), Captured: b.capturedVars(fn),
	}}
	switch v := b.goVer.Minor; {
	case f.ABI == ABI0 && v >= b.image.Processor.Machine().FirstRegisters:
		l.layOutByTypesOrSlots(true)
	case v >= firstWithBlanks:
		l.layOutByTypes()
	case v >= firstWithLocations:
		l.layOutByTypesOrRegisters()
	case v == b.image.Processor.Machine().FirstRegisters && v < firstWithLocations:
		l.layOutByTypesIfComplete()
	case v >= firstInOrder:
		l.layOutByTypesOrSlots(true)
	case v == lastSorted:
		// Go 1.11 sorts parameters by name and has few locations. A single parameter or result needs neither order nor
		// location.
		l.layOutByTypesOrSlots(len(l.sig.Params) <= 1 && len(l.sig.Results) <= 1)
	default:
		// Older versions record the locations of all variables. Up to Go 1.9 they do not mark results; unnamed results
		// are recognized by their numbers.
		l.layOutBySlots()
		if v < firstWithResults && len(l.sig.Results) == 0 && len(l.sig.Params) > 0 {
			l.note("debug information of %s lists named results among the parameters", b.goVer)
		}
	}
	if size, ok := l.argsSize(); ok && f.ABI == ABI0 && size > 0 && len(fn.Params)+len(fn.Results) == 0 {
		l.note("it has %d bytes of parameters and results that debug information does not describe", size)
	}
	if v := b.goVer; v.Minor < firstWithClosures && fn.Locals && strings.HasPrefix(symname.Split(f.Name).Suffix, ".func") {
		l.note("debug information of %s lacks captured variables", v)
	}
	return l.sig
}

// These are minor versions of Go in which the debug information of parameters and results changed.
const (
	// firstWithResults is the first version that distinguishes results from parameters.
	firstWithResults = 10
	// lastSorted is the second of two versions that list parameters by name instead of in source order. The first of
	// them, Go 1.10, records the locations of all parameters.
	lastSorted   = 11
	firstInOrder = 12
	// firstWithLocations is the first version that records all results. The registers that it states for parameters
	// are correct, but it does not state all of them.
	firstWithLocations = 18
	// firstWithBlanks is the first version that records receivers and parameters without names.
	firstWithBlanks = 22
	// firstWithClosures is the first version that records the offsets of captured variables.
	firstWithClosures = 23
)

// goLayout computes the locations of one function's variables.
type goLayout struct {
	binary  *Binary
	f       *Func
	fn      *debug.Function
	entries *debug.Info
	sig     *Signature
}

func (l *goLayout) note(format string, args ...any) {
	if l.sig.Note != "" {
		l.sig.Note += "; "
	}
	l.sig.Note += fmt.Sprintf(format, args...)
}

// layOutByTypes computes the locations of all variables from their types. It returns the end of the results on the
// stack.
func (l *goLayout) layOutByTypes() (end int64) {
	a := l.binary.newAssignment(l.f.ABI)
	before := min(l.binary.dictionary(l.f), len(l.sig.Params))
	placeAll(a, l.sig.Params[:max(before, 0)])
	if before >= 0 {
		a.Place(arch.PointerWord)
	}
	placeAll(a, l.sig.Params[max(before, 0):])
	a.GoResults()
	placeAll(a, l.sig.Results)
	return a.End()
}

// dictionary returns the index of the parameter before which a generic function takes its dictionary, a pointer that source
// files don't have, or -1 if the function takes no dictionary. Go 1.18 and 1.19 pass it first, later versions after the
// receiver (cmd/compile/internal/noder/reader.go, funcBody). Closures capture the dictionary instead. Since Go 1.27, methods
// may have type parameters. The function tables of Go 1.18 to 1.20 omit type arguments, so with such a table, dictionary
// assumes that every generic function takes a dictionary unless it is a wrapper.
func (b *Binary) dictionary(f *Func) int {
	name := symname.Split(f.Name)
	generic := strings.Contains(name.TypeArgs+name.Func, "[go.shape.") || name.TypeArgs == "[...]" && !b.isWrapper(f)
	switch {
	case !generic, name.IsOfType():
		return -1
	case name.Suffix != "" && name.Suffix != abi0Suffix:
		return -1
	case name.Receiver != "" && b.goVer.Minor >= 20:
		return 1
	}
	return 0
}

// isWrapper reports whether the compiler generated the function to call another function.
func (b *Binary) isWrapper(f *Func) (wrapper bool) {
	b.tables.Frames(f.Addr, func(_, _ string, _ int, is bool) { wrapper = is })
	return wrapper
}

var errHidden = errors.New("its location is unknown: debug information of this version of Go may omit parameters")

// layOutByTypesOrRegisters is for versions that omit some parameters, but state the registers of the parameters that the
// function uses.
func (l *goLayout) layOutByTypesOrRegisters() {
	agrees, known := l.layOutChecked()
	if agrees {
		return
	}
	// Debug information omits no parameter before the last parameter that is where its type puts it.
	sound, shifted := 0, known
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
			markUnknown(l.sig.Params[i:i+1], errHidden)
		}
	}
	l.hideStackResults()
}

// layOutByTypesIfComplete is for Go 1.17, which has unreliable locations.
func (l *goLayout) layOutByTypesIfComplete() {
	if agrees, known := l.layOutChecked(); known && !agrees {
		markUnknown(l.sig.Params, errHidden)
		l.hideStackResults()
	}
	// Optimized functions lack some or all results.
	if !strings.Contains(l.fn.Producer(), " -N") {
		l.sig.Results = nil
		l.note("results are not in debug information of %s, unless it was built with -gcflags=-N", l.binary.goVer)
	}
}

// hideStackResults removes the locations of results on the stack, because they depend on all parameters.
func (l *goLayout) hideStackResults() {
	for i, v := range l.sig.Results {
		if len(v.Pieces) > 0 && v.Pieces[0].InMemory {
			markUnknown(l.sig.Results[i:i+1], errHidden)
		}
	}
}

// capturedVars returns the variables that a closure captures. The context register points to them at entry
// (cmd/compile/abi-internal.md, "Closures"). Debug information names a variable that is captured by reference
// "&name".
func (b *Binary) capturedVars(fn *debug.Function) []Variable {
	var found []Variable
	context := b.image.Processor.Machine().Go(b.goVer.Minor, false).Context
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
		found = append(found, v.inPiece(piece))
	}
	return found
}

// piecesAt splits a value into pieces at the location that debug information states. ok is false if the location does
// not fit the type.
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

// layOutByTypesOrSlots is for versions that pass all arguments on the stack and omit parameters without names. The
// function table has the total size. ordered means that debug information lists parameters in source order, so that
// their types may suffice.
func (l *goLayout) layOutByTypesOrSlots(ordered bool) {
	if ordered {
		if agrees, known := l.layOutChecked(); agrees || !known {
			return
		}
	}
	l.layOutBySlots()
	if size, ok := l.argsSize(); ok {
		l.resultsFromEnd(size)
	}
}

func (l *goLayout) argsSize() (int64, bool) { return l.binary.tables.ArgsSize(l.f.Addr) }

// resultsFromEnd lays out unnamed results backwards from the end of the arguments on the stack. Debug information
// does not omit unnamed results.
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

// layOutBySlots sets the stack locations that debug information states.
func (l *goLayout) layOutBySlots() {
	slots := func(formals []debug.Formal, variables []Variable) {
		markUnknown(variables, nil)
		for i := range variables {
			v := &variables[i]
			if disp, ok := l.entries.Slot(l.fn, &formals[i]); ok && v.Type.Size > 0 {
				v.Pieces = arch.OnStack(l.binary.image.Processor.Machine().SP, v.Type.Size, disp)
			} else if v.Type.Size != 0 {
				v.Err = errors.New("debug information lacks its location on the stack")
			}
		}
	}
	slots(l.fn.Params, l.sig.Params)
	slots(l.fn.Results, l.sig.Results)
}

// layOutChecked lays out the variables by their types and compares the number and sizes of the parameters with the function
// table. known is false if the table does not have enough information.
func (l *goLayout) layOutChecked() (agrees, known bool) {
	end := l.layOutByTypes()
	switch {
	case l.f.ABI == ABI0:
		return l.compareSize(end - 8)
	case l.binary.dictionary(l.f) >= 0:
		// The table omits the first parameter of generic functions, which is the dictionary or the receiver.
		return false, false
	}
	params := l.sig.Params
	args, complete, ok := l.binary.tables.Args(l.f.Addr)
	if !ok || len(args) == 0 {
		return false, false
	}
	for i, arg := range args {
		if i >= len(params) {
			return false, true
		}
		if t := params[i].Type; arg.Aggregate != aggregate(t) || arg.Size != 0 && arg.Size != t.Size {
			return false, true
		}
	}
	return complete && len(args) == len(params), complete
}

// compareSize compares the size in bytes of parameters and results on the stack with the function table.
func (l *goLayout) compareSize(size int64) (agrees, known bool) {
	n, known := l.argsSize()
	return known && arch.AlignUp(n, 8) == arch.AlignUp(size, 8), known // the compiler rounds up, assembly need not
}

// aggregate reports whether tracebacks print values of the type in braces.
func aggregate(t *gotype.Type) bool {
	braced := []reflect.Kind{reflect.Struct, reflect.Array, reflect.Complex128, reflect.Interface, reflect.String, reflect.Slice}
	return slices.Contains(braced, t.Kind)
}
