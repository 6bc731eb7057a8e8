package image

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"math/bits"
	"slices"
)

// maxNotes is more than the notes of any section or segment take, maxAllNotes more than those
// of a file; what claims more is damaged.
const (
	maxNotes    = 1 << 16
	maxAllNotes = 1 << 20
)

// BuildID identifies the build: the GNU build ID in hexadecimal, else Go's own, as text
// (cmd/link/internal/ld/elf.go); "" if the file has neither.
func (m *Image) BuildID() string {
	ids := m.buildIDs()
	return cmp.Or(ids.gnu, ids.golang)
}

// GNUBuildID is that alone which strip keeps, and debug information is found by.
func (m *Image) GNUBuildID() (id string, ok bool) {
	id = m.buildIDs().gnu
	return id, id != ""
}

func (m *Image) buildIDs() (ids noteIDs) {
	for _, p := range m.ELF.Progs {
		if p.Type == elf.PT_NOTE {
			ids.read(p, p.Filesz)
		}
	}
	// Go's linker has a segment of its own note alone.
	for _, s := range m.ELF.Sections {
		if s.Type == elf.SHT_NOTE && m.checkPlain(s) == nil {
			ids.read(s, s.Size)
		}
	}
	return ids
}

// noteIDs are the build IDs in notes.
type noteIDs struct {
	gnu, golang string
	spent       uint64 // bytes that were read
}

// read takes notes: each is the lengths of its name and of what it says, its type, and
// both of them, filled up to words (System V gABI, chapter 5, figure 5-8).
func (ids *noteIDs) read(from io.ReaderAt, size uint64) {
	const gnuBuildID, goBuildID = 3, 4
	if size > maxNotes || ids.spent > maxAllNotes {
		return
	}
	ids.spent += size
	notes := make([]byte, size)
	if n, _ := from.ReadAt(notes, 0); n < len(notes) {
		return
	}
	for le := binary.LittleEndian; len(notes) >= 12; {
		name, size, kind := uint64(le.Uint32(notes)), uint64(le.Uint32(notes[4:])), le.Uint32(notes[8:])
		at := 12 + (name+3)&^3
		if at+size > uint64(len(notes)) {
			return
		}
		text := notes[at : at+size]
		switch owner := string(bytes.TrimRight(notes[12:12+name], "\x00")); {
		case kind == gnuBuildID && owner == "GNU":
			ids.gnu = hex.EncodeToString(text)
		case kind == goBuildID && owner == "Go":
			ids.golang = string(text)
		}
		notes = notes[min(at+(size+3)&^3, uint64(len(notes))):]
	}
}

// Checksums tell a file from all others.
type Checksums struct {
	Size int64
	// SHA256 is in hexadecimal, CRC what POSIX cksum prints.
	SHA256 string
	CRC    uint32
}

// maxHoles is how many bytes of holes are read beyond as many as the file holds.
const maxHoles = 64 << 20

// Checksums reads all of the file, unless most of it is holes.
func (m *Image) Checksums() (Checksums, error) {
	if size := uint64(m.stat.Size); m.sparse && size > 2*m.most+maxHoles {
		return Checksums{}, fmt.Errorf("read %s: %d bytes long, and all but %d are holes", m.path, size, m.most)
	}
	sha, crc := sha256.New(), posixCRC(0)
	n, err := io.Copy(io.MultiWriter(sha, &crc), io.NewSectionReader(m.file, 0, math.MaxInt64))
	if err != nil {
		return Checksums{}, fmt.Errorf("read %s: %w", m.path, err)
	}
	return Checksums{Size: n, SHA256: hex.EncodeToString(sha.Sum(nil)), CRC: crc.sum(n)}, nil
}

// posixCRC is the checksum of cksum (POSIX.1-2017, XCU). It is that of package crc32, but runs
// over the bits of each byte from the highest, and then over the length.
type posixCRC uint32 // reversed

func (c *posixCRC) Write(p []byte) (int, error) {
	var reversed [512]byte
	for chunk := range slices.Chunk(p, len(reversed)) {
		for i, b := range chunk {
			reversed[i] = bits.Reverse8(b)
		}
		*c = ^posixCRC(crc32.Update(^uint32(*c), crc32.IEEETable, reversed[:len(chunk)]))
	}
	return len(p), nil
}

// sum is that of the bytes written, which are so many.
func (c posixCRC) sum(size int64) uint32 {
	for ; size != 0; size >>= 8 {
		c.Write([]byte{byte(size)})
	}
	return ^bits.Reverse32(uint32(c))
}
