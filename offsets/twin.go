package offsets

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"slices"

	"github.com/ftgo/ftgo/offsets/internal/gotab"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Describe takes names, types and source lines from another file, which was not stripped, and which
// the Binary closes from then on. That it describes this code is proven:
//
//   - A file with code must have the same. What the two files' function tables say of functions is
//     compared, and each function's code, but for where data is: Go's linker writes the flags of
//     a build into the program, so that data of a stripped one lies elsewhere. The error tells the first
//     function that differs. Build IDs are not looked at: Go's differ, too.
//   - A file without code, as objcopy --only-keep-debug makes it, must have the same GNU build ID.
//
// The error is ErrNoDebugInfo if there is none in the file. Errors have the form "PATH: cause", and leave
// the Binary as it was. Functions that were asked for before are those of another time.
func (b internals) Describe(by *os.File, path string) error {
	if err := b.describe(by, path); err != nil {
		by.Close()
		return openError(path, err)
	}
	return nil
}

func (b *Binary) describe(by *os.File, path string) error {
	m, err := image.OpenDescription(by, path)
	if err != nil {
		return err
	}
	if !m.HasDebugInfo() {
		return ErrNoDebugInfo
	}
	if !m.HasCode() {
		own, ok := b.image.GNUBuildID()
		if id, has := m.GNUBuildID(); !ok || !has || id != own {
			return fmt.Errorf("it has no code to compare, and its build ID %q is not the %q of %s", id, own, b.image.Path())
		}
	} else if err := b.differs(m); err != nil {
		return err
	}
	m.Progress = b.image.Progress
	was, funcs := b.image.Described, b.funcs
	b.image.Described = m
	if b.funcs, err = b.readFuncs(); err == nil && m.HasCode() {
		err = b.differsInCode(m)
	}
	if err != nil {
		b.image.Described, b.funcs = was, funcs
		return err
	}
	if was != b.image {
		was.Close()
	}
	b.forget()
	return nil
}

// differs compares what Go's own tables say of the functions of another file.
func (b *Binary) differs(m *image.Image) error {
	tables, err := gotab.Open(m)
	if err != nil {
		return err
	}
	if v := tables.Version; v.Text != b.goVer.Text {
		return b.anotherBuild(fmt.Sprintf("it is of %s, not %s", cmp.Or(v.Text, "no Go"), cmp.Or(b.goVer.Text, "no Go")))
	}
	if f, what := b.tables.Differs(tables); f != "" {
		return b.anotherBuild(f + " differs: " + what)
	}
	return nil
}

func (b *Binary) anotherBuild(why string) error {
	return fmt.Errorf("not of the build of %s: %s", b.image.Path(), why)
}

// differsInCode compares the functions' code with that of another file.
func (b *Binary) differsInCode(m *image.Image) error {
	for i := range b.funcs {
		f := &b.funcs[i]
		own, err := b.code(f)
		other, otherErr := m.Code(f.Name, f.Addr, f.Size)
		at, ok := 0, (err == nil) == (otherErr == nil)
		if ok && !bytes.Equal(own, other) {
			at, ok = b.alike(f, m, own, other)
		}
		if !ok {
			return b.anotherBuild(fmt.Sprintf("%s differs: its code at +%#x", f.Name, at))
		}
		b.tell("functions compared", i, len(b.funcs))
	}
	if !b.image.SameSegments(m) { // there may be functions that nobody has named
		return b.anotherBuild("its code is of another length")
	}
	return nil
}

func (b *Binary) tell(what string, done, of int) {
	if b.image.Progress != nil && done%1024 == 0 {
		b.image.Progress(what, done, of)
	}
}

// alike compares a function's code but for where data is that is no code.
func (b *Binary) alike(f *Func, m *image.Image, own, other []byte) (at int, ok bool) {
	return b.File().Processor.Alike(own, other, f.Addr, func(x, y uint64, absolute bool) bool {
		return x == y || !(absolute && b.image.Relocatable()) && b.isData(b.image, x) && b.isData(m, y)
	})
}

func (b *Binary) isData(m *image.Image, addr uint64) bool {
	return m.Loaded(addr) && !m.IsCode(addr, addr+1)
}

// reference is where data is that an instruction refers to: in the file that describes it, and in
// the program.
type reference struct{ described, own uint64 }

// readReferences collects those of all functions.
func (b *Binary) readReferences() []reference {
	found := make(map[reference]bool)
	for i := range b.funcs {
		f := &b.funcs[i]
		own, err := b.code(f)
		if err != nil {
			continue
		}
		other, err := b.image.Described.Code(f.Name, f.Addr, f.Size)
		if err != nil {
			continue
		}
		b.File().Processor.Alike(own, other, f.Addr, func(x, y uint64, _ bool) bool {
			if b.isData(b.image, x) {
				found[reference{described: y, own: x}] = true
			}
			return true
		})
		b.tell("functions searched for variables", i, len(b.funcs))
	}
	list := make([]reference, 0, len(found))
	for r := range found {
		list = append(list, r)
	}
	slices.SortFunc(list, func(x, y reference) int {
		return cmp.Or(cmp.Compare(x.described, y.described), cmp.Compare(x.own, y.own))
	})
	return list
}

// ownAddress is where the program has data that lies elsewhere in the file that describes it. It
// is what instructions refer to; not ok if none refers to any of it, or two disagree.
func (b *Binary) ownAddress(addr, size uint64) (own uint64, ok bool) {
	if b.image.Described == b.image || !b.image.Described.HasCode() {
		return addr, true
	}
	list := b.references()
	i, _ := slices.BinarySearchFunc(list, addr, func(r reference, addr uint64) int { return cmp.Compare(r.described, addr) })
	for ; i < len(list) && list[i].described-addr < size; i++ {
		at := list[i].own - (list[i].described - addr)
		if ok && at != own {
			return 0, false
		}
		own, ok = at, true
	}
	return own, ok
}
