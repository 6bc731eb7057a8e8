package gotab

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// Funcs are the functions of Go's table by address.
type Funcs struct {
	List  []Func
	Names []string // of them, if they were read
	end   uint64   // of the last
	next  int      // that is asked for next if somebody goes through all
}

// Func is a function of the table. Padding behind it is included: it ends where the next
// one begins.
type Func struct {
	Addr uint64
	// Size is without padding, at most [image.MaxCode]; 0 if that is not told.
	Size uint32
	// Asm: written in assembly. Never set before Go 1.16.
	Asm bool
	// InSymtab is for who reads .symtab: it names the function.
	InSymtab bool
}

// End is where function i ends.
func (fs *Funcs) End(i int) uint64 {
	if i+1 < len(fs.List) {
		return fs.List[i+1].Addr
	}
	return fs.end
}

// At is the number of the function that begins at an address, -1 if none does.
func (fs *Funcs) At(addr uint64) int {
	i := fs.next
	if i >= len(fs.List) || fs.List[i].Addr != addr {
		var ok bool
		i, ok = slices.BinarySearchFunc(fs.List, addr, func(f Func, addr uint64) int { return cmp.Compare(f.Addr, addr) })
		if !ok {
			return -1
		}
	}
	fs.next = i + 1
	return i
}

// Funcs lists the functions of the table; none if there is no table, or a damaged one. Their
// names are read only if .symtab does not have them, and what is not needed of a large
// table is not read at all.
func (g *Tables) Funcs() *Funcs {
	t := g.opened
	if t == nil || g.Version.Minor == 0 {
		return &Funcs{}
	}
	if (t.form.oldest < 18 || g.image.ELF.SectionByType(elf.SHT_SYMTAB) == nil) && !t.load() {
		return &Funcs{}
	}
	funcs, err := t.list()
	if err != nil {
		return &Funcs{}
	}
	for i := range funcs.List {
		if !g.image.IsCode(funcs.List[i].Addr, funcs.End(i)) {
			return &Funcs{}
		}
	}
	return funcs
}

// WithNames is fs with names; ok is false if the table can't be read.
func (g *Tables) WithNames(fs *Funcs) (named *Funcs, ok bool) {
	if fs.Names != nil {
		return fs, true
	}
	if !g.opened.load() {
		return nil, false
	}
	named = g.Funcs()
	for i := range named.List {
		named.List[i].InSymtab = fs.List[i].InSymtab
	}
	return named, true
}

// list lists the functions by ascending address, names as they are spelled there. Of a table
// that is read in pieces there are neither names nor sizes.
func (t *table) list() (*Funcs, error) {
	fs := &Funcs{List: make([]Func, 0, t.count)}
	// Names don't overlap, so that all of them are no longer than the table, but
	// functions of one name may share it.
	left := 2 * len(t.data)
	var names strings.Builder // one text that all names are parts of
	var ends []int
	if t.data != nil {
		ends, fs.Names = make([]int, 0, t.count), make([]string, 0, t.count)
		names.Grow(min(32*int(t.count), len(t.data))) // as most are that long
	}
	fs.end = t.entry(0)
	for i := range t.count {
		f := t.functionFrom(fs.end, i)
		fs.end = f.end
		var name []byte
		if t.data != nil {
			name = f.name()
			left -= len(name)
		}
		if t.damaged || f.end < f.addr || left < 0 || t.data != nil && len(name) == 0 {
			return nil, fmt.Errorf("%w: function %d of %d", errTable, i, t.count)
		}
		if f.end == f.addr {
			continue
		}
		known := Func{Addr: f.addr, Asm: f.assembly()}
		if t.data != nil {
			names.Write(name)
			ends = append(ends, names.Len())
			known.Size = f.codeSize()
		}
		fs.List = append(fs.List, known)
	}
	start := 0
	for _, end := range ends {
		fs.Names = append(fs.Names, names.String()[start:end])
		start = end
	}
	return fs, nil
}

// codeSize is how many bytes the table of stack depths covers: the linker puts padding behind
// (cmd/internal/obj/pcln.go, funcpctab); 0 if there is none.
func (f function) codeSize() (all uint32) {
	for at, first := f.table(wordSP), true; ; first = false {
		_, size, next := f.t.step(at, first)
		switch {
		case next == 0 || size > uint64(image.MaxCode-all):
			return 0
		case size == 0:
			return all
		}
		at, all = next, all+uint32(size)
	}
}
