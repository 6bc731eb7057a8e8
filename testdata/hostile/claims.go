package hostile

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// Bloated has the seed claim more than it holds: long sections, or functions that share what
// Go's table tells of them. File n is the same in every run.
func (m *Mutator) Bloated(n int) File {
	r := rand.New(rand.NewPCG(uint64(n), 3))
	f := File{Data: bytes.Clone(m.seed)}
	if r.IntN(2) == 0 && m.share(r, f.Data) {
		return f
	}
	for range 1 + r.IntN(4) {
		header := f.Data[m.shoff+64*r.IntN(m.shnum):]
		claim := size(r) >> r.IntN(4)
		binary.LittleEndian.PutUint64(header[32:], claim)
		if r.IntN(4) > 0 {
			f.Size = max(f.Size, int64(claim+binary.LittleEndian.Uint64(header[24:])))
		}
		if r.IntN(4) == 0 {
			binary.LittleEndian.PutUint64(f.Data[m.phoff+56*r.IntN(m.phnum)+32:], claim)
		}
	}
	return f
}

// share has many functions' entries of Go's table (since Go 1.20) refer to the same name,
// values by address, or the like.
func (m *Mutator) share(r *rand.Rand, data []byte) bool {
	for _, s := range m.sections {
		if s.Name != ".gopclntab" && s.Name != ".data.rel.ro.gopclntab" || s.Offset+s.FileSize > uint64(len(data)) {
			continue
		}
		table := data[s.Offset:][:s.FileSize]
		if table[0] != 0xf1 {
			return false
		}
		le := binary.LittleEndian
		funcs := table[le.Uint64(table[64:]):]
		count := int(le.Uint64(table[8:]))
		at := func(i int) []byte { return funcs[le.Uint32(funcs[8*i+4:]):] }
		field := 4 * []int{1, 4, 5, 6, 8, 11, 12, 13, 14}[r.IntN(9)]
		value := le.Uint32(at(r.IntN(count))[field:])
		if r.IntN(3) == 0 {
			value = uint32(r.IntN(len(table)))
		}
		for i := range count {
			if e := at(i); len(e) >= 64 {
				le.PutUint32(e[field:], value)
			}
		}
		return true
	}
	return false
}
