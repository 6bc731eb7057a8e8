package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
)

const (
	// maxSegments is what Linux takes of an executable (load_elf_phdrs in fs/binfmt_elf.c).
	maxSegments = 1 << 16 / segmentHeader
	// maxSections is more than any executable has; what claims more is damaged.
	maxSections = 1 << 16
	// maxSectionNames is how many bytes their names have.
	maxSectionNames = 1 << 24

	segmentHeader = 56 // bytes of an Elf64_Phdr
	sectionHeader = 64 // of an Elf64_Shdr
)

// checkHeaders refuses what [elf.NewFile] would take gigabytes for: it reads as many headers as
// the file claims to have, and copies the name of each section from its first byte to a NUL.
func checkHeaders(r io.ReaderAt, most uint64) error {
	var h elf.Header64
	if err := readAt(r, 0, &h); err != nil {
		return err
	}
	if h.Phnum > maxSegments || h.Phnum > 0 && h.Phentsize != segmentHeader {
		return fmt.Errorf("%d program headers of %d bytes", h.Phnum, h.Phentsize)
	}
	count, names := uint64(h.Shnum), uint64(h.Shstrndx)
	if count == 0 && h.Shoff > 0 { // the first header has numbers that are too large for h
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
		return nil // elf.NewFile reads none
	}
	table := &headers[names]
	if table.Size > most || elf.SectionFlag(table.Flags)&elf.SHF_COMPRESSED != 0 {
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

// readAt reads numbers as they are in the file.
func readAt(r io.ReaderAt, at uint64, into any) error {
	return binary.Read(io.NewSectionReader(r, int64(at), int64(binary.Size(into))), binary.LittleEndian, into)
}
