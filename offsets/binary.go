package offsets

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"sync"
	"syscall"

	"github.com/ftgo/ftgo/offsets/arch"
)

// ErrNoFunc means that there is no such function.
var ErrNoFunc = errors.New("no such function")

// errNoSymbols means that the file names no functions.
var errNoSymbols = errors.New("no function symbols")

// Binary is an open x86-64 ELF executable or shared library. Its methods may be
// called from several goroutines.
type Binary struct {
	path string
	file *os.File
	stat os.FileInfo
	held bool // by Hold
	// most is how many bytes anything in the file may have; sparse: some of it is holes.
	most   uint64
	sparse bool
	elf    *elf.File
	// processor is the one that the file is for.
	processor arch.Processor
	code      []segment
	funcs     []Func // by address
	goVer     GoVersion

	layout func() (GoroutineLayout, error)
	unwind func() unwindTable
	debug  debugSections
	source sourceCache
	// entries are those of debug information; args is nil if the file is not Go's.
	entries func() (*debugEntries, error)
	args    func() *funcArgs
	table   func() *pclntab // all of it; to be copied, since reading marks damage in it
	lookup  funcIndex

	types       rtypeTable
	relocations relocationTable
}

// segment is an executable PT_LOAD: the only place where instructions are.
type segment struct {
	addr, off, size uint64 // size in the file
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
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case stat.IsDir():
		return nil, errors.New("is a directory")
	case !stat.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	}
	b := &Binary{path: path, file: f, stat: stat}
	b.measure()
	if b.elf, err = parseELF(f, b.most); err != nil {
		return nil, err
	}
	b.processor = processors[b.elf.Machine]
	b.code = codeSegments(b.elf, uint64(stat.Size()))
	if len(b.code) == 0 {
		return nil, errors.New("ELF file without an executable segment")
	}
	table := b.openPclntab()
	if b.goVer, err = b.readGoVersion(table); err != nil {
		return nil, err
	}
	if b.funcs, err = b.readFuncs(table); err != nil {
		return nil, err
	}
	b.layout = sync.OnceValues(b.readLayout)
	b.unwind = sync.OnceValue(b.readUnwind)
	b.entries = sync.OnceValues(b.readEntries)
	b.args = sync.OnceValue(b.readFuncArgs)
	b.table = sync.OnceValue(b.pclntab)
	return b, nil
}

