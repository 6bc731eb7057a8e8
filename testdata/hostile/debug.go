package hostile

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"slices"
	"sync"
)

// zeros are a gigabyte of them, as zlib has them.
var zeros = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	block := make([]byte, 1<<20)
	for range 256 {
		w.Write(block) // which can't fail
	}
	w.Close()
	return b.Bytes()
})

// zstdZeros is a frame of so many megabytes of zeros in blocks of four bytes each (RFC 8878).
func zstdZeros(megabytes int) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58} // a window of 2 MiB
	const runLength, last, size = 1 << 1, 1, 128 << 10
	for i := range 8 * megabytes {
		header := uint32(size<<3 | runLength)
		if i == 8*megabytes-1 {
			header |= last
		}
		b = append(b, byte(header), byte(header>>8), byte(header>>16), 0)
	}
	return b
}

func compressed(r maker) File {
	text := code(r, 256)
	sections := SymbolTable([]byte("\x00f\x00"), []Symbol{{1, Text, 256}})
	for _, name := range []string{"abbrev", "info", "line", "str", "ranges"} {
		claim := size(r) >> r.IntN(6)
		stream, kind := zeros(), elf.COMPRESS_ZLIB
		if r.IntN(2) == 0 {
			stream, kind = zstdZeros(1<<r.IntN(12)), elf.COMPRESS_ZSTD
		}
		s := Section{Name: ".debug_" + name, Section64: elf.Section64{Type: uint32(elf.SHT_PROGBITS)}}
		if r.IntN(3) == 0 {
			s.Name = ".zdebug_" + name
			s.Data = append(binary.BigEndian.AppendUint64([]byte("ZLIB"), claim), zeros()...)
		} else {
			var b bytes.Buffer
			put(&b, elf.Chdr64{Type: uint32(kind), Size: claim, Addralign: 1})
			s.Data = append(b.Bytes(), stream...)
			s.Flags = uint64(elf.SHF_COMPRESSED)
		}
		sections = append(sections, s)
	}
	return File{Data: ELF(text, sections...)}
}

// Codes of DWARF 4, 7.5.
const (
	tagArray, tagUnit, tagStruct, tagMember, tagPointer = 0x01, 0x11, 0x13, 0x0d, 0x0f
	tagSubprogram, tagInlined, tagBlock, tagParameter   = 0x2e, 0x1d, 0x0b, 0x05

	atName, atStmtList, atLow, atHigh, atRanges = 0x03, 0x10, 0x11, 0x12, 0x55
	atOrigin, atType, atCallFile, atCallLine    = 0x31, 0x49, 0x58, 0x59
	atLanguage, languageGo                      = 0x13, 0x16

	formAddr, formU8, formString, formRef, formStrp = 0x01, 0x0b, 0x08, 0x13, 0x0e
	formOffset, formPresent                         = 0x17, 0x19
)

// abbrev describes entries of a code. A unit has a language first.
func abbrev(b []byte, code, tag byte, children bool, attrs ...byte) []byte {
	if tag == tagUnit {
		attrs = append([]byte{atLanguage, formU8}, attrs...)
	}
	b = append(b, code, tag, 0)
	if children {
		b[len(b)-1] = 1
	}
	return append(append(b, attrs...), 0, 0)
}

// unit puts a header before entries, and Go as the language into the first one.
func unit(info []byte, abbrevs uint32, entries []byte) []byte {
	le := binary.LittleEndian
	entries = slices.Insert(entries, 1, languageGo)
	info = le.AppendUint32(info, uint32(7+len(entries)))
	info = le.AppendUint16(info, 4)
	info = le.AppendUint32(info, abbrevs)
	return append(append(info, 8), entries...)
}

// debugFile is a file with a hundred functions and debug information.
func debugFile(r maker, debug map[string][]byte) File {
	text := bytes.Repeat(append(bytes.Repeat(r.nop, 4/len(r.nop)-1), r.returns...), 100)
	names := []byte("\x00f\x00")
	var symbols []Symbol
	for i := range 100 {
		symbols = append(symbols, Symbol{1, Text + uint64(4*i), 4})
	}
	sections := SymbolTable(names, symbols)
	for _, name := range []string{"abbrev", "info", "line", "str", "ranges"} {
		sections = append(sections, Section{Name: ".debug_" + name, Data: debug[name], Section64: elf.Section64{Type: uint32(elf.SHT_PROGBITS)}})
	}
	return File{Data: ELF(text, sections...)}
}

// lines is a line table: many files in the header, and many rows.
func lines(files, rows int) []byte {
	le := binary.LittleEndian
	header := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0}
	for range files {
		header = append(header, 'f', 0, 0, 0, 0)
	}
	header = append(header, 0)
	program := le.AppendUint64([]byte{0, 9, 2}, Text)
	program = append(program, bytes.Repeat([]byte{1}, rows)...)
	program = append(program, 2, 4, 0, 1, 1)
	b := le.AppendUint32(nil, uint32(6+len(header)+len(program)))
	b = le.AppendUint16(b, 3)
	b = le.AppendUint32(b, uint32(len(header)))
	return append(append(b, header...), program...)
}

