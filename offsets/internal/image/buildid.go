package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"io"
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
	var ids noteIDs
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
	if ids.gnu != "" {
		return ids.gnu
	}
	return ids.golang
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
