package offsets

import (
	"errors"
	"fmt"
)

// layout has the byte offsets of fields of runtime.g (runtime/runtime2.go): the goroutine ID and the bounds of the
// stack.
type layout struct{ goid, lo, hi int64 }

// Layout returns the byte offsets in runtime.g of the goroutine ID (uint64, unique in a process), of the lowest address of
// the stack, and of the end of the stack (uintptr). For an unmodified release of Go they are from a table by version,
// otherwise from DWARF. For a modified release without DWARF, Layout returns the offsets of the unmodified release. For a
// development version or an unknown release without DWARF, it returns an error. (Reading 100 MB of DWARF takes half a second
// and 200 MB of memory.)
func (b internals) Layout() (goid, stackLo, stackHi int64, err error) {
	l, err := b.layout()
	return l.goid, l.lo, l.hi, err
}

// WaitReason returns the byte offset in runtime.g of the wait reason (uint8), and the names of the wait reasons by
// number, as in stack traces: "chan receive", "sleep". known is false before Go 1.11, which has no numeric wait
// reasons.
func (b internals) WaitReason() (offset int64, names []string, known bool) {
	behind, known := b.goVer.WaitReason()
	l, err := b.layout()
	if !known || err != nil {
		return 0, nil, false
	}
	return l.goid + behind, b.tables.WaitReasons(), true
}

// Running returns the byte offset in runtime.g of the pointer to its runtime.m (its thread), and the byte offset in
// runtime.m of curg, the pointer to the goroutine that the thread runs. It uses the same sources as [internals.Layout].
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
