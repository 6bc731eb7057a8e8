package hostile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// kinds are the ways in which little claims to be much.
var kinds = []struct {
	name string
	make func(r maker) File
}{
	{"overlapping symbols", overlapping},
	{"aliases", aliases},
	{"overlapping names", overlappingNames},
	{"names of C++", mangledNames},
	{"cold parts", coldParts},
	{"overlapping section names", sectionNames},
	{"sparse sections", sparseSections},
	{"sparse headers", sparseHeaders},
	{"segments", segments},
	{"unwind information", unwind},
	{"compressed", compressed},
	{"relocations", relocations},
	{"units", sharedUnits},
	{"nested entries", nestedEntries},
	{"wide entries", wideEntries},
	{"long strings", longStrings},
	{"inlined calls", inlinedCalls},
}

// Kinds is how many kinds of bloated files there are: as many follow each other.
var Kinds = len(kinds)

// Bloated makes a small file that would cost much if it were believed, of code for a processor, by its GOARCH. File n
// is the same in every run. Every other one is damaged, too.
func Bloated(goarch string, n int) (kind string, f File) {
	r := makers[goarch]
	r.Rand = rand.New(rand.NewPCG(uint64(n), 2))
	k := kinds[n%len(kinds)]
	f = k.make(r)
	binary.LittleEndian.PutUint16(f.Data[18:], uint16(r.machine))
	if n/len(kinds)%2 == 1 {
		if m, err := NewMutator(f.Data); err == nil {
			f.Data = m.Mutant(n)
		}
	}
	return k.name, f
}

// some is a number of things: rarely many.
func some(r maker, most int) int { return 1 + r.IntN(1+most>>r.IntN(4)) }

func overlapping(r maker) File {
	text := code(r, some(r, 1<<19))
	names := []byte{0}
	var symbols []Symbol
	step := uint64(1 + r.IntN(32))
	for at := uint64(0); at < uint64(len(text)) && len(symbols) < 20000; at += step {
		symbols = append(symbols, Symbol{uint32(len(names)), Text + at, uint64(len(text)) - at})
		names = fmt.Appendf(names, "f%d\x00", at)
	}
	return File{Data: ELF(text, SymbolTable(names, symbols)...)}
}

func aliases(r maker) File {
	text := code(r, 64)
	names := []byte{0}
	var symbols []Symbol
	for i := range some(r, 40000) {
		symbols = append(symbols, Symbol{uint32(len(names)), Text + uint64(i)/uint64(1+r.IntN(40000)), 8})
		names = fmt.Appendf(names, "alias%d\x00", r.IntN(30000))
	}
	return File{Data: ELF(text, SymbolTable(names, symbols)...)}
}

func overlappingNames(r maker) File {
	text := code(r, 1<<16)
	names := bytes.Repeat([]byte{byte('a' + r.IntN(26))}, some(r, 1<<18))
	names[0] = 0
	if r.IntN(2) == 0 {
		names = append(names, 0)
	}
	var symbols []Symbol
	for i := range some(r, 40000) {
		symbols = append(symbols, Symbol{uint32(1 + i%len(names)), Text + uint64(i), 4})
	}
	return File{Data: ELF(text, SymbolTable(names, symbols)...)}
}

// mangledNames refer to their own beginnings, again and again.
func mangledNames(r maker) File {
	text := code(r, 1<<16)
	names := []byte{0}
	var symbols []Symbol
	pieces := []string{"S_", "S0_", "S1_", "S2_", "S3_", "I", "E", "N", "3abc", "P", "K", "R", "T_", "F", "v", "Dp", "J", "1aIiE", "L", "X", "_Z", "St", "C1", "D0", "O", "A3_"}
	for i := range some(r, 8000) {
		name := []byte("_ZN1aI1bI1cEE1d")
		if r.IntN(4) == 0 {
			name = []byte("_RNv")
		}
		for range some(r, 200) {
			name = append(name, pieces[r.IntN(len(pieces))]...)
		}
		if r.IntN(3) == 0 {
			name = append(append([]byte("_Z1fI1a"), bytes.Repeat([]byte("NS_IS0_S1_E"), some(r, 100))...), "Evv"...)
		}
		if r.IntN(5) == 0 {
			name = append(name, bytes.Repeat([]byte(".1.2"), some(r, 500))...)
		}
		symbols = append(symbols, Symbol{uint32(len(names)), Text + uint64(i*4), 4})
		names = append(append(names, name...), 0)
	}
	return File{Data: ELF(text, SymbolTable(names, symbols)...)}
}

