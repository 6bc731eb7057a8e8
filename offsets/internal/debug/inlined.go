package debug

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"math"
)

// inlineScan collects inlined calls. Entries refer to each other by offset, forwards
// too, so that names are put in at the end.
type inlineScan struct {
	*Info
	unit   *unit
	caller dwarf.Offset
	count  int
	// budget of the bytes that names may take: entries of a few bytes may all have
	// the same long one.
	budget int64

	named   map[dwarf.Offset]string       // functions
	origins map[dwarf.Offset]dwarf.Offset // of functions that have no name themselves
	found   map[dwarf.Offset][]scannedCall
}

type scannedCall struct {
	caller dwarf.Offset
	file   string
	line   int
}

var (
	errManyInlined = errors.New("too many inlined calls")
	errLongNames   = errors.New("names longer than the file")
)

// maxInlined limits what is kept of a file that repeats an entry of few bytes.
const maxInlined = 1 << 22

// Calls calls found with the inlined calls of all functions: whose code one became part of, and
// where the source has it.
func (d *Info) Calls(found func(callee, caller, file string, line int)) error {
	s := &inlineScan{
		Info: d, budget: int64(d.image.MaxDebug()),
		named:   make(map[dwarf.Offset]string),
		origins: make(map[dwarf.Offset]dwarf.Offset),
		found:   make(map[dwarf.Offset][]scannedCall),
	}
	if err := s.scan(); err != nil {
		return fmt.Errorf("read debug information: %w", err)
	}
	for origin, calls := range s.found {
		name := s.name(origin)
		if name == "" {
			continue
		}
		for _, c := range calls {
			found(name, s.name(c.caller), c.file, c.line)
		}
	}
	return nil
}

// scan goes through all entries once. What can't hold an inlined call, types and
// variables, is skipped.
func (s *inlineScan) scan() error {
	r, next := newEntryReader(s.data, s.info), 0
	return r.walk(0, math.MaxUint32, func(e *dwarf.Entry) (inside bool, err error) {
		switch e.Tag {
		case dwarf.TagCompileUnit:
			for next < len(s.units) && s.units[next].start < e.Offset {
				next++
			}
			if s.unit, s.caller = nil, 0; next < len(s.units) && s.units[next].start == e.Offset {
				s.unit = s.units[next]
			}
			return true, nil
		case dwarf.TagSubprogram:
			abstract, err := s.function(e)
			return !abstract, err
		case dwarf.TagInlinedSubroutine:
			return true, s.call(e)
		}
		return e.Tag == dwarf.TagLexDwarfBlock || e.Tag == dwarf.TagNamespace, nil
	})
}

// function notes an entry of a function, and reports whether it has no code: then it
// describes what the entries of inlined copies have in common.
func (s *inlineScan) function(e *dwarf.Entry) (abstract bool, err error) {
	// C++ symbols go by the linkage name.
	name, ok := e.Val(dwarf.AttrLinkageName).(string)
	if !ok {
		name, ok = e.Val(dwarf.AttrName).(string)
	}
	if ok {
		s.named[e.Offset] = name
		if s.budget -= int64(len(name)); s.budget < 0 {
			return false, errLongNames
		}
	} else if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
		s.origins[e.Offset] = origin
	} else if origin, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset); ok {
		s.origins[e.Offset] = origin
	}
	if e.Val(dwarf.AttrLowpc) == nil && e.Val(dwarf.AttrRanges) == nil {
		return true, nil
	}
	s.caller = e.Offset
	return false, nil
}

// call notes an inlined copy.
func (s *inlineScan) call(e *dwarf.Entry) error {
	origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
	if !ok || s.unit == nil {
		return nil
	}
	if s.count++; s.count > maxInlined {
		return errManyInlined
	}
	c := scannedCall{caller: s.caller}
	if line, ok := e.Val(dwarf.AttrCallLine).(int64); ok && line > 0 && line < 1<<31 {
		c.line = int(line)
	}
	if file, ok := e.Val(dwarf.AttrCallFile).(int64); ok {
		c.file = s.file(s.unit, file)
	}
	s.found[origin] = append(s.found[origin], c)
	return nil
}

// name is that of the function at an offset.
func (s *inlineScan) name(at dwarf.Offset) string {
	for range 4 { // origin, specification; a cycle is damage
		if name, ok := s.named[at]; ok {
			return name
		}
		at = s.origins[at]
	}
	return ""
}
