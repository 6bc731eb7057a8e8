package offsets

import (
	"debug/dwarf"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// subprogram is what debug information says of a function.
type subprogram struct {
	unit            *entryUnit
	params, results []formal
	captured        []formal
	locals          bool         // it has variables besides
	returns         *gotype.Type // what a function of C returns; nil for nothing, and in Go
}

// formal is a parameter, a result, or a variable that a closure refers to.
type formal struct {
	name     string
	typ      *gotype.Type
	location any   // DW_AT_location: an expression, or an offset in .debug_loc
	offset   int64 // in the closure
}

// subprogram finds the entry of the function at an address. A nil one is no error:
// there is none.
func (d *debugEntries) subprogram(addr uint64) (*subprogram, error) {
	u := d.unitOf(addr)
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
	fn := &subprogram{unit: u}
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
		fn.returns = d.typeAt(result, 0)
	}
	for _, c := range children {
		d.addChild(fn, c)
	}
	return fn, nil
}

// listFuncs notes where the subprograms of a unit are.
func (d *debugEntries) listFuncs(u *entryUnit) error {
	u.funcs = make(map[uint64]dwarf.Offset)
	if _, err := d.at(u.start); err != nil {
		return err
	}
	for {
		e, err := d.next()
		if err != nil {
			return err
		}
		if e == nil || e.Offset >= u.end {
			return nil
		}
		switch e.Tag {
		case dwarf.TagSubprogram:
			low, ok := e.Val(dwarf.AttrLowpc).(uint64)
			if _, twice := u.funcs[low]; ok && !twice {
				u.funcs[low] = e.Offset
			}
		case dwarf.TagNamespace, 0:
			continue // which has functions, or ends
		}
		if err := d.skip(e); err != nil {
			return err
		}
	}
}

// children reads the entries right below one.
func (d *debugEntries) children(e *dwarf.Entry) (found []*dwarf.Entry, err error) {
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
func (d *debugEntries) attr(e *dwarf.Entry, a dwarf.Attr) any {
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

func (d *debugEntries) addChild(fn *subprogram, e *dwarf.Entry) {
	v := formal{location: e.Val(dwarf.AttrLocation)}
	v.name, _ = d.attr(e, dwarf.AttrName).(string)
	if v.name == ".dict" {
		return // told by code that was not optimized; see goLayout.dictionary
	}
	offset, captured := d.attr(e, attrGoClosureOffset).(int64)
	if e.Tag == dwarf.TagVariable && !captured {
		fn.locals = true
		return
	}
	v.typ = unknownType("?", -1)
	if at, ok := d.attr(e, dwarf.AttrType).(dwarf.Offset); ok {
		v.typ = d.typeAt(at, 0)
	}
	result, _ := d.attr(e, dwarf.AttrVarParam).(bool)
	into := &fn.params
	switch {
	case e.Tag == dwarf.TagVariable:
		v.offset = offset
		into = &fn.captured
	case result, strings.HasPrefix(v.name, "~r"), strings.HasPrefix(v.name, "~b"):
		into = &fn.results
	}
	*into = append(*into, v)
}

// distinct leaves out what Go 1.18 describes twice.
func distinct(formals []formal) []formal {
	var kept []formal
	for _, v := range formals {
		if v.name == "" || v.name == "_" || !slices.ContainsFunc(kept, func(o formal) bool { return o.name == v.name }) {
			kept = append(kept, v)
		}
	}
	return kept
}

// variable gives a formal parameter its name. Those of blank ones, "~p1", in wrappers
// ".anon1", of gccgo "p.1", and of results without a name, "~r1", are the compiler's.
func (v *formal) variable(prefix string, number int) Variable {
	name := strings.TrimPrefix(v.name, ".") // the receiver of wrappers: .this
	if name == "" || name == "_" || name == "UNNAMED" || name[0] == '~' || strings.HasPrefix(v.name, ".anon") || strings.Contains(name, ".") || strings.HasPrefix(name, "$ret") {
		name = fmt.Sprintf("%s%d", prefix, number)
	}
	return Variable{Name: name, Type: v.typ}
}

// function is what debug information says of a function; ErrNoDebugInfo if that is
// nothing.
func (d *debugEntries) function(f *Func) (*subprogram, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	fn, err := d.subprogram(f.Addr)
	if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	if fn == nil {
		return nil, ErrNoDebugInfo
	}
	return fn, nil
}