func parseELF(r io.ReaderAt, most uint64) (*elf.File, error) {
	var ident [20]byte
	n, err := r.ReadAt(ident[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.HasPrefix(ident[:n], []byte(elf.ELFMAG)) {
		return nil, errors.New("not an ELF file")
	}
	// Class and machine come first in the header: a file for another machine is told
	// apart from a damaged one without a look at the rest.
	if n < len(ident) {
		return nil, errors.New("truncated ELF file")
	}
	if elf.Class(ident[elf.EI_CLASS]) == elf.ELFCLASS32 {
		return nil, errors.New("32-bit ELF file: only 64-bit x86-64 is supported")
	}
	if m := elf.Machine(binary.LittleEndian.Uint16(ident[18:])); processors[m] == nil {
		return nil, fmt.Errorf("ELF file for %s: only x86-64 is supported", m)
	}
	var ef *elf.File
	if err = checkHeaders(r, most); err == nil {
		ef, err = elf.NewFile(r)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.New("truncated ELF file")
	}
	if err != nil {
		return nil, fmt.Errorf("damaged ELF file: %w", err)
	}
	if ef.Type != elf.ET_EXEC && ef.Type != elf.ET_DYN {
		return nil, fmt.Errorf("%s: neither an executable nor a shared library", ef.Type)
	}
	return ef, nil
}

// codeSegments lists the executable segments, as far as the file has their bytes.
func codeSegments(ef *elf.File, fileSize uint64) []segment {
	var code []segment
	for _, p := range ef.Progs {
		if p.Type != elf.PT_LOAD || p.Flags&elf.PF_X == 0 || p.Off >= fileSize || p.Vaddr+p.Filesz < p.Vaddr {
			continue
		}
		code = append(code, segment{p.Vaddr, p.Off, min(p.Filesz, fileSize-p.Off)})
	}
	return code
}

// Close closes the file. Functions and sites stay valid.
func (b *Binary) Close() error { return b.file.Close() }

// Path is the path given to Open.
func (b *Binary) Path() string { return b.path }

// Fd is the open file's descriptor: /proc/self/fd/Fd names the very file that was
// read, whatever its name has come to mean since.
func (b *Binary) Fd() uintptr { return b.file.Fd() }

// Unchanged fails if the file's bytes may not be those that were read.
func (b *Binary) Unchanged() error {
	now, err := b.file.Stat()
	if err != nil {
		return err
	}
	if now.Size() != b.stat.Size() || !now.ModTime().Equal(b.stat.ModTime()) || !b.held && rewritten(b.stat, now) {
		return fmt.Errorf("%s: changed while it was read", b.path)
	}
	return nil
}

// rewritten tells whether something happened to a file that a new name, or mode, or owner
// does not explain: it may have been written, and its time been put back, as rsync does.
func rewritten(before, after os.FileInfo) bool {
	a, ok1 := before.Sys().(*syscall.Stat_t)
	b, ok2 := after.Sys().(*syscall.Stat_t)
	return ok1 && ok2 && a.Ctim != b.Ctim && a.Nlink == b.Nlink && a.Mode == b.Mode && a.Uid == b.Uid && a.Gid == b.Gid
}

// GoVersion is the version of Go that built the file; ok is false if it was not Go,
// or one that can't be told.
func (b *Binary) GoVersion() (v GoVersion, ok bool) { return b.goVer, b.goVer.Minor > 0 }

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

// FileOffset returns where in the file the byte at a virtual address is, by the
// program headers: va - p_vaddr + p_offset of the executable segment around it
// (System V gABI, chapter 5). Only executable segments count.
func (b *Binary) FileOffset(addr uint64) (uint64, error) {
	for _, s := range b.code {
		if addr >= s.addr && addr-s.addr < s.size {
			return addr - s.addr + s.off, nil
		}
	}
	return 0, fmt.Errorf("address %#x: in no executable segment", addr)
}

// Loaded tells whether an address is in memory whenever the file is: code or data.
func (b *Binary) Loaded(addr uint64) bool {
	for _, p := range b.elf.Progs {
		if p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr-p.Vaddr < p.Memsz {
			return true
		}
	}
	return false
}

// maxCode is more than any compiler makes of one function; what claims more is
// damaged.
const maxCode = 16 << 20

// Code returns the function's bytes.
func (b *Binary) Code(f *Func) ([]byte, error) {
	for _, s := range b.code {
		if f.Addr < s.addr || f.Addr-s.addr >= s.size {
			continue
		}
		if s.size-(f.Addr-s.addr) < f.Size {
			return nil, fmt.Errorf("%s: reaches beyond its segment", f.Name)
		}
		if f.Size > maxCode {
			return nil, fmt.Errorf("%s: %d bytes long: not a function", f.Name, f.Size)
		}
		offset := f.Addr - s.addr + s.off
		if b.hollow(offset, f.Size) {
			return nil, fmt.Errorf("%s: in a hole of the file", f.Name)
		}
		code := make([]byte, f.Size)
		if _, err := b.file.ReadAt(code, int64(offset)); err != nil {
			return nil, fmt.Errorf("read code of %s: %w", f.Name, err)
		}
		return code, nil
	}
	return nil, fmt.Errorf("%s: in no executable segment", f.Name)
}

// AddrOf is the inverse of FileOffset.
func (b *Binary) AddrOf(offset uint64) (uint64, error) {
	for _, s := range b.code {
		if offset >= s.off && offset-s.off < s.size {
			return offset - s.off + s.addr, nil
		}
	}
	return 0, fmt.Errorf("file offset %#x: in no executable segment", offset)
}

// Segment returns where the executable segment around an address begins and ends, and its
// place in the file; zeros if there is none.
func (b *Binary) Segment(addr uint64) (start, end, offset uint64) {
	for _, s := range b.code {
		if addr >= s.addr && addr-s.addr < s.size {
			return s.addr, s.addr + s.size, s.off
		}
	}
	return 0, 0, 0
}

// Relocatable tells whether the kernel chooses where in memory the file goes:
// position-independent executables and shared libraries.
func (b *Binary) Relocatable() bool { return b.elf.Type == elf.ET_DYN }
