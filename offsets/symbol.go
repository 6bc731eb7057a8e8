package offsets

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// symbol is an entry of .symtab or .dynsym (System V gABI, chapter 4).
type symbol struct {
	name       string
	addr, size uint64
	kind       elf.SymType
	bind       elf.SymBind
}

// symbols reads the first symbol table of a type; none is no error.
//
// [elf.File.Symbols] copies each name to where its NUL is: when a damaged string table
// has none, some 60,000 symbols of a small file take gigabytes.
func (b *Binary) symbols(table elf.SectionType) ([]symbol, error) {
	s := b.elf.SectionByType(table)
	if s == nil || s.Size == 0 {
		return nil, nil
	}
	if uint64(s.Link) >= uint64(len(b.elf.Sections)) || s.Size%elf.Sym64Size != 0 {
		return nil, errors.New("read symbols: damaged section header")
	}
	data, err := b.sectionData(s)
	if err != nil {
		return nil, fmt.Errorf("read symbols: %w", err)
	}
	text, err := b.sectionData(b.elf.Sections[s.Link])
	if err != nil {
		return nil, fmt.Errorf("read symbol names: %w", err)
	}
	names := string(text) // one copy that all names are parts of
	// Names may share their ends, so all of them can be longer than the table.
	budget := 8*len(names) + maxName
	symbols := make([]symbol, 0, len(data)/elf.Sym64Size)
	for ; len(data) > 0; data = data[elf.Sym64Size:] {
		var sym elf.Sym64
		if _, err := binary.Decode(data, binary.LittleEndian, &sym); err != nil {
			return nil, fmt.Errorf("read symbols: %w", err)
		}
		if sym.Shndx == uint16(elf.SHN_UNDEF) || uint64(sym.Name) >= uint64(len(names)) {
			continue
		}
		name := names[sym.Name:min(int(sym.Name)+maxName, len(names))]
		end := strings.IndexByte(name, 0)
		if end <= 0 {
			continue
		}
		if budget -= end; budget < 0 {
			return nil, errors.New("read symbol names: overlapping")
		}
		symbols = append(symbols, symbol{name[:end], sym.Value, sym.Size, elf.ST_TYPE(sym.Info), elf.ST_BIND(sym.Info)})
	}
	return symbols, nil
}

// sectionData reads a section that lies in the file as it is.
func (b *Binary) sectionData(s *elf.Section) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 || s.Size > uint64(b.stat.Size()) {
		return nil, fmt.Errorf("section %q: damaged header", s.Name)
	}
	data := make([]byte, s.Size)
	if _, err := s.ReadAt(data, 0); err != nil {
		return nil, fmt.Errorf("section %q: %w", s.Name, err)
	}
	return data, nil
}
