package hostile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"
)

// Mutator damages copies of a sound file.
type Mutator struct {
	seed     []byte
	sections []*elf.Section
	// Where the headers of sections and segments are.
	shoff, phoff, shnum, phnum int
}

// NewMutator reads the headers of the file.
func NewMutator(seed []byte) (*Mutator, error) {
	ef, err := elf.NewFile(bytes.NewReader(seed))
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	return &Mutator{
		seed: seed, sections: ef.Sections,
		phoff: int(le.Uint64(seed[32:])), shoff: int(le.Uint64(seed[40:])),
		phnum: len(ef.Progs), shnum: len(ef.Sections),
	}, nil
}

// Mutant damages the seed in one to four ways. Mutant n is the same in every run.
func (m *Mutator) Mutant(n int) []byte {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	data := bytes.Clone(m.seed)
	for range 1 + r.IntN(4) {
		switch r.IntN(12) {
		case 0:
			m.number(r, data, 16, 64-16) // ELF header
		case 1, 2:
			if m.phnum > 0 {
				m.number(r, data, m.phoff+56*r.IntN(m.phnum), 56)
			}
		case 3, 4:
			if m.shnum > 0 {
				m.number(r, data, m.shoff+64*r.IntN(m.shnum), 64)
			}
		case 5:
			m.Damage(r, data, ".symtab", ".dynsym", ".strtab", ".dynstr", ".shstrtab", ".rela.dyn", ".dynamic")
		case 6, 7:
			m.Damage(r, data, ".gopclntab", ".data.rel.ro.gopclntab", ".go.module", ".data", ".go.buildinfo", ".rodata")
		case 8:
			m.Damage(r, data, ".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_addr",
				".debug_rnglists", ".debug_ranges", ".eh_frame", ".zdebug_info", ".zdebug_abbrev")
		case 9:
			m.noise(r, data, 0, len(data))
		case 10: // one block over another
			size := min(1+r.IntN(1<<16), len(data))
			from, to := r.IntN(len(data)-size+1), r.IntN(len(data)-size+1)
			copy(data[to:to+size], m.seed[from:])
		case 11: // cut off, but not every twelfth of all
			if r.IntN(4) == 0 {
				return data[:r.IntN(len(data))]
			}
			m.noise(r, data, 0, 4096)
		}
	}
	return data
}

// Damage damages one of the sections that the seed has: mostly near its beginning,
// where headers are.
func (m *Mutator) Damage(r *rand.Rand, data []byte, names ...string) {
	name := names[r.IntN(len(names))]
	for _, s := range m.sections {
		if s.Name != name || s.Type == elf.SHT_NOBITS || s.FileSize == 0 {
			continue
		}
		size := int(s.FileSize)
		if r.IntN(2) == 0 {
			size = min(size, 256)
		}
		if r.IntN(3) == 0 {
			m.noise(r, data, int(s.Offset), size)
		} else {
			m.number(r, data, int(s.Offset), size)
		}
	}
}

// number replaces an aligned number by one that is at a limit, near the old one, or
// anything.
func (m *Mutator) number(r *rand.Rand, data []byte, at, size int) {
	width := []int{1, 2, 4, 4, 8, 8}[r.IntN(6)]
	size = min(size, len(data)-at) // of what a bloated file claims not all is there
	if size < width {
		return
	}
	field := data[at+r.IntN(size/width)*width:][:width]
	var old [8]byte
	copy(old[:], field)
	was := binary.LittleEndian.Uint64(old[:])
	limits := []uint64{0, 1, 2, 7, 0xff, 0xffff, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1, uint64(len(data))}
	value := limits[r.IntN(len(limits))]
	switch r.IntN(3) {
	case 0:
		value = was + uint64(r.IntN(33)) - 16
	case 1:
		value = was ^ 1<<r.IntN(8*width)
	}
	var now [8]byte
	binary.LittleEndian.PutUint64(now[:], value)
	copy(field, now[:])
}

// noise writes random bytes, or a run of one.
func (m *Mutator) noise(r *rand.Rand, data []byte, at, size int) {
	size = min(size, len(data)-at)
	if size <= 0 {
		return
	}
	start := r.IntN(size)
	run := data[at+start : at+min(size, start+1+r.IntN(1<<(1+r.IntN(16))))]
	same := byte(r.IntN(256))
	random := r.IntN(2) == 0
	for i := range run {
		run[i] = same
		if random {
			run[i] = byte(r.IntN(256))
		}
	}
}
