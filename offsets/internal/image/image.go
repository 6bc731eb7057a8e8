// Package image reads ELF files: the bytes at an address, symbols, relocations, build IDs and checksums.
//
// A damaged or malicious file costs no more memory and time than a valid file of its size.
package image

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/ftgo/ftgo/internal/arch"
	_ "github.com/ftgo/ftgo/internal/arch/amd64"
	_ "github.com/ftgo/ftgo/internal/arch/arm64"
	"golang.org/x/sys/unix"
)

// Image is an executable or shared library in an open regular file.
type Image struct {
	ELF *elf.File
	// Processor is the processor that the file is compiled for.
	Processor arch.Processor
	// Description is the file with the symbols and debug information: this file, or a separate one.
	Description *Image

	path  string
	file  *os.File
	stat  unix.Stat_t
	lease *os.File // has the lease of Hold, or is nil
	// maxSize is an upper bound for the size of anything in the file, in bytes. sparse means that the file has holes.
	maxSize     uint64
	sparse      bool
	code        []elf.ProgHeader // the executable PT_LOAD segments; Filesz is the number of bytes in the file
	relocations func() []relocation
}

// Open reads the headers of an open file. path is for error messages. Open returns an error if the file has no
// executable segment.
func Open(f *os.File, path string) (*Image, error) {
	m, err := OpenDescription(f, path)
	if err == nil && len(m.code) == 0 {
		return nil, errors.New("ELF file without an executable segment")
	}
	return m, err
}

// OpenDescription is Open, but also accepts a file without code, such as the output of objcopy --only-keep-debug.
func OpenDescription(f *os.File, path string) (*Image, error) {
	m := &Image{path: path, file: f}
	m.Description = m
	err := m.readStatus()
	if err != nil {
		return nil, err
	}
	if m.ELF, err = parseELF(f, m.maxSize); err != nil {
		return nil, err
	}
	m.Processor = processorOf(m.ELF.Machine)
	m.relocations = sync.OnceValue(m.readRelocations)
	// A file without code may still have the program headers of the file that it describes.
	described := func(s *elf.Section) bool { return s.Flags&elf.SHF_EXECINSTR != 0 && s.Type == elf.SHT_NOBITS }
	if slices.ContainsFunc(m.ELF.Sections, described) {
		return m, nil
	}
	size := uint64(m.stat.Size)
	for _, p := range m.ELF.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Off < size && p.Vaddr+p.Filesz >= p.Vaddr {
			header := p.ProgHeader
			header.Filesz = min(p.Filesz, size-p.Off)
			m.code = append(m.code, header)
		}
	}
	return m, nil
}

func processorOf(m elf.Machine) arch.Processor {
	return arch.Find(func(p arch.Processor) bool { return p.Machine().ELF == m })
}

// processorNames returns the names of all processors, for messages.
func processorNames() string {
	var names []string
	for _, p := range arch.Processors {
		names = append(names, p.Machine().Name)
	}
	return strings.Join(names, " and ")
}

// HasCode reports whether the file contains instructions.
func (m *Image) HasCode() bool { return len(m.code) > 0 }

// DebugSection returns the section .debug_NAME or .zdebug_NAME, or nil.
func (m *Image) DebugSection(name string) *elf.Section {
	return cmp.Or(m.ELF.Section(".debug_"+name), m.ELF.Section(".zdebug_"+name))
}

// HasDebugInfo reports whether the file has a .debug_info section. It does not read the section.
func (m *Image) HasDebugInfo() bool {
	s := m.DebugSection("info")
	return s != nil && s.Type != elf.SHT_NOBITS && s.Size > 0
}

// SameSegments reports whether both files have executable segments of the same addresses and sizes.
func (m *Image) SameSegments(other *Image) bool {
	return slices.EqualFunc(m.code, other.code, func(x, y elf.ProgHeader) bool { return x.Vaddr == y.Vaddr && x.Filesz == y.Filesz })
}

