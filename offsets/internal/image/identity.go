package image

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"math"
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

// maxHoles is a limit in bytes: Checksum reads a file with holes only up to a size of maxHoles plus twice the bytes of
// data.
const maxHoles = 64 << 20

// Checksum reads the whole file and returns its size and, in hexadecimal, its SHA-256. It returns an error if most of a large
// file is holes.
func (m *Image) Checksum() (size int64, sha256sum string, err error) {
	if size := uint64(m.stat.Size); m.sparse && size > 2*m.maxSize+maxHoles {
		return 0, "", fmt.Errorf("read %s: %d bytes long, and all but %d are holes", m.path, size, m.maxSize)
	}
	sha := sha256.New()
	if size, err = io.Copy(sha, io.NewSectionReader(m.file, 0, math.MaxInt64)); err != nil {
		return 0, "", fmt.Errorf("read %s: %w", m.path, err)
	}
	return size, hex.EncodeToString(sha.Sum(nil)), nil
}
