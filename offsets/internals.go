package offsets

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/offsets/internal/gotab"
)

// internals has the methods of Binary that are for packages of this module only, and the program's runtime data.
type internals struct {
	*Binary
	*gotab.Tables
}

// Internals returns the methods that are for packages of this module. They may change.
func (b *Binary) Internals() internals { return internals{b, b.tables} }

// Module returns the path of the program's main module, or "" if it is unknown.
func (b internals) Module() string { return b.goVer.Module }

// MainPath returns the import path of the program's package main, or "" if it is unknown.
func (b internals) MainPath() string { return b.goVer.Main }

// Constant finds an integer constant of Go in debug information by its qualified name, "http.StatusOK", or by its
// name in package pkg, "StatusOK".
func (b internals) Constant(name, pkg string) (t *gotype.Type, value uint64, ok bool) {
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		pkg, name = name[:dot], name[dot+1:]
	}
	d, err := b.debug()
	if err != nil {
		return nil, 0, false
	}
	return d.Constant(pkg, name)
}

// FirstBranch returns the first conditional jump of a function, if each call executes it exactly once, and if no
// instruction before it writes a register other than SP, the frame pointer and the flags. The kernel emulates a
// conditional jump, but may have to single-step the first instruction of a function without a stack check, which
// costs the program ten times as much.
func (b internals) FirstBranch(f *Func) (Site, error) {
	d, err := b.decode(f)
	if err != nil {
		return Site{}, err
	}
	return d.firstBranch()
}

// NoCode reports whether err says that [internals.LineAddrs] or [internals.SiteAt] found no code.
func (internals) NoCode(err error) bool {
	return errors.Is(err, errNoCode) || errors.Is(err, errNoInstruction)
}

// errNoInstruction means that no instruction begins at an offset.
var errNoInstruction = errors.New("not where an instruction begins")

// SiteAt returns the site of the instruction at an offset from the first byte of a function. It returns an error if no
// instruction begins at the offset (then NoCode is true, and the error has the offsets of the nearest instructions), or if
// the kernel can't probe the instruction.
func (b internals) SiteAt(f *Func, offset uint64) (Site, error) {
	d, err := b.decode(f)
	if err != nil {
		return Site{}, err
	}
	before, after := 0, ""
	for at, begins := range d.parts[0].boundary {
		if begins && uint64(at) > offset {
			after = fmt.Sprintf(", +%#x", at)
			break
		} else if begins {
			before = at
		}
	}
	switch {
	case offset == uint64(before):
		return d.site(before)
	case offset >= uint64(len(d.parts[0].boundary)):
		return Site{}, fmt.Errorf("%w: beyond the function's %d bytes; last instruction: +%#x", errNoInstruction, d.fn.Size, before)
	}
	return Site{}, fmt.Errorf("%w; nearest: +%#x%s", errNoInstruction, before, after)
}

// CallsOf returns the sites of the direct calls of callee in f.
func (b internals) CallsOf(f, callee *Func) (calls []Site, err error) {
	d, err := b.decode(f)
	if err != nil {
		return nil, err
	}
	for at, in := range arch.Instructions(d.processor, d.parts[0].code) {
		if in.Kind != arch.Call || d.fn.Addr+uint64(at)+uint64(in.To) != callee.Addr {
			continue
		}
		call, err := d.site(at)
		if err != nil {
			return nil, err
		}
		calls = append(calls, call)
	}
	return calls, nil
}

// DataRefs returns the addresses of data to which the instructions of a function refer, in the order of the code.
func (b internals) DataRefs(f *Func) (addrs []uint64) {
	code, err := b.code(f)
	if err != nil {
		return nil
	}
	// A function is like itself, and Alike passes each address of data to its argument.
	b.image.Processor.Alike(code, code, f.Addr, func(addr, _ uint64, _ bool) bool {
		if b.isData(b.image, addr) {
			addrs = append(addrs, addr)
		}
		return true
	})
	return addrs
}

// maxLeaf is the size in bytes up to which a function without calls counts as small. The compiler inlines functions of up to 80
// nodes of its syntax tree (inlineMaxBudget in cmd/compile/internal/inline/inl.go), and before Go 1.12 only functions without calls.
const maxLeaf = 128

