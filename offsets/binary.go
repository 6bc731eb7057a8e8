// Package offsets analyzes the functions of ELF files: names, addresses, file offsets, source lines and signatures,
// and the instructions at which calls of a function begin and end.
//
// The only way to get a [Site] is to decode its function completely, from the first byte to the last. If any
// instruction is ambiguous, the function is rejected with the reason. Package tracefs defines and enables the probes.
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

// ErrNoDebugInfo means that the file has no DWARF (built with -ldflags=-w, or stripped).
var ErrNoDebugInfo = debug.ErrNone

// Binary is an open ELF executable or shared library. Its methods are safe for concurrent use.
type Binary struct {
	image  *image.Image
	tables *gotab.Tables
	funcs  []Func // by address
	goVer  gotab.Version

	layout  func() (gotab.Layout, error)
	unwind  func() debug.Unwind
	debug   func() (*debug.Info, error)
	inlined func() (map[string][]Frame, error) // by the name of the inlined function
	byName  func() map[string]*Func
}

// Open opens an ELF file and reads its headers and function symbols. Errors have the form "PATH: cause".
func Open(path string) (*Binary, error) {
	// Without O_NONBLOCK, opening a named pipe would wait for a writer.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, openError(path, err)
	}
	return OpenFile(f, path)
}

// OpenFile is Open for an open file. The Binary closes the file; if OpenFile returns an error, it closes the file at
// once. path is used in messages.
func OpenFile(f *os.File, path string) (*Binary, error) {
	b, err := read(f, path)
	if err != nil {
		f.Close()
		return nil, openError(path, err)
	}
	return b, nil
}

func openError(path string, err error) error {
	// The error of package os already includes the path.
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
	b.discardCaches()
	return b, nil
}

// discardCaches discards all cached symbols and debug information, so that they are read again when needed.
func (b *Binary) discardCaches() {
	b.layout = sync.OnceValues(b.readLayout)
	b.debug = sync.OnceValues(func() (*debug.Info, error) { return debug.Open(b.image.Description) })
	b.inlined = sync.OnceValues(b.readInlined)
	b.byName = sync.OnceValue(b.indexNames)
}

// Close closes the file. Functions and sites remain valid.
func (b *Binary) Close() error { return b.image.Close() }

// GoVersion returns the version of Go that built the file, as in "go1.26.8" or "devel go1.27-abcdef", and its minor
// number, 26. The minor number is 0 if Go did not build the file, or if the version is unknown.
func (b *Binary) GoVersion() (minor int, version string) { return b.goVer.Minor, b.goVer.Text }

// File returns the ELF file of the binary. The methods of [image.Image] are for packages of this module and may change.
func (b *Binary) File() *image.Image { return b.image }

// Funcs returns the functions with code in the file, sorted by address. The caller must not modify the slice.
func (b *Binary) Funcs() []Func { return b.funcs }

// FuncAt returns the function that contains an address.
func (b *Binary) FuncAt(addr uint64) (*Func, bool) {
	i := sort.Search(len(b.funcs), func(i int) bool { return b.funcs[i].Addr > addr }) - 1
	if i < 0 || addr-b.funcs[i].Addr >= b.funcs[i].Size {
		return nil, false
	}
	return &b.funcs[i], true
}

// funcFrom returns the first function that begins at or after an address.
func (b *Binary) funcFrom(addr uint64) (*Func, bool) {
	next := sort.Search(len(b.funcs), func(i int) bool { return b.funcs[i].Addr >= addr })
	if next == len(b.funcs) {
		return nil, false
	}
	return &b.funcs[next], true
}

// code returns the bytes of a function.
func (b *Binary) code(f *Func) ([]byte, error) { return b.image.Code(f.Name, f.Addr, f.Size) }
