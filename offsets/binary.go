// Package offsets knows ELF files and Go's code: which functions a binary has, where in the file
// their bytes are, and at which instructions a call of one begins and ends.
//
// A [Site] is only ever made by decoding a function from its first byte to its
// last without a doubt; a function that leaves one is refused with the reason.
// What a probe is, and how the kernel is told of one, is left to package tracefs.
package offsets

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"sync"
	"syscall"

	"github.com/ftgo/ftgo/offsets/internal/debug"
	"github.com/ftgo/ftgo/offsets/internal/gotab"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// ErrNoDebugInfo: the file has no DWARF (built with -ldflags=-w, or stripped).
var ErrNoDebugInfo = debug.ErrNone

// Binary is an open ELF executable or shared library. Its methods may be
// called from several goroutines.
type Binary struct {
	image  *image.Image
	tables *gotab.Tables
	funcs  []Func // by address
	goVer  gotab.Version

	layout  func() (layout, error)
	unwind  func() debug.Unwind
	debug   func() (*debug.Info, error)
	inlined func() (map[string][]Frame, error) // by the name of what was inlined
	byName  func() map[string]*Func
	// references is where data is that instructions refer to, by where the file has it that describes them.
	references func() []reference
}

// Open reads the headers and function symbols of an ELF file. Errors have the form "PATH: cause".
func Open(path string) (*Binary, error) {
	// O_NONBLOCK: a named pipe must not keep us waiting for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, openError(path, err)
	}
	return OpenFile(f, path)
}

// OpenFile is Open of a file that is open already, which the Binary closes; without one, it is
// closed at once. The path is what people are told.
func OpenFile(f *os.File, path string) (*Binary, error) {
	b, err := read(f, path)
	if err != nil {
		f.Close()
		return nil, openError(path, err)
	}
	return b, nil
}

func openError(path string, err error) error {
	// os names the path itself; one is enough.
	if named, ok := errors.AsType[*os.PathError](err); ok {
		err = named.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

func read(f *os.File, path string) (*Binary, error) {
	m, err := image.Open(f, path)
	if err != nil {
		return nil, err
	}
	b := &Binary{image: m}
	if b.tables, err = gotab.Open(m); err != nil {
		return nil, err
	}
	b.goVer = b.tables.Version
	if b.funcs, err = b.readFuncs(); err != nil {
		return nil, err
	}
	b.unwind = sync.OnceValue(func() debug.Unwind { return debug.ReadUnwind(m) })
	b.forget()
	return b, nil
}

// forget has all that is read of symbols and debug information read when it is needed next.
func (b *Binary) forget() {
	b.layout = sync.OnceValues(b.readLayout)
	b.debug = sync.OnceValues(func() (*debug.Info, error) { return debug.Open(b.image.Described) })
	b.inlined = sync.OnceValues(b.readInlined)
	b.byName = sync.OnceValue(b.indexNames)
	b.references = sync.OnceValue(b.readReferences)
}

// Close closes the file. Functions and sites stay valid.
func (b *Binary) Close() error { return b.image.Close() }

// GoVersion is the version of Go that built the file, "go1.26.8" or "devel go1.27-abcdef", and the
// 26 of it; 0 if it was not Go, or one that can't be told.
func (b *Binary) GoVersion() (minor int, version string) { return b.goVer.Minor, b.goVer.Text }

// File is the file that the binary is in. What its type has is for this module's own packages, and
// no promise to others.
func (b *Binary) File() *image.Image { return b.image }

// Funcs are the functions that have bytes in the file, by address. The slice is the binary's own.
func (b *Binary) Funcs() []Func { return b.funcs }

// FuncAt returns the function that the address lies in.
func (b *Binary) FuncAt(addr uint64) (*Func, bool) {
	i := sort.Search(len(b.funcs), func(i int) bool { return b.funcs[i].Addr > addr }) - 1
	if i < 0 || addr-b.funcs[i].Addr >= b.funcs[i].Size {
		return nil, false
	}
	return &b.funcs[i], true
}

// funcFrom returns the first function that begins at an address, or behind it.
func (b *Binary) funcFrom(addr uint64) (*Func, bool) {
	next := sort.Search(len(b.funcs), func(i int) bool { return b.funcs[i].Addr >= addr })
	if next == len(b.funcs) {
		return nil, false
	}
	return &b.funcs[next], true
}

// code returns the function's bytes.
func (b *Binary) code(f *Func) ([]byte, error) { return b.image.Code(f.Name, f.Addr, f.Size) }