// sharedUnits are many that share abbreviations, addresses and a line table, which are long.
func sharedUnits(r maker) File {
	le := binary.LittleEndian
	var abbrevs, info, ranges []byte
	abbrevs = abbrev(abbrevs, 1, tagUnit, false, atStmtList, formOffset, atRanges, formOffset, atName, formStrp)
	for range some(r, 20000) { // unused
		abbrevs = abbrev(abbrevs, byte(2+r.IntN(100)), tagBlock, false)
	}
	abbrevs = append(abbrevs, 0)
	for i := range some(r, 20000) {
		ranges = le.AppendUint64(ranges, uint64(Text+i%100*4))
		ranges = le.AppendUint64(ranges, uint64(Text+i%100*4+4))
	}
	ranges = append(ranges, make([]byte, 16)...)
	for range some(r, 10000) {
		e := le.AppendUint32([]byte{1}, 0)
		e = le.AppendUint32(e, uint32(r.IntN(len(ranges)/16)*16))
		e = le.AppendUint32(e, 0)
		at := uint32(0)
		if r.IntN(2) == 0 { // another table, if it were one
			at = uint32(13 + 5*r.IntN((len(abbrevs)-13)/5))
		}
		info = unit(info, at, e)
	}
	return debugFile(r, map[string][]byte{
		"abbrev": abbrevs, "info": info, "ranges": ranges, "str": []byte("unit\x00"), "line": lines(some(r, 20000), some(r, 1<<18)),
	})
}

// nestedEntries are in each other, deeper than any stack.
func nestedEntries(r maker) File {
	tag := []byte{tagBlock, tagStruct, tagInlined, tagSubprogram, tagArray}[r.IntN(5)]
	abbrevs := abbrev(nil, 1, tagUnit, true)
	abbrevs = append(abbrev(abbrevs, 2, tag, true), 0)
	entries := append([]byte{1}, bytes.Repeat([]byte{2}, some(r, 1<<22))...)
	return debugFile(r, map[string][]byte{"abbrev": abbrevs, "info": unit(nil, 0, entries)})
}

// wideEntries are of one byte and have thousands of attributes.
func wideEntries(r maker) File {
	var attrs []byte
	for range some(r, 20000) {
		attrs = append(attrs, byte(0x60+r.IntN(16)), formPresent)
	}
	tag := []byte{tagBlock, tagStruct, tagInlined, tagSubprogram}[r.IntN(4)]
	abbrevs := abbrev(nil, 1, tagUnit, true)
	abbrevs = append(abbrev(abbrevs, 2, tag, false, attrs...), 0)
	entries := append([]byte{1}, bytes.Repeat([]byte{2}, some(r, 1<<18))...)
	return debugFile(r, map[string][]byte{"abbrev": abbrevs, "info": unit(nil, 0, entries)})
}

// longStrings are one that all entries have.
func longStrings(r maker) File {
	tag := []byte{tagBlock, tagStruct, tagInlined, tagSubprogram, tagMember}[r.IntN(5)]
	abbrevs := abbrev(nil, 1, tagUnit, true)
	abbrevs = append(abbrev(abbrevs, 2, tag, false, atName, formStrp), 0)
	entries := append([]byte{1}, bytes.Repeat([]byte{2, 0, 0, 0, 0}, some(r, 1<<16))...)
	text := append(bytes.Repeat([]byte{'s'}, some(r, 1<<20)), 0)
	return debugFile(r, map[string][]byte{"abbrev": abbrevs, "info": unit(nil, 0, entries), "str": text})
}

// inlinedCalls are functions with types that lead to each other, and calls in them.
func inlinedCalls(r maker) File {
	le := binary.LittleEndian
	abbrevs := abbrev(nil, 1, tagUnit, true, atStmtList, formOffset, atLow, formAddr, atHigh, formAddr)
	abbrevs = abbrev(abbrevs, 2, tagSubprogram, true, atName, formString, atLow, formAddr, atHigh, formAddr)
	abbrevs = abbrev(abbrevs, 3, tagInlined, false, atOrigin, formRef, atCallFile, formU8, atCallLine, formU8)
	abbrevs = abbrev(abbrevs, 4, tagParameter, false, atName, formString, atType, formRef)
	abbrevs = abbrev(abbrevs, 5, tagStruct, true, atName, formString)
	abbrevs = abbrev(abbrevs, 6, tagMember, false, atName, formString, atType, formRef)
	abbrevs = append(abbrev(abbrevs, 7, tagPointer, false, atType, formRef), 0)
	var refs []uint32 // where entries are
	entries := le.AppendUint32([]byte{1}, 0)
	entries = le.AppendUint64(entries, Text)
	entries = le.AppendUint64(entries, Text+400)
	ref := func(b []byte) []byte {
		if len(refs) == 0 {
			return le.AppendUint32(b, 11)
		}
		return le.AppendUint32(b, refs[r.IntN(len(refs))])
	}
	for range some(r, 2000) {
		refs = append(refs, uint32(12+len(entries)))
		switch r.IntN(3) {
		case 0:
			entries = append(entries, 5, 's', 0)
			for range some(r, 50) {
				entries = ref(append(entries, 6, 'm', 0))
			}
			entries = append(entries, 0)
		case 1:
			entries = ref(append(entries, 7))
		default:
			at := Text + 4*uint64(r.IntN(100))
			entries = append(entries, 2, 'f', 0)
			entries = le.AppendUint64(entries, at)
			entries = le.AppendUint64(entries, at+4)
			for range some(r, 50) {
				entries = ref(append(entries, 4, 'p', 0))
			}
			for range some(r, 50) {
				entries = append(ref(append(entries, 3)), byte(r.IntN(256)), byte(r.IntN(256)))
			}
			entries = append(entries, 0)
		}
	}
	return debugFile(r, map[string][]byte{"abbrev": abbrevs, "info": unit(nil, 0, append(entries, 0)), "line": lines(some(r, 100), some(r, 1<<16))})
}
