package offsets

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"sync"
	"syscall"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/offsets/internal/debug"
	"github.com/ftgo/ftgo/offsets/internal/gotab"
	"github.com/ftgo/ftgo/offsets/internal/image"
)

// ErrNoFunc means that there is no such function.
var ErrNoFunc = errors.New("no such function")

// errNoSymbols means that the file names no functions.
var errNoSymbols = errors.New("no function symbols")

// ErrNoDebugInfo: the file has no DWARF (built with -ldflags=-w, or stripped).
var ErrNoDebugInfo = debug.ErrNone

// ErrBeingWritten: somebody has the file open for writing.
var ErrBeingWritten = image.ErrBeingWritten

// Binary is an open x86-64 ELF executable or shared library. Its methods may be
// called from several goroutines.
type Binary struct {
	image  *image.Image
	tables *gotab.Tables
	funcs  []Func // by address
	goVer  gotab.Version

	layout  func() (GoroutineLayout, error)
	unwind  func() debug.Unwind
	debug   func() (*debug.Info, error)
	inlined func() (*inlineIndex, error)
	lookup  funcIndex
}

// Open reads the headers and function symbols of an ELF file. Errors have the form
// "PATH: cause".
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
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
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
	b.layout = sync.OnceValues(b.readLayout)
	b.unwind = sync.OnceValue(func() debug.Unwind { return debug.ReadUnwind(m) })
	b.debug = sync.OnceValues(func() (*debug.Info, error) { return debug.Open(m) })
	b.inlined = sync.OnceValues(b.readInlined)
	return b, nil
}

// Close closes the file. Functions and sites stay valid.
func (b *Binary) Close() error { return b.image.Close() }

// Path is the path given to Open.
func (b *Binary) Path() string { return b.image.Path() }

// Fd is the open file's descriptor: /proc/self/fd/Fd names the very file that was
// read, whatever its name has come to mean since.
func (b *Binary) Fd() uintptr { return b.image.Fd() }

// Inode is the file's number in its file system.
func (b *Binary) Inode() uint64 { return b.image.Inode() }

// Unchanged fails if the file's bytes may not be those that were read.
func (b *Binary) Unchanged() error { return b.image.Unchanged() }

// Hold makes everybody wait who opens the file for writing, or truncates it, until Release
// or Close, or for /proc/sys/fs/lease-break-time, 45 seconds: breakpoints in a file that is
// written over, as cp does, are in the middle of other instructions, and its next process
// comes to harm. Not all file systems can; then there is only Unchanged.
func (b *Binary) Hold() error { return b.image.Hold() }

// Release lets writers go on.
func (b *Binary) Release() { b.image.Release() }

// Written tells whether somebody waits to write to the file, or, without a lease, has
// done so.
func (b *Binary) Written() bool { return b.image.Written() }

// Checksums reads all of the file, unless most of it is holes.
func (b *Binary) Checksums() (Checksums, error) {
	c, err := b.image.Checksums()
	return Checksums(c), err
}

// Checksums tell a file from all others.
type Checksums struct {
	Size int64
	// SHA256 is in hexadecimal, CRC what POSIX cksum prints.
	SHA256 string
	CRC    uint32
}

// BuildID identifies the build: the GNU build ID in hexadecimal, else Go's own, as text; ""
// if the file has neither.
func (b *Binary) BuildID() string { return b.image.BuildID() }

// Processor is the one that the file is for.
func (b *Binary) Processor() arch.Processor { return b.image.Processor }

// ProcessorNamed finds a processor by the Name of its [arch.Machine].
func ProcessorNamed(name string) (arch.Processor, error) { return image.ProcessorNamed(name) }

// GoVersion is a release of Go, "1.26.8"; development versions have only Text.
type GoVersion struct {
	// Text is what the binary says: "go1.26.8", "go1.24.0 X:nocoverageredesign",
	// "devel go1.27-abcdef".
	Text string
	// Minor is the 26 of 1.26; 0 if this is not Go.
	Minor int
	// Devel marks a version that is no release: tables by version don't hold.
	Devel bool
}

func (v GoVersion) String() string { return v.Text }

// GoVersion is the version of Go that built the file; ok is false if it was not Go,
// or one that can't be told.
func (b *Binary) GoVersion() (v GoVersion, ok bool) { return GoVersion(b.goVer), b.goVer.Minor > 0 }

// Funcs are the functions that have bytes in the file, by address. The slice is the
// binary's own.
func (b *Binary) Funcs() []Func { return b.funcs }

// FuncAt returns the function that the address lies in.
func (b *Binary) FuncAt(addr uint64) (*Func, bool) {
	i := sort.Search(len(b.funcs), func(i int) bool { return b.funcs[i].Addr > addr }) - 1
	if i < 0 || addr-b.funcs[i].Addr >= b.funcs[i].Size {
		return nil, false
	}
	return &b.funcs[i], true
}

// FileOffset returns where in the file the byte at a virtual address of code is.
func (b *Binary) FileOffset(addr uint64) (uint64, error) { return b.image.FileOffset(addr) }

// AddrOf is the inverse of FileOffset.
func (b *Binary) AddrOf(offset uint64) (uint64, error) { return b.image.AddrOf(offset) }

// Segment returns where the executable segment around an address begins and ends, and its
// place in the file; zeros if there is none.
func (b *Binary) Segment(addr uint64) (start, end, offset uint64) { return b.image.Segment(addr) }

// Loaded tells whether an address is in memory whenever the file is: code or data.
func (b *Binary) Loaded(addr uint64) bool { return b.image.Loaded(addr) }

// Relocatable tells whether the kernel chooses where in memory the file goes:
// position-independent executables and shared libraries.
func (b *Binary) Relocatable() bool { return b.image.Relocatable() }

// code returns the function's bytes.
func (b *Binary) code(f *Func) ([]byte, error) { return b.image.Code(f.Name, f.Addr, f.Size) }

// RuntimeType is the type of the value in an interface.
type RuntimeType struct {
	// Type is named as %T prints it. What is not in the file, or damaged, is of kind
	// Unknown. Elem reads the file when it is first asked for.
	Type *gotype.Type
	// Direct: the second word of the interface is the value itself, a pointer or a
	// struct or array of just one; else it points to the value.
	Direct bool
}

// RuntimeType decodes the runtime._type at a virtual address of the file, load bias not
// counted: the first word of an interface without methods, or what ItabType returns. It
// works without symbols and debug information. Types that the program makes as it runs,
// with package reflect, are not in the file.
func (b *Binary) RuntimeType(addr uint64) (RuntimeType, error) {
	t, err := b.tables.RuntimeType(addr)
	return RuntimeType(t), err
}

// ItabType returns the address of the concrete type in the itab at an address, which is
// the first word of an interface that has methods. It knows those that the compiler made; ok
// is false for others, which the program makes as it runs and which are not in the file.
func (b *Binary) ItabType(addr uint64) (typ uint64, ok bool) { return b.tables.ItabType(addr) }
