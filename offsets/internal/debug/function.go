package debug

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
)

// Function describes a function.
type Function struct {
	unit            *unit
	Params, Results []Formal
	Captured        []Formal // the variables that a closure refers to
	Locals          bool     // it has local variables
}

// Producer returns the name of the compiler and its flags.
func (fn *Function) Producer() string { return val[string](fn.unit.entry, dwarf.AttrProducer) }

// Formal is a parameter, a result, or a variable that a closure refers to.
type Formal struct {
	Name     string
	Type     *gotype.Type
	location any   // DW_AT_location: an expression, or an offset in .debug_loc
	Offset   int64 // the offset in the closure of a captured variable
}

// Function returns the description of the function that begins at an address. It returns [ErrNone] if debug information has
// no such function.
func (d *Info) Function(addr uint64) (*Function, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := d.unitAt(addr)
	if u == nil {
		return nil, ErrNone
	}
	fn := &Function{unit: u}
	err := d.readFunction(fn, addr)
	if err != nil && err != ErrNone {
		err = fmt.Errorf("read debug information: %w", err)
	}
	return fn, err
}

// readFunction finds the entry of the function that begins at an address and reads the entry into fn.
func (d *Info) readFunction(fn *Function, addr uint64) error {
	if fn.unit.funcs == nil {
		if err := d.listFuncs(fn.unit); err != nil {
			return err
		}
	}
	at, ok := fn.unit.funcs[addr]
	if !ok {
		return ErrNone
	}
	e, err := d.at(at)
	if err != nil {
		return err
	}
	for c, err := range d.below(e) {
		if err != nil {
			return err
		}
		if c.Tag == dwarf.TagFormalParameter || c.Tag == dwarf.TagVariable {
			d.addChild(fn, c)
		}
	}
	return nil
}

// listFuncs lists the subprograms of a unit by address.
func (d *Info) listFuncs(u *unit) error {
	u.funcs = make(map[uint64]dwarf.Offset)
	return d.walk(u, func(e *dwarf.Entry) (inside bool, err error) {
		if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok && e.Tag == dwarf.TagSubprogram {
			if _, twice := u.funcs[low]; !twice {
				u.funcs[low] = e.Offset
			}
		}
		return e.Tag == dwarf.TagCompileUnit, nil
	})
}

// attr returns an attribute of an entry. If the entry does not have it, attr looks in the entry of which this entry is a
// copy.
func (d *Info) attr(e *dwarf.Entry, a dwarf.Attr) any {
	if v := e.Val(a); v != nil {
		return v
	}
	if origin := ref(e, dwarf.AttrAbstractOrigin); origin != 0 {
		if original, err := d.at(origin); err == nil {
			return original.Val(a)
		}
	}
	return nil
}

// addChild adds a parameter, a result or a captured variable to a function. For any other variable it sets fn.Locals.
func (d *Info) addChild(fn *Function, e *dwarf.Entry) {
	v := Formal{location: e.Val(dwarf.AttrLocation), Type: Unknown("?", -1)}
	v.Name, _ = d.attr(e, dwarf.AttrName).(string)
	if v.Name == ".dict" {
		return // only unoptimized code has this entry; the place of the dictionary is known without it
	}
	offset, captured := d.attr(e, attrGoClosureOffset).(int64)
	if e.Tag == dwarf.TagVariable && !captured {
		fn.Locals = true
		return
	}
	if at, ok := d.attr(e, dwarf.AttrType).(dwarf.Offset); ok {
		v.Type = d.typeAt(at, 0)
	}
	result, _ := d.attr(e, dwarf.AttrVarParam).(bool)
	into := &fn.Params
	switch {
	case e.Tag == dwarf.TagVariable:
		v.Offset = offset
		into = &fn.Captured
	case result, strings.HasPrefix(v.Name, "~r"), strings.HasPrefix(v.Name, "~b"):
		into = &fn.Results
	}
	*into = append(*into, v)
}

