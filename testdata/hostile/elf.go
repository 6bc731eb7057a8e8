// Package hostile makes files that nobody should have to read: damaged ones, and those that
// claim more than they hold. Each is the same in every run.
package hostile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
)

// File is what a file has to begin with, and how long it is: the rest is a hole.
type File struct {
	Data []byte
	Size int64
}

// Write makes the file.
func (f File) Write(path string) error {
	if err := os.WriteFile(path, f.Data, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, max(f.Size, int64(len(f.Data))))
}

// Section is a section of a file that is made from nothing.
type Section struct {
	elf.Section64
	Name string
	Data []byte
}

// Symbol is a function of one.
type Symbol struct {
	Name       uint32
	Addr, Size uint64
}

// Base is the address where such files are loaded, all in one segment, and Text that of
// their code.
const (
	Base = 0x400000
	Text = Base + headers
)

const headers = 64 + 2*56

// ELF is a file whose code is text and which has sections, the sizes and flags of which are
// what they say; a size of 0 is that of the data.
func ELF(text []byte, sections ...Section) []byte {
	all := append([]Section{{}, {
		Name: ".text", Data: text,
		Section64: elf.Section64{Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: Text},
	}}, sections...)
	names := []byte{0}
	for i := range all {
		all[i].Section64.Name = uint32(len(names))
		names = append(append(names, all[i].Name...), 0)
	}
	all = append(all, Section{Data: names, Section64: elf.Section64{Type: uint32(elf.SHT_STRTAB)}})
	body := make([]byte, headers)
	for i := range all {
		s := &all[i]
		s.Off = uint64(len(body))
		if s.Section64.Size == 0 {
			s.Section64.Size = uint64(len(s.Data))
		}
		body = append(body, s.Data...)
		body = append(body, make([]byte, -len(body)&7)...)
	}
	h := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Entry: Text, Phoff: 64, Shoff: uint64(len(body)),
		Ehsize: 64, Phentsize: 56, Phnum: 2, Shentsize: 64, Shnum: uint16(len(all)), Shstrndx: uint16(len(all) - 1),
	}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	size := uint64(len(body))
	load := elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_X | elf.PF_R), Vaddr: Base, Filesz: size, Memsz: size, Align: 4096}
	var out bytes.Buffer
	put(&out, h, load, elf.Prog64{})
	out.Write(body[headers:])
	for i := range all {
		put(&out, all[i].Section64)
	}
	return out.Bytes()
}

func put(out *bytes.Buffer, values ...any) {
	for _, v := range values {
		binary.Write(out, binary.LittleEndian, v) // which can't fail
	}
}

// SymbolTable is .symtab, the third section of a file, and .strtab behind it.
func SymbolTable(names []byte, symbols []Symbol) []Section {
	var table bytes.Buffer
	put(&table, elf.Sym64{})
	for _, s := range symbols {
		put(&table, elf.Sym64{Name: s.Name, Info: byte(elf.STB_GLOBAL)<<4 | byte(elf.STT_FUNC), Shndx: 1, Value: s.Addr, Size: s.Size})
	}
	return []Section{
		{Name: ".symtab", Data: table.Bytes(), Section64: elf.Section64{Type: uint32(elf.SHT_SYMTAB), Link: 3, Entsize: elf.Sym64Size}},
		{Name: ".strtab", Data: names, Section64: elf.Section64{Type: uint32(elf.SHT_STRTAB)}},
	}
}
