package debug

import (
	"debug/dwarf"
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/offsets/gotype"
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
func (fn *Function) Producer() string { return fn.unit.producer }

// IsGo tells whether the source is Go.
func (fn *Function) IsGo() bool { return fn.unit.language == langGo }

// IsCPlusPlus tells whether it is C++.
func (fn *Function) IsCPlusPlus() bool {
	switch fn.unit.language {
	case langCPlusPlus, langCPlusPlus03, langCPlusPlus11, langCPlusPlus14:
		return true
	}
	return false
}

// Formal is a parameter, a result, or a variable that a closure refers to.
type Formal struct {
	Name     string
	Type     *gotype.Type
	location any   // DW_AT_location: an expression, or an offset in .debug_loc
	Offset   int64 // in the closure
}

// subprogram finds the entry of the function at an address. A nil one is no error:
// there is none.
func (d *Info) subprogram(addr uint64) (*Function, error) {
	u := d.unitAt(addr)
	if u == nil {
		return nil, nil
	}
	if u.funcs == nil {
		if err := d.listFuncs(u); err != nil {
			return nil, err
		}
	}
	at, ok := u.funcs[addr]
	if !ok {
		return nil, nil
	}
	e, err := d.at(at)
	if err != nil {
		return nil, err
	}
	fn := &Function{unit: u}
	result, returns := d.attr(e, dwarf.AttrType).(dwarf.Offset)
	// attr may have moved the reader away from the children.
	if _, err := d.at(at); err != nil {
		return nil, err
	}
	children, err := d.children(e)
	if err != nil {
		return nil, err
	}
	if returns {
		fn.Returns = d.typeAt(result, 0)
	}
	for _, c := range children {
		d.addChild(fn, c)
	}
	return fn, nil
}

// listFuncs notes where the subprograms of a unit are.
func (d *Info) listFuncs(u *unit) error {
	u.funcs = make(map[uint64]dwarf.Offset)
	return d.walk(u.start, u.end, func(e *dwarf.Entry) (inside bool, err error) {
		if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok && e.Tag == dwarf.TagSubprogram {
			if _, twice := u.funcs[low]; !twice {
				u.funcs[low] = e.Offset
			}
		}
		return e.Tag == dwarf.TagCompileUnit || e.Tag == dwarf.TagNamespace, nil
	})
}

// children reads the entries right below one.
func (d *Info) children(e *dwarf.Entry) (found []*dwarf.Entry, err error) {
	if !e.Children {
		return nil, nil
	}
	for {
		c, err := d.next()
		if err != nil {
			return nil, err
		}
		if c == nil || c.Tag == 0 {
			return found, nil
		}
		if c.Tag == dwarf.TagFormalParameter || c.Tag == dwarf.TagVariable {
			found = append(found, c)
		}
		if err := d.skip(c); err != nil {
			return nil, err
		}
	}
}

// attr is an attribute of an entry, or of the one that describes what its copies have
// in common.
func (d *Info) attr(e *dwarf.Entry, a dwarf.Attr) any {
	for range 4 {
		if v := e.Val(a); v != nil {
			return v
		}
		origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		if !ok {
			origin, ok = e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		}
		if !ok {
			return nil
		}
		var err error
		if e, err = d.at(origin); err != nil {
			return nil
		}
	}
	return nil
}

func (d *Info) addChild(fn *Function, e *dwarf.Entry) {
	v := Formal{location: e.Val(dwarf.AttrLocation)}
	v.Name, _ = d.attr(e, dwarf.AttrName).(string)
	if v.Name == ".dict" {
		return // told by code that was not optimized; takes its place among the parameters
	}
	offset, captured := d.attr(e, attrGoClosureOffset).(int64)
	if e.Tag == dwarf.TagVariable && !captured {
		fn.Locals = true
		return
	}
	v.Type = Unknown("?", -1)
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

// Function is what there is of the function at an address; [ErrNone] if that is nothing.
func (d *Info) Function(addr uint64) (*Function, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fn, err := d.subprogram(addr)
	if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	if fn == nil {
		return nil, ErrNone
	}
	return fn, nil
}
