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

// Location is the place of a parameter at the first instruction: registers, or the stack.
type Location struct {
	Registers []arch.Reg // in order of the value's parts; "" is a floating-point register
	Stack     bool
	Disp      int64 // the distance from the stack pointer, SP
	SP        arch.Reg
	Lowest    int64 // the smallest Disp in the caller's frame
	Size      int64 // the number of bytes on the stack; 0 means the whole value

	low, high uint64 // the range of instructions for which the location is valid
}

// Location evaluates DW_AT_location at the start of a function. ok is false if the value, or a part of it, has no location
// at the start.
func (d *Info) Location(fn *Function, addr uint64, v *Formal) (at Location, ok bool) {
	return d.findLocation(fn, v, func(l *Location) bool { return l.low <= addr && addr < l.high })
}

// Slot finds the stack slot of a parameter of ABI0. A location above the return address is the parameter's slot, no matter
// for which instructions the location is valid.
func (d *Info) Slot(fn *Function, v *Formal) (disp int64, ok bool) {
	at, ok := d.findLocation(fn, v, func(l *Location) bool { return l.Stack && l.Disp >= l.Lowest })
	return at.Disp, ok
}

// findLocation returns the first location of a value for which match returns true.
func (d *Info) findLocation(fn *Function, v *Formal, match func(*Location) bool) (at Location, ok bool) {
	whole := arch.IsWhole(v.Type) // it may look up types, which takes d.mu
	d.mu.Lock()
	defer d.mu.Unlock()
	for l := range d.locations(fn.unit, v, whole) {
		if match(&l) {
			return l, true
		}
	}
	return at, false
}

// locations returns the locations of a value: one location for the whole function, or the locations in a list of .debug_loc
// (DWARF 4, 2.6.2).
//
// A list of Go 1.16 to 1.21 may give the place of one part on the stack, such as the length of a slice, as the place of the
// whole value. So locations returns a place on the stack from a list only if whole is true (the compiler does not split
// values of this type), or if the place has the size of the value.
func (d *Info) locations(u *unit, v *Formal, whole bool) iter.Seq[Location] {
	return func(yield func(Location) bool) {
		if expression, ok := v.location.([]byte); ok {
			if at, ok := readExpression(d.image.Processor, expression); ok {
				at.high = 1<<64 - 1
				yield(at)
			}
			return
		}
		offset, ok := v.location.(int64)
		loc := d.debugLoc()
		if !ok || offset < 0 || offset > int64(len(loc)) {
			return
		}
		base := val[uint64](u.entry, dwarf.AttrLowpc)
		for r := (reader{data: loc[offset:]}); d.fuel >= 0; d.fuel-- {
			low, high := r.number(8), r.number(8)
			if r.bad || low == 0 && high == 0 {
				return
			}
			if low == 1<<64-1 {
				base = high
				continue
			}
			expression := r.take(int(r.number(2)))
			if r.bad {
				return
			}
			at, ok := readExpression(d.image.Processor, expression)
			at.low, at.high = base+low, base+high
			if ok && (!at.Stack || whole || at.Size == v.Type.Size) && !yield(at) {
				return
			}
		}
	}
}

// readExpression evaluates a location expression of the forms that Go's compilers write: registers, and places relative to
// the frame's address, which is CFA above the stack pointer at entry. A value in pieces (DW_OP_piece) is either in registers
// or on the stack. readExpression ignores the sizes of pieces in registers, because the compilers leave out padding, and Go
// 1.18 to 1.21 repeat registers.
func readExpression(p arch.Processor, expression []byte) (at Location, ok bool) {
	r := reader{data: expression}
	for r.at < len(expression) && !r.bad {
		register, disp, inMemory := uint64(0), p.Machine().CFA, true
		switch op := r.u8(); {
		case op >= 0x50 && op <= 0x6f: // DW_OP_reg0 to DW_OP_reg31
			register, inMemory = uint64(op-0x50), false
		case op == 0x90: // DW_OP_regx
			register, inMemory = r.uleb(), false
		case op == 0x91: // DW_OP_fbreg
			disp += r.sleb()
		case op != 0x9c: // DW_OP_call_frame_cfa
			return at, false // also for a piece without a location
		case r.at == len(expression):
		case expression[r.at] == 0x11: // DW_OP_consts, then DW_OP_plus
			r.u8()
			disp += r.sleb()
			r.bad = r.bad || r.u8() != 0x22
		case expression[r.at] == 0x23: // DW_OP_plus_uconst
			r.u8()
			disp += int64(r.uleb())
		}
		size := int64(0)
		if r.at < len(expression) {
			if r.u8() != 0x93 { // DW_OP_piece
				return at, false
			}
			size = int64(r.uleb())
		}
		switch {
		case !inMemory && !at.Stack:
			name, known := p.Machine().DwarfReg(register)
			if !known {
				return at, false
			}
			if name == "" || !slices.Contains(at.Registers, name) {
				at.Registers = append(at.Registers, name)
			}
		case inMemory && len(at.Registers) == 0 && (!at.Stack || disp == at.Disp+at.Size):
			if !at.Stack {
				at.Stack, at.Disp, at.SP, at.Lowest = true, disp, p.Machine().SP, p.Machine().CFA
			}
			at.Size += size
		default:
			return at, false
		}
	}
	return at, !r.bad && (at.Stack || len(at.Registers) > 0)
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
func (d *Info) InStackOrder(fn *Function, formals []Formal) {
	slices.SortStableFunc(formals, func(x, y Formal) int {
		n, err1 := strconv.Atoi(strings.TrimPrefix(x.Name, "~r"))
		m, err2 := strconv.Atoi(strings.TrimPrefix(y.Name, "~r"))
		if err1 == nil && err2 == nil {
			return cmp.Compare(n, m)
		}
		place := func(v *Formal) int64 {
			if at, ok := d.Slot(fn, v); ok {
				return at
			}
			return math.MaxInt64
		}
		return cmp.Compare(place(&x), place(&y))
	})
}
