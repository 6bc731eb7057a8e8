package offsets

import "github.com/ftgo/ftgo/offsets/internal/image"

// File is the file that a binary is in: which one it is, whether somebody writes to it, and what
// of it is where in memory.
type File struct{ image *image.Image }

// File is the one that was read.
func (b *Binary) File() File { return File{b.image} }

// Path is the path given to Open.
func (f File) Path() string { return f.image.Path() }

// Fd is the open file's descriptor: /proc/self/fd/Fd names the very file that was
// read, whatever its name has come to mean since.
func (f File) Fd() uintptr { return f.image.Fd() }

// Inode is the file's number in its file system.
func (f File) Inode() uint64 { return f.image.Inode() }

// Unchanged fails if the file's bytes may not be those that were read.
func (f File) Unchanged() error { return f.image.Unchanged() }

// Hold makes everybody wait who opens the file for writing, or truncates it, until Release
// or Close, or for /proc/sys/fs/lease-break-time, 45 seconds: breakpoints in a file that is
// written over, as cp does, are in the middle of other instructions, and its next process
// comes to harm. Not all file systems can; then there is only Unchanged.
func (f File) Hold() error { return f.image.Hold() }

// Release lets writers go on.
func (f File) Release() { f.image.Release() }

// Written tells whether somebody waits to write to the file, or, without a lease, has
// done so.
func (f File) Written() bool { return f.image.Written() }

// Checksums reads all of the file, unless most of it is holes.
func (f File) Checksums() (Checksums, error) {
	c, err := f.image.Checksums()
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
func (f File) BuildID() string { return f.image.BuildID() }

// FileOffset returns where in the file the byte at a virtual address of code is.
func (f File) FileOffset(addr uint64) (uint64, error) { return f.image.FileOffset(addr) }

// AddrOf is the inverse of FileOffset.
func (f File) AddrOf(offset uint64) (uint64, error) { return f.image.AddrOf(offset) }

// Segment returns where the executable segment around an address begins and ends, and its
// place in the file; zeros if there is none.
func (f File) Segment(addr uint64) (start, end, offset uint64) { return f.image.Segment(addr) }

// Loaded tells whether an address is in memory whenever the file is: code or data.
func (f File) Loaded(addr uint64) bool { return f.image.Loaded(addr) }

// Relocatable tells whether the kernel chooses where in memory the file goes:
// position-independent executables and shared libraries.
func (f File) Relocatable() bool { return f.image.Relocatable() }
