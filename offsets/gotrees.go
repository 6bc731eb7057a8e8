package offsets

import (
	"encoding/binary"
	"strings"
)

// inlineTrees returns the address that offsets of inline trees count from since Go
// 1.18: runtime.firstmoduledata.gofunc, 0 if it can't be found or none is needed. The
// part of moduledata around it (runtime/symtab.go) is
//
//	minpc, maxpc, text, …, etypes, rodata, gofunc
//
// and Go 1.20 put covctrs and ecovctrs between.
func (b *Binary) inlineTrees(t *pclntab) uint64 {
	if t.form.oldest < 18 {
		return 0
	}
	gofunc := uint64(304 - 160)
	if t.form.oldest >= 20 {
		gofunc += 16
	}
	minpc, maxpc := t.entry(0), t.entry(t.count)
	var found uint64
	b.image.ScanPointers(minpc, func(at uint64) bool {
		last, _ := b.image.Pointer(at + 8)
		text, _ := b.image.Pointer(at + 16)
		if last == maxpc && text == t.text {
			found, _ = b.image.Pointer(at + gofunc)
		}
		return found == 0
	})
	return found
}

// treeAt is the address of a function's inline tree, 0 for none; table is the offset of the
// table that has it under a number: of addresses, or since Go 1.18 of offsets from base.
func (g *goLines) treeAt(table, funcdata, base uint64) uint64 {
	if g.table.form.oldest < 18 {
		return g.table.number((table+7)&^7+8*funcdata, 8)
	}
	const none = 1<<32 - 1
	at := g.table.number(table+4*funcdata, 4)
	if base == 0 || at == none {
		return 0
	}
	return base + at
}

// treeForm is the form of an inlinedCall, an element of a tree (runtime/symtabinl.go,
// before Go 1.21 runtime/symtab.go): its size and what is where in it.
type treeForm struct{ size, id, name, parent uint64 }

func (g *goLines) treeForm() treeForm {
	if g.table.form.oldest >= 20 {
		return treeForm{16, 0, 4, 8}
	}
	return treeForm{20, 2, 12, 16}
}

// treeEntry is an inlinedCall: what kind of function was called, where its name is, and an
// instruction where the call was, counted from the function's start.
type treeEntry struct {
	id           uint8
	name, parent uint32
}

func (f treeForm) read(entry []byte) treeEntry {
	le := binary.LittleEndian
	return treeEntry{entry[f.id], le.Uint32(entry[f.name:]), le.Uint32(entry[f.parent:])}
}

// calls are the inlined calls of all functions.
func (g *goLines) calls() *inlineIndex {
	g.indexed.Do(func() {
		r := treeReader{
			goLines: g, form: g.treeForm(),
			index:   inlineIndex{byName: make(map[string][]inlineCall)},
			spelled: make(map[uint64]string), budget: 2 * len(g.table.data),
		}
		for i := range g.funcs {
			if f := &g.funcs[i]; f.calls != 0 && r.count <= maxInlined {
				r.add(f)
			}
		}
		r.index.names = r.names.names
		g.index = r.index
	})
	return &g.index
}

// treeReader collects the calls in inline trees.
type treeReader struct {
	*goLines
	form  treeForm
	index inlineIndex
	names nameTable
	count int

	spelled map[uint64]string // names by offset
	budget  int               // of their bytes: they don't overlap, unless damaged
}

// add notes the calls of which a function has instructions: those that the table
// names for an address, and those that these are in.
func (g *treeReader) add(f *goFunc) {
	runs := g.runs(f, f.inlining)
	last := int32(-1)
	for _, r := range runs {
		last = max(last, r.value)
	}
	// Each call is one instruction at least, and each but the innermost has another.
	if last < 0 || uint64(last) >= f.end-f.addr {
		return
	}
	tree := make([]byte, (uint64(last)+1)*g.form.size)
	if !g.binary.image.Read(f.calls, tree) {
		return
	}
	files, lines := g.runs(f, f.files), g.runs(f, f.lines)
	caller := g.names.number(g.funcName(f.name))
	seen := make([]bool, last+1)
	for _, r := range runs {
		for n := r.value; n >= 0 && n <= last && !seen[n]; {
			seen[n] = true
			entry := g.form.read(tree[uint64(n)*g.form.size:])
			callee := g.funcName(g.table.name + uint64(entry.name))
			at := f.addr + uint64(entry.parent)
			file, _ := valueAt(files, at)
			line, _ := valueAt(lines, at)
			c := inlineCall{caller: caller, file: g.names.number(g.fileName(f, file)), line: uint32(max(line, 0))}
			if callee != "" {
				g.index.byName[callee] = append(g.index.byName[callee], c)
				g.count++
			}
			var ok bool
			if n, ok = valueAt(runs, at); !ok {
				break
			}
		}
	}
}

// nameAt is a function's name as .symtab would spell it.
func (g *goLines) nameAt(at uint64) string {
	t := *g.table // whose damage is nobody's
	return strings.ReplaceAll(string(t.text0(at)), "·", ".")
}

// funcName is nameAt, once for each name.
func (g *treeReader) funcName(at uint64) string {
	name, ok := g.spelled[at]
	if !ok && g.budget > 0 {
		name = g.nameAt(at)
		g.budget -= len(name)
		g.spelled[at] = name
	}
	return name
}
