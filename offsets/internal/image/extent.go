package image

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// A file of a few kilobytes may claim to have gigabytes: holes read as zeros. What is read at
// once is bounded by what the file holds.

// maxExtents is how many pieces of a file are added up. What is behind them does not count.
const maxExtents = 1 << 14

// holding is how many bytes of a file are not holes: all of them, where the file system does
// not tell.
func holding(f *os.File, size int64) (held int64) {
	end := int64(0)
	for range maxExtents {
		start, err := f.Seek(end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			break // nothing but a hole from here on
		}
		if err != nil {
			return size
		}
		if end, err = f.Seek(start, unix.SEEK_HOLE); err != nil {
			return size
		}
		held += end - start
	}
	return min(held, size)
}

// maxSparse is how many bytes are read at once of a file that is mostly holes.
const maxSparse = 256 << 20

// measure finds out how much there may be of anything in the file.
func (m *Image) measure() {
	size := m.stat.Size
	held := holding(m.file, size)
	m.sparse = held < size
	m.most = uint64(held)
	if held < size/2 {
		m.most = min(m.most, maxSparse)
	}
}

// dataFrom is where the file's data go on, from an offset on; ok is false if nothing but a hole
// follows.
func (m *Image) dataFrom(offset int64) (at int64, ok bool) {
	if !m.sparse {
		return offset, true
	}
	at, err := m.file.Seek(offset, unix.SEEK_DATA)
	return at, err == nil
}

// hollow tells whether there is a hole in a range of the file.
func (m *Image) hollow(offset, size uint64) bool {
	if !m.sparse {
		return false
	}
	hole, err := m.file.Seek(int64(offset), unix.SEEK_HOLE)
	return err == nil && uint64(hole) < offset+size
}

// Most is how many bytes anything in the file may have.
func (m *Image) Most() uint64 { return m.most }

// MaxDebug is how many bytes all debug information has, decompressed: that of compilers shrinks
// to a half or a quarter, that of small programs may do better.
func (m *Image) MaxDebug() uint64 {
	return min(8*m.most, max(4*m.most, maxSparse)) + 1<<20
}
