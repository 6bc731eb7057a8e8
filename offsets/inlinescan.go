package offsets

import (
	"debug/dwarf"
	"errors"

	"github.com/ftgo/ftgo/offsets/internal/gotab"
)

// inlineScan collects inlined calls. Entries refer to each other by offset, forwards
// too, so that names are put in at the end.
type inlineScan struct {
	data   *dwarf.Data
	unit   *lineUnit
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

func newInlineScan(data *dwarf.Data, budget int64) *inlineScan {
	return &inlineScan{
		data:    data,
		budget:  budget,
		named:   make(map[dwarf.Offset]string),
		origins: make(map[dwarf.Offset]dwarf.Offset),
		found:   make(map[dwarf.Offset][]scannedCall),
	}
}

func (s *inlineScan) enter(u *lineUnit) { s.unit, s.caller = u, 0 }

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
	if s.count++; s.count > gotab.MaxInlined {
		return errManyInlined
	}
	c := scannedCall{caller: s.caller}
	if line, ok := e.Val(dwarf.AttrCallLine).(int64); ok && line > 0 && line < 1<<31 {
		c.line = int(line)
	}
	if file, ok := e.Val(dwarf.AttrCallFile).(int64); ok {
		c.file = s.unit.fileName(s.data, file)
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

// calls calls found with each.
func (s *inlineScan) calls(found func(callee, caller, file string, line int)) {
	for origin, calls := range s.found {
		name := s.name(origin)
		if name == "" {
			continue
		}
		for _, c := range calls {
			found(name, s.name(c.caller), c.file, c.line)
		}
	}
}