// Slot finds the stack slot of a parameter of ABI0, as a distance from the stack pointer at entry. A location above the return
// address is the parameter's slot, no matter for which instructions the location is valid.
//
// A list of Go 1.16 may give the place of one part, such as the length of a slice, as the place of the whole value. So Slot uses
// a place in a list only if the compiler does not split values of this type, or if the place has the size of the value.
func (d *Info) Slot(v *Formal) (disp int64, ok bool) {
	_, single := v.location.([]byte)
	whole := single || arch.IsWhole(v.Type) // it may look up types, which takes d.mu
	d.mu.Lock()
	defer d.mu.Unlock()
	for expression := range d.expressions(v) {
		if disp, size, ok := framePlace(expression); ok && disp >= 0 && (whole || size == v.Type.Size) {
			return d.image.Processor.Machine().CFA + disp, true
		}
	}
	return 0, false
}

// expressions returns the expressions that locate a value: one for the whole function, or those in a list of .debug_loc (DWARF
// 4, 2.6.2).
func (d *Info) expressions(v *Formal) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if expression, ok := v.location.([]byte); ok {
			yield(expression)
			return
		}
		offset, ok := v.location.(int64)
		loc := d.debugLoc()
		if !ok || offset < 0 || offset > int64(len(loc)) {
			return
		}
		for r := (reader{data: loc[offset:]}); d.fuel >= 0; d.fuel-- {
			low, high := r.number(8), r.number(8)
			if low == 1<<64-1 { // a base address
				continue
			}
			expression := r.take(int(r.number(2)))
			if r.bad || low == 0 && high == 0 || !yield(expression) {
				return
			}
		}
	}
}

// framePlace evaluates a location expression of a place on the stack, in the forms that Go's compilers write. disp is the
// distance from the frame's address, which is above the return address. size is the number of bytes of a value in pieces
// (DW_OP_piece), and otherwise 0.
func framePlace(expression []byte) (disp, size int64, ok bool) {
	r := reader{data: expression}
	for r.at < len(expression) && !r.bad {
		at := int64(0)
		switch op := r.u8(); {
		case op == 0x91: // DW_OP_fbreg
			at = r.sleb()
		case op != 0x9c: // DW_OP_call_frame_cfa
			return 0, 0, false
		case r.at == len(expression):
		case expression[r.at] == 0x11: // DW_OP_consts, then DW_OP_plus
			r.u8()
			at = r.sleb()
			r.bad = r.bad || r.u8() != 0x22
		case expression[r.at] == 0x23: // DW_OP_plus_uconst
			r.u8()
			at = int64(r.uleb())
		}
		if ok && at != disp+size {
			return 0, 0, false
		}
		if !ok {
			disp, ok = at, true
		}
		if r.at < len(expression) {
			if r.u8() != 0x93 { // DW_OP_piece
				return 0, 0, false
			}
			size += int64(r.uleb())
		}
	}
	return disp, size, ok && !r.bad
}

// Distinct removes the second description of a parameter. Go 1.18 describes some parameters twice.
func Distinct(formals []Formal) []Formal {
	var kept []Formal
	for _, v := range formals {
		if v.Name == "" || v.Name == "_" || !slices.ContainsFunc(kept, func(o Formal) bool { return o.Name == v.Name }) {
			kept = append(kept, v)
		}
	}
	return kept
}

// InStackOrder sorts parameters by their places on the stack. Parameters of unknown place come last. It sorts results
// without names by the compiler's numbers (~r0, ~r1).
func (d *Info) InStackOrder(formals []Formal) {
	slices.SortStableFunc(formals, func(x, y Formal) int {
		n, err1 := strconv.Atoi(strings.TrimPrefix(x.Name, "~r"))
		m, err2 := strconv.Atoi(strings.TrimPrefix(y.Name, "~r"))
		if err1 == nil && err2 == nil {
			return cmp.Compare(n, m)
		}
		place := func(v *Formal) int64 {
			if at, ok := d.Slot(v); ok {
				return at
			}
			return math.MaxInt64
		}
		return cmp.Compare(place(&x), place(&y))
	})
}
