package offsets

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/offsets/gotype"
)

// layout is where runtime.g (runtime/runtime2.go) keeps what identifies a goroutine and its
// stack: byte offsets from g.
type layout struct{ goid, lo, hi int64 }

// Layout returns where runtime.g has the goroutine's number (uint64, unique in a process over its
// life), the lowest address of its stack, and the one after the highest (uintptr), in bytes from
// g: by the version of Go if that is a release, and nothing more is said of it, else from DWARF.
// A file without any is taken for what it says it is. (Reading DWARF of 100 MB takes half a
// second and 200 MB.)
func (b *Binary) Layout() (goid, stackLo, stackHi int64, err error) {
	l, err := b.layout()
	return l.goid, l.lo, l.hi, err
}

func (b *Binary) readLayout() (layout, error) {
	v := b.goVer
	off, known := v.Goid()
	table := layout{goid: off, lo: 0, hi: 8}
	if known && v.Plain() {
		return table, nil
	}
	l, err := b.layoutFromDWARF()
	switch {
	case err == nil:
		return l, nil
	case v.Minor == 0:
		return l, errors.New("find runtime.g: not a Go program")
	case !known || v.Devel:
		return l, fmt.Errorf("find runtime.g of %s: version unknown, and no debug information: %w", v, err)
	}
	return table, nil
}

func (b *Binary) layoutFromDWARF() (l layout, err error) {
	d, err := b.debug()
	if err != nil {
		return l, err
	}
	g, err := d.Struct("runtime.g", "runtime")
	if err != nil {
		return l, err
	}
	goid, ok1 := field(g, "goid")
	stack, ok2 := field(g, "stack")
	if !ok1 || !ok2 {
		return l, errors.New("read runtime.g: no goid or no stack in debug information")
	}
	lo, ok1 := field(stack.Type, "lo")
	hi, ok2 := field(stack.Type, "hi")
	if !ok1 || !ok2 {
		return l, errors.New("read runtime.stack: no lo or no hi in debug information")
	}
	return layout{goid.Offset, stack.Offset + lo.Offset, stack.Offset + hi.Offset}, nil
}

func field(t *gotype.Type, name string) (f gotype.Field, ok bool) {
	i := slices.IndexFunc(t.Fields, func(f gotype.Field) bool { return f.Name == name })
	if i < 0 {
		return f, false
	}
	return t.Fields[i], true
}
