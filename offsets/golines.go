package offsets

import (
	"encoding/binary"
	"sort"
	"sync"
)

// goLines is what Go's own function table says of source lines: without marks of where
// statements begin, but no stripping removes it. Inlined calls are read as Go 1.12 and
// later write them.
type goLines struct {
	binary *Binary
	table  *pclntab
	funcs  []goFunc // by address

	indexed sync.Once
	index   inlineIndex
}

// goFunc is where the table has the lines of a function, as offsets in it: a _func
// (runtime/runtime2.go).
type goFunc struct {
	addr, end       uint64
	name            uint64
	files, lines    uint64 // tables of values by address
	depth           uint64 // the same, of how far SP is from the return address; 0 for none
	id              uint8  // the kind of function: runtime.funcID
	unit            uint64 // the number of its compilation unit's first file, since Go 1.16
	inlining, calls uint64 // which inlined call an address is of; the address of these
}

type lazyTable struct {
	once sync.Once
	goLines
	ok bool
}

// goTable is the function table, nil if the file has none.
func (b *Binary) goTable() *goLines {
	t := &b.source.table
	t.once.Do(func() {
		if p := b.table(); p != nil && b.goVer.Minor > 0 {
			own := *p
			t.binary, t.table = b, &own
			t.ok = t.readFuncs()
		}
	})
	if !t.ok {
		return nil
	}
	return &t.goLines
}

// inlineNumbers are those of the tables of a function that tell of inlined calls
// (internal/abi/symtab.go, before Go 1.21 runtime/symtab.go); not ok where these have no
// instruction of the caller.
func inlineNumbers(minor int) (pcdata, funcdata uint64, ok bool) {
	switch {
	case minor < 12:
		return 0, 0, false
	case minor == 12:
		return 1, 2, true
	case minor < 16:
		return 2, 4, true
	}
	return 2, 3, true
}

func (g *goLines) readFuncs() bool {
	t := g.table
	// A _func begins with the entry; behind startLine, which came with Go 1.20, are
	// four bytes of which the last counts the funcdata.
	// Before Go 1.16 there is no cuOffset before these four.
	entry, end := t.form.field, t.form.field+36
	funcs, pcs := uint64(0), uint64(0)
	switch {
	case t.form.cus == 0:
		end -= 4
	case t.form.oldest >= 20:
		end += 4
	}
	if t.form.cus != 0 {
		funcs, pcs = t.word(t.form.funcs), t.word(t.form.pcs)
	}
	pcdata, funcdata, inlines := inlineNumbers(g.binary.goVer.Minor)
	base := g.binary.inlineTrees(t)
	for i := range t.count {
		info := funcs + t.number(t.functab+(2*i+1)*t.form.field, t.form.field)
		f := goFunc{
			addr: t.entry(i), end: t.entry(i + 1),
			name:  t.name + t.number(info+entry, 4),
			files: pcs + t.number(info+entry+16, 4), lines: pcs + t.number(info+entry+20, 4),
		}
		if t.form.cus != 0 {
			f.unit = t.number(info+entry+28, 4)
		}
		if n := t.number(info+entry+12, 4); n != 0 {
			f.depth = pcs + n
		}
		npcdata, kinds := t.number(info+entry+24, 4), t.number(info+end-4, 4)
		nfuncdata := kinds >> 24
		f.id = uint8(kinds)
		if n := info + end + 4*pcdata; inlines && npcdata > pcdata && t.number(n, 4) != 0 {
			f.inlining = pcs + t.number(n, 4)
		}
		if f.inlining != 0 && nfuncdata > funcdata {
			f.calls = g.treeAt(info+end+4*npcdata, funcdata, base)
		}
		if t.damaged || f.end < f.addr || i > 0 && f.addr < g.funcs[i-1].end {
			return false
		}
		g.funcs = append(g.funcs, f)
	}
	return true
}

// goRun is the instructions from an address up to another, for which a table has one
// value.
type goRun struct {
	addr, end uint64
	value     int32
}