// MayBeInlined reports whether a function is small and has no call, and the program was not built without inlining.
func (b internals) MayBeInlined(f *Func) bool {
	code, err := b.code(f)
	if b.goVer.NotInlined || len(code) > maxLeaf {
		return false
	}
	for _, in := range arch.Instructions(b.image.Processor, code) {
		if in.Kind == arch.Call {
			return false
		}
	}
	return err == nil
}

// ResumesWithoutArgs returns the address at which a function goes on after its stack has grown, or after it was preempted
// at its start, if the registers of its arguments hold other values then. This is so if the function uses none of its
// arguments: see [arch.Spilled]. It returns 0 for other functions.
func (b internals) ResumesWithoutArgs(f *Func) (resume uint64) {
	if f.ABI != ABIInternal || b.goVer.Minor < 17 {
		return 0
	}
	d, err := b.decode(f)
	if err != nil {
		return 0
	}
	spills, at, ok := d.spilled()
	if !ok || len(spills) > 0 {
		return 0
	}
	return f.Addr + uint64(at)
}

// Layout returns byte offsets in runtime.g and runtime.m. For an unmodified release of Go they are from a table by version,
// otherwise from DWARF. For a modified release
// without DWARF, Layout returns the offsets of the unmodified release. For a development version or an unknown release
// without DWARF, it returns an error. (Reading 100 MB of DWARF takes half a second and 200 MB of memory.)
func (b internals) Layout() (gotab.Layout, error) { return b.layout() }

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

// Labels returns the labels of the goroutine that calls a function (pprof.Do), as a variable where calls of the function begin.
// The name of its type is LabelList or LabelMap.
func (b internals) Labels(f *Func, s *Sites) Variable {
	l, err := b.layout()
	minor, conv := b.goVer.Minor, b.image.Processor.Machine().Go(b.goVer.Minor, f.ABI == ABI0)
	g := conv.G
	if g == "" && s.Check != nil {
		g = conv.CheckG // the stack check has just loaded it
	}
	v := Variable{Type: &gotype.Type{Name: gotype.LabelList, Kind: reflect.Map, Size: 8, Align: 8}}.inPiece(Piece{InMemory: true, Register: g, Disp: l.Labels})
	if minor < gotab.FirstLabelList {
		v.Type.Name, v.Through = gotype.LabelMap, []int64{0} // a *labelMap, which is a pointer to a map
	}
	switch {
	case err != nil:
		v.Err = err
	case l.Labels == 0 || f.ABI == SystemV:
		v.Err = errors.New("no labels: goroutines have them since Go 1.9")
	case g == "" || conv.G != "" && f.ABI == ABI0:
		v.Err = errors.New("the register with its goroutine is not known")
	}
	return v
}

// Goroutine returns the byte offsets of the fields of runtime.g by name, like "sched.pc". It uses the same sources as
// [internals.Layout]. It returns an error before Go 1.17. Go has parentGoid since 1.21.
func (b internals) Goroutine() (fields map[string]int64, err error) {
	if _, err := b.layout(); err != nil {
		return nil, err
	}
	v := b.goVer
	if fields = v.Goroutine(); fields == nil {
		return nil, fmt.Errorf("read goroutines of %s: their layout is known for Go 1.17 to 1.27", v)
	}
	if g, ok := b.TypeNamed("runtime.g"); ok && !v.Plain() {
		for name := range fields {
			if at, ok := g.FieldOffset(strings.Split(name, ".")...); ok {
				fields[name] = at
			}
		}
	}
	return fields, nil
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
		{&l.M, g, []string{"m"}}, {&l.Curg, m, []string{"curg"}}, {&l.Labels, g, []string{"labels"}},
	} {
		var ok bool
		if *f.offset, ok = f.in.FieldOffset(f.path...); !ok && f.offset != &l.Labels { // Go 1.9 is the first one with labels
			return l, fmt.Errorf("read runtime.g: no %s in debug information", strings.Join(f.path, "."))
		}
	}
	return l, nil
}
