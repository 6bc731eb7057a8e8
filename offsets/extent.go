package offsets

import (
	"errors"
	"os"
	"syscall"
)

// A file of a few kilobytes may claim to have gigabytes: holes read as zeros. What is read at
// once is bounded by what the file holds.

// whence of lseek(2), since Linux 3.1.
const (
	seekData = 3
	seekHole = 4
)

// maxExtents is how many pieces of a file are added up. What is behind them does not count.
const maxExtents = 1 << 14

// holding is how many bytes of a file are not holes: all of them, where the file system does
// not tell.
func holding(f *os.File, size int64) (held int64) {
	end := int64(0)
	for range maxExtents {
		start, err := f.Seek(end, seekData)
		if errors.Is(err, syscall.ENXIO) {
			break // nothing but a hole from here on
		}
		if err != nil {
			return size
		}
		if end, err = f.Seek(start, seekHole); err != nil {
			return size
		}
		held += end - start
	}
	return min(held, size)
}

// maxSparse is how many bytes are read at once of a file that is mostly holes.
const maxSparse = 256 << 20

// measure finds out how much there may be of anything in the file.
func (b *Binary) measure() {
	size := b.stat.Size()
	held := holding(b.file, size)
	b.sparse = held < size
	b.most = uint64(held)
	if held < size/2 {
		b.most = min(b.most, maxSparse)
	}
}

// dataFrom is where the file's data go on, from an offset on; ok is false if nothing but a hole
// follows.
func (b *Binary) dataFrom(offset int64) (at int64, ok bool) {
	if !b.sparse {
		return offset, true
	}
	at, err := b.file.Seek(offset, seekData)
	return at, err == nil
}

// hollow tells whether there is a hole in a range of the file.
func (b *Binary) hollow(offset, size uint64) bool {
	if !b.sparse {
		return false
	}
	hole, err := b.file.Seek(int64(offset), seekHole)
	return err == nil && uint64(hole) < offset+size
}

// maxDebug is how many bytes all debug information has, decompressed: that of compilers shrinks
// to a half or a quarter, that of small programs may do better.
func (b *Binary) maxDebug() uint64 {
	return min(8*b.most, max(4*b.most, maxSparse)) + 1<<20
}