func coldParts(r maker) File {
	n := some(r, 5000)
	var text []byte
	names := []byte{0}
	var symbols []Symbol
	for i := range n {
		at := len(text)
		for range r.IntN(80) { // jumps to others
			text = append(text, r.jump((r.IntN(n)-i)*64)...)
		}
		text = append(text, r.returns...)
		symbols = append(symbols, Symbol{uint32(len(names)), Text + uint64(at), uint64(len(text) - at)})
		names = fmt.Appendf(names, "f%d%s\x00", i/2, []string{"", ".cold"}[i%2])
	}
	return File{Data: ELF(text, SymbolTable(names, symbols)...)}
}

func sectionNames(r maker) File {
	sections := make([]Section, some(r, 4000))
	long := bytes.Repeat([]byte{'s'}, some(r, 1<<18))
	sections[0].Name = string(long)
	data := ELF(code(r, 64), sections...)
	at := shoff(data)
	for i := range len(sections) {
		binary.LittleEndian.PutUint32(data[at+64*(i+2):], uint32(8+r.IntN(len(long))))
	}
	return File{Data: data}
}

func shoff(data []byte) int { return int(binary.LittleEndian.Uint64(data[40:])) }

// sizes are what nothing has.
var sizes = []uint64{1 << 20, 1 << 28, 2 << 30, 50 << 30, 1 << 40}

func size(r interface{ IntN(n int) int }) uint64 { return sizes[r.IntN(len(sizes))] }

var sectionKinds = []string{
	".symtab", ".dynsym", ".strtab", ".eh_frame", ".gopclntab", ".data.rel.ro.gopclntab", ".go.buildinfo", ".note.go.buildid",
	".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_ranges", ".debug_loc", ".zdebug_info", ".debug_line_str",
}

func sparseSections(r maker) File {
	text := code(r, some(r, 1<<12))
	sections := SymbolTable([]byte("\x00f\x00"), []Symbol{{1, Text, uint64(len(text))}, {1, Text + 1<<20, size(r)}})
	for range 1 + r.IntN(8) {
		s := Section{Name: sectionKinds[r.IntN(len(sectionKinds))], Data: []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8, 255, 255}}
		s.Type = []uint32{uint32(elf.SHT_PROGBITS), uint32(elf.SHT_NOTE), uint32(elf.SHT_DYNSYM)}[r.IntN(3)]
		sections = append(sections, s)
	}
	for i := range sections {
		if r.IntN(2) == 0 {
			sections[i].Section64.Size = size(r) / 24 * 24
		}
	}
	f := File{ELF(text, sections...), int64(2 * size(r))}
	segment(f.Data, uint64(f.Size))
	return f
}

// segment makes the code's segment so long.
func segment(data []byte, size uint64) {
	binary.LittleEndian.PutUint64(data[64+32:], size)
	binary.LittleEndian.PutUint64(data[64+40:], size)
}

func sparseHeaders(r maker) File {
	data := ELF(code(r, 64))
	le := binary.LittleEndian
	switch r.IntN(4) {
	case 0: // as many as the first says
		le.PutUint16(data[60:], 0)
		le.PutUint64(data[shoff(data)+32:], size(r))
	case 1:
		le.PutUint16(data[60:], 0xffff)
	case 2:
		le.PutUint16(data[56:], 0xffff)
	case 3: // long ones
		le.PutUint16(data[54+4*r.IntN(2):], 0xffff)
	}
	le.PutUint64(data[len(data)-64+32:], size(r))
	return File{data, int64(size(r))}
}

