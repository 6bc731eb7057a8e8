package offsets

import (
	"errors"
	"fmt"
)

// layout is where runtime.g (runtime/runtime2.go) keeps what identifies a goroutine and its
// stack: byte offsets from g.
type layout struct{ goid, lo, hi int64 }

// Layout returns where runtime.g has the goroutine's number (uint64, unique in a process over its
// life), the lowest address of its stack, and the one after the highest (uintptr), in bytes from
// g: by the version of Go if that is a release, and nothing more is said of it, else from DWARF.
// A file without any is taken for what it says it is. (Reading DWARF of 100 MB takes half a
// second and 200 MB.)
func (b internals) Layout() (goid, stackLo, stackHi int64, err error) {
	l, err := b.layout()
	return l.goid, l.lo, l.hi, err
}

// WaitReason is where runtime.g has the number of the reason why the goroutine waits (uint8), in bytes
// from g, and names are those of reasons by their numbers, as stack dumps have them: "chan receive",
// "sleep". Before Go 1.11 there are no such numbers, and known is false.
func (b internals) WaitReason() (offset int64, names []string, known bool) {
	behind, known := b.goVer.WaitReason()
	l, err := b.layout()
	if !known || err != nil {
		return 0, nil, false
	}
	return l.goid + behind, b.tables.WaitReasons(), true
}

// Running is where runtime.g has its thread, and where that, runtime.m, has the goroutine that it runs
// (pointers, in bytes): as [Binary.Layout] finds what it tells.
func (b internals) Running() (m, curg int64, known bool) {
	v := b.goVer
	m, curg, known = v.Running()
	if known && v.Plain() {
		return m, curg, true
	}
	if d, err := b.debug(); err == nil {
		g, err1 := d.Struct("runtime.g", "runtime")
		thread, err2 := d.Struct("runtime.m", "runtime")
		if err1 == nil && err2 == nil {
			m, ok1 := g.FieldOffset("m")
			curg, ok2 := thread.FieldOffset("curg")
			return m, curg, ok1 && ok2
		}
	}
	return m, curg, known && !v.Devel
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
		return l, fmt.Errorf("find runtime.g of %s, a release that ftgo does not know: %w", v, err)
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
	goid, ok1 := g.FieldOffset("goid")
	lo, ok2 := g.FieldOffset("stack", "lo")
	hi, ok3 := g.FieldOffset("stack", "hi")
	if !ok1 || !ok2 || !ok3 {
		return l, errors.New("read runtime.g: no goid, stack.lo or stack.hi in debug information")
	}
	return layout{goid, lo, hi}, nil
}
