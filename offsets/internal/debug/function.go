package debug

import (
	"cmp"
	"debug/dwarf"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
)

// Function is what debug information says of a function.
type Function struct {
	unit            *unit
	Params, Results []Formal
	Captured        []Formal
	Locals          bool         // it has variables besides
	Returns         *gotype.Type // what a function of C returns; nil for nothing, and in Go
}

// Producer is the compiler, with its flags.
func (fn *Function) Producer() string { return fn.unit.producer() }

// IsGo tells whether the source is Go (DW_LANG_…: DWARF 5, 7.12).
func (fn *Function) IsGo() bool { return fn.unit.language() == 0x16 }

// IsCPlusPlus tells whether it is C++: of any standard, of 2003, 2011 or 2014.
func (fn *Function) IsCPlusPlus() bool {
	return slices.Contains([]int64{0x04, 0x19, 0x1a, 0x21}, fn.unit.language())
}

// Formal is a parameter, a result, or a variable that a closure refers to.
type Formal struct {
	Name     string
	Type     *gotype.Type
	location any   // DW_AT_location: an expression, or an offset in .debug_loc
	Offset   int64 // in the closure
}

// Function is what there is of the function at an address; [ErrNone] if that is nothing.
func (d *Info) Function(addr uint64) (*Function, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	u := d.unitAt(addr)
	if u == nil {
		return nil, ErrNone
	}
	fn := &Function{unit: u}
	if err := d.readFunction(fn, addr); err == ErrNone {
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	return fn, nil
}

// readFunction finds the entry of the function at an address, and reads it.
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
	if result, ok := d.attr(e, dwarf.AttrType).(dwarf.Offset); ok {
		fn.Returns = d.typeAt(result, 0)
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

// listFuncs notes where the subprograms of a unit are.
func (d *Info) listFuncs(u *unit) error {
	u.funcs = make(map[uint64]dwarf.Offset)
	return d.walk(u, func(e *dwarf.Entry) (inside bool, err error) {
		if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok && e.Tag == dwarf.TagSubprogram {
			if _, twice := u.funcs[low]; !twice {
				u.funcs[low] = e.Offset
			}
		}
		return e.Tag == dwarf.TagCompileUnit || e.Tag == dwarf.TagNamespace, nil
	})
}

// attr is an attribute of an entry, or of the one that describes what its copies have in common.
func (d *Info) attr(e *dwarf.Entry, a dwarf.Attr) any {
	for range 4 {
		if v := e.Val(a); v != nil {
			return v
		}
		origin := original(e)
		if origin == 0 {
			return nil
		}
		var err error
		if e, err = d.at(origin); err != nil {
			return nil
		}
	}
	return nil
}

// original is the entry that describes what an entry has in common with its copies; 0 for none.
func original(e *dwarf.Entry) dwarf.Offset {
	return cmp.Or(ref(e, dwarf.AttrAbstractOrigin), ref(e, dwarf.AttrSpecification))
}

func (d *Info) addChild(fn *Function, e *dwarf.Entry) {
	v := Formal{location: e.Val(dwarf.AttrLocation), Type: Unknown("?", -1)}
	v.Name, _ = d.attr(e, dwarf.AttrName).(string)
	if v.Name == ".dict" {
		return // told by code that was not optimized; takes its place among the parameters
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

// Location is where debug information says that a parameter is at the first
// instruction: in registers, or on the stack.
type Location struct {
	Registers []arch.Reg // in order of the value's parts; "" is a floating-point register
	Stack     bool
	Disp      int64 // from the stack pointer, SP
	SP        arch.Reg
	Lowest    int64 // the least Disp that something of the caller's can have
	Size      int64 // of what is there; 0 is the whole value

	low, high uint64 // where instructions are for which it holds
}

// Location evaluates DW_AT_location at the address at which a function begins; not
// ok if the value, or a part of it, has no location there.
func (d *Info) Location(fn *Function, addr uint64, v *Formal) (at Location, ok bool) {
	whole := arch.IsWhole(v.Type) // which may look up types
	d.mu.Lock()
	defer d.mu.Unlock()
	for l := range d.locations(fn.unit, v, whole) {
		if l.low <= addr && addr < l.high {
			return l, true
		}
	}
	return at, false
}

// Slot finds where a parameter of ABI0 is: it has no other place above the return
// address than its own, wherever in the function debug information says so.
func (d *Info) Slot(fn *Function, v *Formal) (disp int64, ok bool) {
	whole := arch.IsWhole(v.Type) // which may look up types
	d.mu.Lock()
	defer d.mu.Unlock()
	for l := range d.locations(fn.unit, v, whole) {
		if l.Stack && l.Disp >= l.Lowest {
			return l.Disp, true
		}
	}
	return 0, false
}

// locations are those of a value: one for the whole function, or a list of them in .debug_loc
// (DWARF 4, 2.6.2).
//
// Where a list has a part of a value only, on the stack, it may call it the whole: the
// length of a slice is where the slice was to be (Go 1.16 to 1.21). So there it is
// believed of what the compiler does not take apart.
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
		loc, _ := d.sections.read("loc")
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

// readExpression evaluates what Go's compilers write: registers, and places relative
// to the frame's address, which is CFA above the stack pointer at entry. A value in
// pieces (DW_OP_piece) is in one or the other; padding is left out, and Go 1.18 to 1.21
// repeat registers, so that sizes mean nothing.
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
			return at, false // among them a piece that is nowhere
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
			name, known := p.DwarfReg(register)
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
