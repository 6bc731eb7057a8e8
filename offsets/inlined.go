package offsets

import (
	"cmp"
	"slices"
)

// InlinedAt returns where the compiler put the body of a function instead of a call, sorted, one
// for each copy: whose code it became part of, by way of other inlined functions or not, and
// where the source has the call. What happens there no probe on the function sees; it may have
// code of its own besides. The places are what debug
// information tells (Go 1.10 and later), else Go's own function table (Go 1.12 and
// later). Copies of which the optimizer left no instruction are in neither: it may
// be less than the source has.
func (b *Binary) InlinedAt(name string) ([]Frame, error) {
	x, err := b.inlined()
	if err != nil {
		return nil, err
	}
	calls := x.byName[name]
	sites := make([]Frame, len(calls))
	for i, c := range calls {
		sites[i] = Frame{Function: x.names[c.caller], File: x.names[c.file], Line: int(c.line)}
	}
	slices.SortFunc(sites, func(s, o Frame) int {
		return cmp.Or(cmp.Compare(s.Function, o.Function), cmp.Compare(s.File, o.File), cmp.Compare(s.Line, o.Line))
	})
	return sites, nil
}

// Inlined returns the names of all functions that InlinedAt knows a place of, sorted.
func (b *Binary) Inlined() ([]string, error) {
	x, err := b.inlined()
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(x.byName))
	for name := range x.byName {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

func (b *Binary) readInlined() (*inlineIndex, error) {
	d, err := b.debug()
	x := &inlineIndex{byName: make(map[string][]inlineCall), numbers: make(map[string]uint32)}
	// Go's own is left out by -w even where that of C stays.
	if err == nil && (d.HasGo() || b.goVer.Minor == 0) {
		if err = d.Calls(x.add); err == nil {
			return x, nil
		}
	}
	if b.tables.Any() {
		b.tables.Calls(x.add)
		return x, nil
	}
	return nil, cmp.Or(err, ErrNoDebugInfo)
}

// inlineIndex is all inlined calls by the name of the function that was called.
type inlineIndex struct {
	names   []string // callers and files
	numbers map[string]uint32
	byName  map[string][]inlineCall
}

// inlineCall has numbers in names. Large programs have a million.
type inlineCall struct{ caller, file, line uint32 }

func (x *inlineIndex) add(callee, caller, file string, line int) {
	x.byName[callee] = append(x.byName[callee], inlineCall{x.number(caller), x.number(file), uint32(line)})
}

func (x *inlineIndex) number(name string) uint32 {
	n, ok := x.numbers[name]
	if !ok {
		n = uint32(len(x.names))
		x.names = append(x.names, name)
		x.numbers[name] = n
	}
	return n
}