// segments all cover the whole file.
func segments(r maker) File {
	text := code(r, some(r, 1<<20))
	data := ELF(text, SymbolTable([]byte("\x00f\x00"), []Symbol{{1, Text, uint64(len(text))}})...)
	at, n := len(data), some(r, 1200)
	kinds := []elf.ProgType{elf.PT_LOAD, elf.PT_NOTE, elf.PT_DYNAMIC, elf.PT_INTERP}
	var more bytes.Buffer
	for range n {
		put(&more, elf.Prog64{
			Type: uint32(kinds[r.IntN(len(kinds))]), Flags: uint32(r.IntN(8)), Vaddr: Base + uint64(r.IntN(3))<<12, Filesz: uint64(at), Memsz: uint64(at),
		})
	}
	le := binary.LittleEndian
	le.PutUint64(data[32:], uint64(at))
	le.PutUint16(data[56:], uint16(n))
	return File{Data: append(data, more.Bytes()...)}
}

// unwind is one entry for all code, with a program that is long, or many that overlap.
func unwind(r maker) File {
	text := code(r, 1<<16)
	names := []byte{0}
	var symbols []Symbol
	for i := range some(r, 20000) {
		symbols = append(symbols, Symbol{uint32(len(names)), Text + uint64(i*3), 3})
		names = fmt.Appendf(names, "f%d\x00", i)
	}
	le := binary.LittleEndian
	entry := func(frame []byte, id uint32, body []byte) []byte {
		frame = le.AppendUint32(frame, uint32(4+len(body)))
		return append(le.AppendUint32(frame, id), body...)
	}
	frame := entry(nil, 0, []byte{1, 0, 1, 0x78, 16, 0x0c, 7, 8})
	program := bytes.Repeat([]byte{[]byte{0, 0x0a, 0x0e, 0x40, 0x41, 0x0b}[r.IntN(6)]}, some(r, 1<<19))
	for range some(r, 4) {
		body := le.AppendUint64(nil, Text)
		body = le.AppendUint64(body, uint64(len(text)))
		frame = entry(frame, uint32(len(frame)+4), append(body, program...))
	}
	sections := append(SymbolTable(names, symbols), Section{Name: ".eh_frame", Data: frame, Section64: elf.Section64{Type: uint32(elf.SHT_PROGBITS), Addr: 0x10000000}})
	return File{Data: ELF(text, sections...)}
}

// relocations of symbols, in a shared library.
func relocations(r maker) File {
	var table, dynamic bytes.Buffer
	n := some(r, 40000)
	for i := range n {
		put(&table, elf.Rela64{Off: uint64(r.IntN(1 << 20)), Info: uint64(r.IntN(n))<<32 | uint64(1+7*r.IntN(2)), Addend: int64(i)})
	}
	text := append(code(r, 64), table.Bytes()...)
	put(&dynamic, uint64(elf.DT_RELA), uint64(Text+64), uint64(elf.DT_RELASZ), size(r)>>r.IntN(20), uint64(elf.DT_SYMTAB), uint64(Text), uint64(0), uint64(0))
	data := ELF(append(text, dynamic.Bytes()...), SymbolTable([]byte("\x00f\x00"), []Symbol{{1, Text, 64}})...)
	le := binary.LittleEndian
	le.PutUint16(data[16:], uint16(elf.ET_DYN))
	second := data[64+56:]
	le.PutUint32(second, uint32(elf.PT_DYNAMIC))
	le.PutUint64(second[8:], uint64(headers+len(text)))
	le.PutUint64(second[32:], uint64(dynamic.Len()))
	return File{Data: data}
}
