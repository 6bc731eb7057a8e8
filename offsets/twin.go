package offsets

import (
	"bytes"
	"cmp"
	"fmt"
	"os"

	"github.com/ftgo/ftgo/offsets/internal/gotab"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Describe reads names, types and source lines from another file, which was not stripped. Describe closes the file with the
// Binary, or at once if it returns an error. It verifies that the file describes the code of the Binary:
//
//   - A file with code must have the same code. Describe compares the function tables of both files and the code of
//     each function, except for the addresses of data: Go's linker writes the flags of a build into the program, so
//     data of a stripped program is at other addresses. The error names the first function that differs. Describe does
//     not compare build IDs, because Go's build IDs differ as well.
//   - A file without code, as objcopy --only-keep-debug writes it, must have the same GNU build ID.
//
// The error is ErrNoDebugInfo if the file has no debug information. Errors have the form "PATH: cause" and leave the
// Binary unchanged. Funcs that were returned before remain valid, but lack the new names.
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
	} else if err := b.compareTables(m); err != nil {
		return err
	}
	was, funcs := b.image.Description, b.funcs
	b.image.Description = m
	if b.funcs, err = b.readFuncs(); err == nil && m.HasCode() {
		err = b.compareCode(m)
	}
	if err != nil {
		b.image.Description, b.funcs = was, funcs
		return err
	}
	if was != b.image {
		was.Close()
	}
	b.discardCaches()
	return nil
}

// compareTables returns an error if Go's function tables of the two files differ.
func (b *Binary) compareTables(m *image.Image) error {
	tables, err := gotab.Open(m)
	if err != nil {
		return err
	}
	if v := tables.Version; v.Text != b.goVer.Text {
		return b.buildMismatch(fmt.Sprintf("it was built by %s, not %s", cmp.Or(v.Text, "another compiler"), cmp.Or(b.goVer.Text, "another compiler")))
	}
	own, other := b.tables.Funcs(), tables.Funcs()
	for i, f := range own {
		if i == len(other) || !f.Alike(other[i]) {
			return b.buildMismatch(f.Name() + " differs: its name, place or source lines")
		}
	}
	if len(own) != len(other) {
		return b.buildMismatch("it has more functions")
	}
	return nil
}

func (b *Binary) buildMismatch(why string) error {
	return fmt.Errorf("not of the build of %s: %s", b.image.Path(), why)
}

// compareCode returns an error if the code of any function differs in the other file.
func (b *Binary) compareCode(m *image.Image) error {
	for i := range b.funcs {
		f := &b.funcs[i]
		own, err := b.code(f)
		other, otherErr := m.Code(f.Name, f.Addr, f.Size)
		at, ok := 0, (err == nil) == (otherErr == nil)
		if ok && !bytes.Equal(own, other) { // the addresses of data may differ
			at, ok = b.File().Processor.Alike(own, other, f.Addr, func(x, y uint64, absolute bool) bool {
				return x == y || !(absolute && b.image.Relocatable()) && b.isData(b.image, x) && b.isData(m, y)
			})
		}
		if !ok {
			return b.buildMismatch(fmt.Sprintf("%s differs: its code at +%#x", f.Name, at))
		}
	}
	if !b.image.SameSegments(m) { // code without a symbol may differ
		return b.buildMismatch("its code has another size")
	}
	return nil
}

func (b *Binary) isData(m *image.Image, addr uint64) bool {
	return m.Loaded(addr) && !m.IsCode(addr, addr+1)
}