// runs decodes the table of values at an offset: pairs of differences, of the value
// (zigzag, from -1 on) and of the address, up to a 0 (runtime/symtab.go, step).
func (g *goLines) runs(f *goFunc, at uint64) []goRun {
	var runs []goRun
	value, addr := int32(-1), f.addr
	for at < uint64(len(g.table.data)) && addr < f.end {
		v, n := binary.Uvarint(g.table.data[at:])
		if n <= 0 || v == 0 && addr > f.addr {
			break
		}
		at += uint64(n)
		size, n := binary.Uvarint(g.table.data[at:])
		if n <= 0 || size == 0 {
			break
		}
		at += uint64(n)
		value += int32(v>>1) ^ -int32(v&1)
		end := min(addr+size*g.table.quantum, f.end)
		if end <= addr {
			break
		}
		runs = append(runs, goRun{addr, end, value})
		addr = end
	}
	return runs
}

func valueAt(runs []goRun, addr uint64) (value int32, ok bool) {
	i := sort.Search(len(runs), func(i int) bool { return runs[i].addr > addr }) - 1
	if i < 0 || addr >= runs[i].end {
		return 0, false
	}
	return runs[i].value, true
}

// fileName is the name of a file by its number in the unit of a function.
func (g *goLines) fileName(f *goFunc, number int32) string {
	t := *g.table // whose damage is nobody's
	if number < 0 {
		return ""
	}
	var name []byte
	if t.form.cus == 0 {
		// The table of files is where the word behind the functions says: their number,
		// and the places of their names.
		files := t.number(t.functab+(2*t.count+1)*t.form.field, 4)
		if number == 0 || uint64(number) >= t.number(files, 4) {
			return ""
		}
		name = t.text0(t.number(files+4*uint64(number), 4))
	} else {
		const none = 1<<32 - 1
		at := t.number(t.word(t.form.cus)+4*(f.unit+uint64(number)), 4)
		if at == none {
			return ""
		}
		name = t.text0(t.word(t.form.files) + at)
	}
	if t.damaged {
		return ""
	}
	return string(name)
}

func (g *goLines) funcAt(addr uint64) *goFunc {
	i := sort.Search(len(g.funcs), func(i int) bool { return g.funcs[i].addr > addr }) - 1
	if i < 0 || addr >= g.funcs[i].end {
		return nil
	}
	return &g.funcs[i]
}

func (g *goLines) position(addr uint64) (file string, line int, ok bool) {
	f := g.funcAt(addr)
	if f == nil {
		return "", 0, false
	}
	number, _ := valueAt(g.runs(f, f.files), addr)
	n, found := valueAt(g.runs(f, f.lines), addr)
	file = g.fileName(f, number)
	return file, int(n), found && n > 0 && file != ""
}

func (g *goLines) codeLines(match func(file string) bool) ([]codeLine, error) {
	type unitFile struct {
		unit   uint64
		number int32
	}
	names := make(map[unitFile]string) // that match, "" if not
	var lines []codeLine
	for i := range g.funcs {
		f := &g.funcs[i]
		var inLines []goRun
		for _, run := range g.runs(f, f.files) {
			key := unitFile{f.unit, run.value}
			name, known := names[key]
			if !known {
				if name = g.fileName(f, run.value); !match(name) {
					name = ""
				}
				names[key] = name
			}
			if name == "" {
				continue
			}
			if inLines == nil {
				inLines = g.runs(f, f.lines)
			}
			for _, l := range inLines {
				if l.end > run.addr && l.addr < run.end && l.value > 0 {
					lines = append(lines, codeLine{addr: max(l.addr, run.addr), file: name, line: int(l.value)})
				}
			}
		}
	}
	return lines, nil
}

func (g *goLines) copies(addrs []uint64) ([]uint64, error) {
	numbers := make([]uint64, len(addrs))
	for i, addr := range addrs {
		f := g.funcAt(addr)
		if f == nil || f.inlining == 0 {
			continue
		}
		if n, ok := valueAt(g.runs(f, f.inlining), addr); ok && n >= 0 {
			numbers[i] = uint64(n) + 1
		}
	}
	return numbers, nil
}