func parseELF(r io.ReaderAt, maxSize uint64) (*elf.File, error) {
	var ident [20]byte
	n, err := r.ReadAt(ident[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	if !bytes.HasPrefix(ident[:n], []byte(elf.ELFMAG)) {
		return nil, errors.New("not an ELF file")
	}
	// Check class and machine first, to distinguish a file for another machine from a damaged one.
	if n < len(ident) {
		return nil, errors.New("truncated ELF file")
	}
	if elf.Class(ident[elf.EI_CLASS]) == elf.ELFCLASS32 {
		return nil, errors.New("32-bit ELF file: only " + processorNames() + " are supported")
	}
	if m := elf.Machine(binary.LittleEndian.Uint16(ident[18:])); processorOf(m) == nil {
		return nil, fmt.Errorf("ELF file for %s: only %s are supported", m, processorNames())
	}
	var ef *elf.File
	if err = checkHeaders(r, maxSize); err == nil {
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

// Segment returns the start and end address and the file offset of the executable segment that contains an address,
// or zeros.
func (m *Image) Segment(addr uint64) (start, end, offset uint64) {
	for _, s := range m.code {
		if addr-s.Vaddr < s.Filesz {
			return s.Vaddr, s.Vaddr + s.Filesz, s.Off
		}
	}
	return 0, 0, 0
}

// FileOffset converts a virtual address to a file offset by the program headers: va - p_vaddr + p_offset (System V
// gABI, chapter 5). It returns an error if the address is in no executable segment.
func (m *Image) FileOffset(addr uint64) (uint64, error) {
	start, end, offset := m.Segment(addr)
	if start == end {
		return 0, fmt.Errorf("address %#x: in no executable segment", addr)
	}
	return addr - start + offset, nil
}

// AddrOf converts a file offset to a virtual address. It is the inverse of FileOffset.
func (m *Image) AddrOf(offset uint64) (uint64, error) {
	for _, s := range m.code {
		if offset >= s.Off && offset-s.Off < s.Filesz {
			return offset - s.Off + s.Vaddr, nil
		}
	}
	return 0, fmt.Errorf("file offset %#x: in no executable segment", offset)
}

// IsCode reports whether [start, end) is not empty and lies in one executable segment.
func (m *Image) IsCode(start, end uint64) bool {
	_, last, _ := m.Segment(start)
	return start < end && end <= last
}

// Contains reports whether [start, end) is not empty and lies in the file contents of one loaded segment.
func (m *Image) Contains(start, end uint64) bool {
	return slices.ContainsFunc(m.ELF.Progs, func(p *elf.Prog) bool {
		return p.Type == elf.PT_LOAD && p.Vaddr <= start && start < end && end-p.Vaddr <= p.Filesz
	})
}

// Loaded reports whether an address is in a loaded segment, code or data.
func (m *Image) Loaded(addr uint64) bool {
	return slices.ContainsFunc(m.ELF.Progs, func(p *elf.Prog) bool {
		return p.Type == elf.PT_LOAD && addr >= p.Vaddr && addr-p.Vaddr < p.Memsz
	})
}

// Relocatable reports whether the load address is chosen at run time: true for position-independent executables and
// shared libraries.
func (m *Image) Relocatable() bool { return m.ELF.Type == elf.ET_DYN }

// InPLT reports whether an address is in the procedure linkage table. A jump there continues in a function of another
// file.
func (m *Image) InPLT(addr uint64) bool {
	return slices.ContainsFunc(m.ELF.Sections, func(s *elf.Section) bool {
		return strings.HasPrefix(s.Name, ".plt") && addr >= s.Addr && addr-s.Addr < s.Size
	})
}

// BeginsInitFini reports whether an address is the start of .init or .fini. Each of these sections is one function
// that the linker concatenates from parts of several files, so neither symbols nor unwind information give its size.
func (m *Image) BeginsInitFini(addr uint64) bool {
	return slices.ContainsFunc(m.ELF.Sections, func(s *elf.Section) bool {
		return (s.Name == ".init" || s.Name == ".fini") && addr == s.Addr && s.Size > 0
	})
}

// MaxCode is an upper bound for the size of a function in bytes. A larger size means a damaged file.
const MaxCode = 16 << 20

// Code returns the bytes of a function. name is for error messages.
func (m *Image) Code(name string, addr, size uint64) ([]byte, error) {
	start, end, offset := m.Segment(addr)
	switch {
	case start == end:
		return nil, fmt.Errorf("%s: in no executable segment", name)
	case end-addr < size:
		return nil, fmt.Errorf("%s: reaches beyond its segment", name)
	case size > MaxCode:
		return nil, fmt.Errorf("%s: %d bytes long: not a function", name, size)
	}
	offset += addr - start
	if m.hasHole(offset, size) {
		return nil, fmt.Errorf("%s: in a hole of the file", name)
	}
	code := make([]byte, size)
	if _, err := m.file.ReadAt(code, int64(offset)); err != nil {
		return nil, fmt.Errorf("read code of %s: %w", name, err)
	}
	return code, nil
}

// Read fills into with the bytes at an address of a loaded segment. It returns false if the file does not have all of
// them.
func (m *Image) Read(addr uint64, into []byte) bool {
	for _, p := range m.ELF.Progs {
		if p.Type != elf.PT_LOAD || addr < p.Vaddr || addr-p.Vaddr >= p.Filesz || p.Filesz-(addr-p.Vaddr) < uint64(len(into)) {
			continue
		}
		_, err := p.ReadAt(into, int64(addr-p.Vaddr))
		return err == nil
	}
	return false
}

const (
	// maxSegments is the limit that Linux has for executables (load_elf_phdrs in fs/binfmt_elf.c).
	maxSegments = 1 << 16 / segmentHeader
	// maxSections is above the number of sections of any valid executable.
	maxSections = 1 << 16
	// maxSectionNames limits the total size of section names in bytes.
	maxSectionNames = 1 << 24

	segmentHeader = 56 // bytes of an Elf64_Phdr
	sectionHeader = 64 // bytes of an Elf64_Shdr
)

// checkHeaders returns an error for headers that would make [elf.NewFile] allocate gigabytes: it reads as many
// headers as the file claims, and copies the name of each section up to its NUL.
func checkHeaders(r io.ReaderAt, maxSize uint64) error {
	var h elf.Header64
	if err := readAt(r, 0, &h); err != nil {
		return err
	}
	if h.Phnum > maxSegments || h.Phnum > 0 && h.Phentsize != segmentHeader {
		return fmt.Errorf("%d program headers of %d bytes", h.Phnum, h.Phentsize)
	}
	count, names := uint64(h.Shnum), uint64(h.Shstrndx)
	if count == 0 && h.Shoff > 0 { // if numbers are too large for h, the first section header has them
		var first elf.Section64
		if err := readAt(r, h.Shoff, &first); err != nil {
			return err
		}
		count = first.Size
		if names == uint64(elf.SHN_XINDEX) {
			names = uint64(first.Link)
		}
	}
	if count == 0 {
		return nil
	}
	if count > maxSections || h.Shentsize != sectionHeader {
		return fmt.Errorf("%d section headers of %d bytes", count, h.Shentsize)
	}
	headers := make([]elf.Section64, count)
	if err := readAt(r, h.Shoff, headers); err != nil {
		return err
	}
	if names == 0 || names >= count {
		return nil // then elf.NewFile reads no names
	}
	table := &headers[names]
	if table.Size > maxSize || elf.SectionFlag(table.Flags)&elf.SHF_COMPRESSED != 0 {
		return fmt.Errorf("%d bytes of section names", table.Size)
	}
	text := make([]byte, table.Size)
	if err := readAt(r, table.Off, text); err != nil {
		return err
	}
	total := 0
	for i := range headers {
		name := text[min(uint64(headers[i].Name), table.Size):]
		if total += max(bytes.IndexByte(name, 0), 0); total > maxSectionNames {
			return fmt.Errorf("%d bytes of section names overlap", table.Size)
		}
	}
	return nil
}

// readAt decodes the little-endian data at an offset.
func readAt(r io.ReaderAt, at uint64, into any) error {
	return binary.Read(io.NewSectionReader(r, int64(at), int64(binary.Size(into))), binary.LittleEndian, into)
}
