package offsets

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// seedELF is a small valid file: header, one executable segment, .text, symbols.
func seedELF() []byte {
	var b bytes.Buffer
	code := []byte{0x55, 0xc3, 0x90, 0xc3}
	const base, headers = 0x400000, 64 + 56
	names := "\x00.text\x00.symtab\x00.strtab\x00f\x00g\x00"
	symOff := headers + len(code)
	strOff := symOff + 3*24
	shOff := strOff + len(names)
	h := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Shoff: uint64(shOff),
		Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64, Shnum: 4, Shstrndx: 3,
	}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	le := binary.LittleEndian
	binary.Write(&b, le, h)
	binary.Write(&b, le, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_X | elf.PF_R), Vaddr: base, Filesz: uint64(symOff), Memsz: uint64(symOff), Align: 4096})
	b.Write(code)
	binary.Write(&b, le, elf.Sym64{})
	binary.Write(&b, le, elf.Sym64{Name: 23, Info: byte(elf.STT_FUNC), Shndx: 1, Value: base + headers, Size: 2})
	binary.Write(&b, le, elf.Sym64{Name: 25, Info: byte(elf.STT_FUNC), Shndx: 1, Value: base + headers + 2, Size: 2})
	b.WriteString(names)
	binary.Write(&b, le, elf.Section64{})
	binary.Write(&b, le, elf.Section64{Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: base + headers, Off: headers, Size: uint64(len(code))})
	binary.Write(&b, le, elf.Section64{Name: 7, Type: uint32(elf.SHT_SYMTAB), Off: uint64(symOff), Size: 72, Link: 3, Entsize: 24})
	binary.Write(&b, le, elf.Section64{Name: 15, Type: uint32(elf.SHT_STRTAB), Off: uint64(strOff), Size: uint64(len(names))})
	return b.Bytes()
}

func TestSeedELF(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seed")
	fixture.NoError(t, os.WriteFile(path, seedELF(), 0o644))
	b, err := Open(path)
	fixture.NoError(t, err)
	defer b.Close()
	var names []string
	for _, f := range b.Funcs() {
		names = append(names, fmt.Sprintf("%s@%#x+%d", f.Name, f.Addr, f.Size))
	}
	if got := strings.Join(names, " "); got != "f@0x400078+2 g@0x40007a+2" {
		t.Errorf("functions %s", got)
	}
}

// FuzzOpen: no file makes the reader panic, and no site is outside of a segment that
// is executable.
func FuzzOpen(f *testing.F) {
	f.Add(seedELF())
	f.Add([]byte("\x7fELF"))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(dir, fmt.Sprint(os.Getpid()))
		fixture.NoError(t, os.WriteFile(path, data, 0o644))
		b, err := Open(path)
		if err != nil {
			if !strings.HasPrefix(err.Error(), path+": ") {
				t.Errorf("error %q does not begin with the path", err)
			}
			return
		}
		defer b.Close()
		b.Internals().Layout()
		b.Inlined()
		b.Internals().Frames(b.Funcs()[0].Addr)
		b.Internals().LinkAt(b.Funcs()[0].Addr)
		b.File().BuildID()
		for i := range b.Funcs() {
			fn := &b.Funcs()[i]
			b.Signature(fn)
			s, err := b.Sites(fn)
			if err != nil {
				continue
			}
			for _, site := range slices.Concat(begins(s), s.Returns, s.Tails) {
				off, err := b.File().FileOffset(site.Addr())
				if err != nil || off != site.Offset() || off >= uint64(len(data)) {
					t.Errorf("%s: site at %#x, file offset %#x: %v", fn.Name, site.Addr(), site.Offset(), err)
				}
			}
		}
	})
}
