package offsets

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/gotab"
)

// Layout returns the byte offsets in runtime.g of the goroutine ID, of the lowest address of the stack, and of the end of the
// stack. For an unmodified release of Go they are from a table by version, otherwise from DWARF. For a modified release
// without DWARF, Layout returns the offsets of the unmodified release. For a development version or an unknown release
// without DWARF, it returns an error. (Reading 100 MB of DWARF takes half a second and 200 MB of memory.)
func (b internals) Layout() (goid, stackLo, stackHi int64, err error) {
	l, err := b.layout()
	return l.Goid, l.StackLo, l.StackHi, err
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
	return l.Goid + behind, b.tables.WaitReasons(), true
}

// Running returns the byte offset in runtime.g of the pointer to its runtime.m (its thread), and the byte offset in
// runtime.m of curg, the pointer to the goroutine that the thread runs. It uses the same sources as [internals.Layout].
func (b internals) Running() (m, curg int64, known bool) {
	l, err := b.layout()
	return l.M, l.Curg, err == nil && l.M > 0
}

func (b *Binary) readLayout() (gotab.Layout, error) {
	v := b.goVer
	table, known := v.Layout()
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

func (b *Binary) layoutFromDWARF() (l gotab.Layout, err error) {
	d, err := b.debug()
	if err != nil {
		return l, err
	}
	g, ok1 := d.TypeNamed("runtime.g")
	m, ok2 := d.TypeNamed("runtime.m")
	if !ok1 || !ok2 {
		return l, errors.New("no runtime.g or runtime.m in debug information")
	}
	for _, f := range []struct {
		offset *int64
		in     *gotype.Type
		path   []string
	}{
		{&l.Goid, g, []string{"goid"}}, {&l.StackLo, g, []string{"stack", "lo"}}, {&l.StackHi, g, []string{"stack", "hi"}},
		{&l.M, g, []string{"m"}}, {&l.Curg, m, []string{"curg"}},
	} {
		var ok bool
		if *f.offset, ok = f.in.FieldOffset(f.path...); !ok {
			return l, fmt.Errorf("read runtime.g: no %s in debug information", strings.Join(f.path, "."))
		}
	}
	return l, nil
}
