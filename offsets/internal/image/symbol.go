package image

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Symbol is an entry of .symtab or .dynsym (System V gABI, chapter 4).
type Symbol struct {
	Name       string
	Addr, Size uint64
	Kind       elf.SymType
	Bind       elf.SymBind
}

// EachSymbol calls found with each defined and named symbol of the first symbol table of a type. A file without such
// a table is not an error. The names are substrings of one copy of the string table.
//
// [elf.File.Symbols] copies each name up to its NUL: if a damaged string table has no NUL, some 60,000 symbols of a
// small file take gigabytes.
func (m *Image) EachSymbol(table elf.SectionType, found func(Symbol)) error {
	s := m.ELF.SectionByType(table)
	if s == nil || s.Size == 0 {
		return nil
	}
	if uint64(s.Link) >= uint64(len(m.ELF.Sections)) || s.Size%elf.Sym64Size != 0 {
		return errors.New("read symbols: damaged section header")
	}
	names, err := m.sectionText(m.ELF.Sections[s.Link])
	if err != nil {
		return fmt.Errorf("read symbol names: %w", err)
	}
	if err := m.checkPlain(s); err != nil {
		return fmt.Errorf("read symbols: %w", err)
	}
	// Names may share their ends, so their total length can exceed the size of the table.
	budget := 8*len(names) + MaxName
	r, le := bufio.NewReaderSize(s.Open(), 1<<16), binary.LittleEndian
	for range s.Size / elf.Sym64Size {
		data, err := r.Peek(elf.Sym64Size) // an Elf64_Sym
		if err != nil {
			return fmt.Errorf("read symbols: section %q: %w", s.Name, err)
		}
		r.Discard(elf.Sym64Size)
		at, info := uint64(le.Uint32(data)), data[4]
		if le.Uint16(data[6:]) == uint16(elf.SHN_UNDEF) || at >= uint64(len(names)) {
			continue
		}
		name := names[at:min(at+MaxName, uint64(len(names)))]
		end := strings.IndexByte(name, 0)
		if end <= 0 {
			continue
		}
		if budget -= end; budget < 0 {
			return errors.New("read symbols: names overlap")
		}
		found(Symbol{name[:end], le.Uint64(data[8:]), le.Uint64(data[16:]), elf.ST_TYPE(info), elf.ST_BIND(info)})
	}
	return nil
}

// MaxName is an upper bound for the length of the name of a function, in bytes.
const MaxName = 1 << 16

// RawSection returns the section with the given name if the file contains it uncompressed, else nil.
func (m *Image) RawSection(name string) *elf.Section {
	if s := m.ELF.Section(name); s != nil && m.checkPlain(s) == nil {
		return s
	}
	return nil
}

// checkPlain returns an error if the section has no contents in the file, is compressed, or is larger than the data
// of the file.
func (m *Image) checkPlain(s *elf.Section) error {
	if s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 || s.Size > m.maxSize {
		return fmt.Errorf("section %q: damaged header", s.Name)
	}
	return nil
}

// sectionText reads an uncompressed section. It allocates only the memory of the returned string.
func (m *Image) sectionText(s *elf.Section) (string, error) {
	var text strings.Builder
	if err := m.checkPlain(s); err != nil {
		return "", err
	}
	text.Grow(int(s.Size))
	if _, err := io.CopyN(&text, s.Open(), int64(s.Size)); err != nil {
		return "", fmt.Errorf("section %q: %w", s.Name, err)
	}
	return text.String(), nil
}
