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

// maxNotes is above the size in bytes of the notes in one section or segment of a valid file, maxAllNotes above the size of
// the notes in all its sections and segments.
const (
	maxNotes    = 1 << 16
	maxAllNotes = 1 << 20
)

// BuildID returns the GNU build ID in hexadecimal. Without a GNU build ID it returns Go's build ID as text
// (cmd/link/internal/ld/elf.go), or "" if the file has neither.
func (m *Image) BuildID() string { return cmp.Or(m.buildIDs()) }

// GNUBuildID returns the GNU build ID in hexadecimal. strip keeps it, and separate debug information is found by it.
func (m *Image) GNUBuildID() (id string, ok bool) {
	id, _ = m.buildIDs()
	return id, id != ""
}

// buildIDs reads the notes. Each note has the size of its name, the size of its descriptor and its type, followed by name
// and descriptor, both padded to 4 bytes (System V gABI, chapter 5, figure 5-8).
func (m *Image) buildIDs() (gnu, golang string) {
	const gnuBuildID, goBuildID = 3, 4
	spent := uint64(0)
	read := func(from io.ReaderAt, size uint64) {
		if size > maxNotes || spent > maxAllNotes {
			return
		}
		spent += size
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
				gnu = hex.EncodeToString(text)
			case kind == goBuildID && owner == "Go":
				golang = string(text)
			}
			notes = notes[min(at+(size+3)&^3, uint64(len(notes))):]
		}
	}
	for _, p := range m.ELF.Progs {
		if p.Type == elf.PT_NOTE {
			read(p, p.Filesz)
		}
	}
	// The segment that Go's linker writes contains only Go's own note.
	for _, s := range m.ELF.Sections {
		if s.Type == elf.SHT_NOTE && m.checkPlain(s) == nil {
			read(s, s.Size)
		}
	}
	return gnu, golang
}

// Checksums identify the contents of a file.
type Checksums struct {
	Size int64
	// SHA256 is in hexadecimal. CRC is the checksum that POSIX cksum prints.
	SHA256 string
	CRC    uint32
}

// maxHoles is a limit in bytes: Checksums reads a file with holes only up to a size of maxHoles plus twice the bytes of
// data.
const maxHoles = 64 << 20

// Checksums reads the whole file. It returns an error if most of a large file is holes.
func (m *Image) Checksums() (Checksums, error) {
	if size := uint64(m.stat.Size); m.sparse && size > 2*m.maxSize+maxHoles {
		return Checksums{}, fmt.Errorf("read %s: %d bytes long, and all but %d are holes", m.path, size, m.maxSize)
	}
	sha, crc := sha256.New(), posixCRC(0)
	n, err := io.Copy(io.MultiWriter(sha, &crc), io.NewSectionReader(m.file, 0, math.MaxInt64))
	if err != nil {
		return Checksums{}, fmt.Errorf("read %s: %w", m.path, err)
	}
	return Checksums{Size: n, SHA256: hex.EncodeToString(sha.Sum(nil)), CRC: crc.sum(n)}, nil
}

// posixCRC is the checksum of cksum (POSIX.1-2017, XCU). It has the polynomial of crc32.IEEETable, but processes the
// bits of each byte from the highest to the lowest, and includes the length.
type posixCRC uint32 // with the bits in reverse order

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

// sum returns the checksum of the size bytes that were written.
func (c posixCRC) sum(size int64) uint32 {
	for ; size != 0; size >>= 8 {
		c.Write([]byte{byte(size)})
	}
	return ^bits.Reverse32(uint32(c))
}
