package gotab

import "encoding/binary"

// inlineNumbers are those of the tables of a function that tell of inlined calls
// (internal/abi/symtab.go, before Go 1.21 runtime/symtab.go); not ok where these have no
// instruction of the caller, before Go 1.12.
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

// inlining is where the table is that tells which inlined call an instruction is of, 0 for none.
func (g *Tables) inlining(f function) uint64 {
	pcdata, _, ok := inlineNumbers(g.Version.Minor)
	if !ok {
		return 0
	}
	return f.pcdata(pcdata)
}

// tree is the inlined calls of a function: each is an inlinedCall (runtime/symtabinl.go, before
// Go 1.21 runtime/symtab.go).
type tree struct {
	addr uint64 // 0 for none
	size uint64 // of an element
	// What is where in an element.
	id, name, parent uint64
}

func (g *Tables) tree(f function) tree {
	_, funcdata, ok := inlineNumbers(g.Version.Minor)
	if !ok {
		return tree{}
	}
	t := tree{size: 20, id: 2, name: 12, parent: 16}
	if f.t.form.oldest >= 20 {
		t = tree{size: 16, id: 0, name: 4, parent: 8}
	}
	var base uint64
	if f.t.form.oldest >= 18 {
		base = g.module().gofunc
	}
	t.addr = f.funcdata(funcdata, base)
	return t
}

// inlined is an inlined call: what kind of function was called, where its name is, and an
// instruction where the call was, counted from the function's start.
type inlined struct {
	id           uint8
	name, parent uint32
}

func (t tree) read(element []byte) inlined {
	le := binary.LittleEndian
	return inlined{element[t.id], le.Uint32(element[t.name:]), le.Uint32(element[t.parent:])}
}

// MaxInlined limits how many inlined calls are told of a file that repeats what takes few bytes.
const MaxInlined = 1 << 22

// Calls calls found with the inlined calls of all functions, as Go 1.12 and later tell them:
// whose code one became part of, and where the source has it.
func (g *Tables) Calls(found func(callee, caller, file string, line int)) {
	r := treeReader{Tables: g, spelled: make(map[uint64]string), found: found}
	g.each(func(f function) {
		if tree, at := g.tree(f), g.inlining(f); tree.addr != 0 && at != 0 && r.count <= MaxInlined {
			r.add(f, tree, at)
		}
	})
}

// treeReader collects the calls in inline trees.
type treeReader struct {
	*Tables
	found func(callee, caller, file string, line int)
	count int

	spelled map[uint64]string // names by offset
	spent   int               // their bytes: names don't overlap, unless damaged
}

// add tells the calls of which a function has instructions: those that the table
// names for an address, and those that these are in.
func (r *treeReader) add(f function, tree tree, at uint64) {
	runs := f.runs(at)
	last := int32(-1)
	for _, of := range runs {
		last = max(last, of.value)
	}
	// Each call is one instruction at least, and each but the innermost has another.
	if last < 0 || uint64(last) >= f.end-f.addr {
		return
	}
	elements := make([]byte, (uint64(last)+1)*tree.size)
	if !r.image.Read(tree.addr, elements) {
		return
	}
	files, lines := f.runs(f.table(wordFile)), f.runs(f.table(wordLine))
	caller := r.symbol(f.t, f.word(wordName))
	seen := make([]bool, last+1)
	for _, of := range runs {
		for n := of.value; n >= 0 && n <= last && !seen[n]; {
			seen[n] = true
			c := tree.read(elements[uint64(n)*tree.size:])
			addr := f.addr + uint64(c.parent)
			file, _ := valueAt(files, addr)
			line, _ := valueAt(lines, addr)
			if callee := r.symbol(f.t, uint64(c.name)); callee != "" {
				r.found(callee, caller, string(f.file(file)), int(max(line, 0)))
				r.count++
			}
			var ok bool
			if n, ok = valueAt(runs, addr); !ok {
				break
			}
		}
	}
}

// symbol is a function's name, spelled once.
func (r *treeReader) symbol(t *table, at uint64) string {
	name, ok := r.spelled[at]
	if !ok && r.spent < 2*len(t.data) {
		name = t.symbol(at)
		r.spent += len(name)
		r.spelled[at] = name
	}
	return name
}
