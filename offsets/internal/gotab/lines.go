package gotab

import "sort"

func valueAt(runs []run, addr uint64) (value int32, ok bool) {
	i := sort.Search(len(runs), func(i int) bool { return runs[i].addr > addr }) - 1
	if i < 0 || addr >= runs[i].end {
		return 0, false
	}
	return runs[i].value, true
}

// Position is the source line of an instruction.
func (g *Tables) Position(addr uint64) (file string, line int, ok bool) {
	f, ok := g.at(addr)
	if !ok {
		return "", 0, false
	}
	number, _ := f.valueAt(f.table(wordFile), addr)
	n, found := f.valueAt(f.table(wordLine), addr)
	file = string(f.file(number))
	return file, int(n), found && n > 0 && file != ""
}

// CodeLines calls found with the address where each run of instructions begins that is of one
// line of a file that matches. There are no marks of where statements begin.
func (g *Tables) CodeLines(match func(file string) bool, found func(addr uint64, file string, line int, stmt bool)) error {
	type unitFile struct {
		unit   uint64
		number int32
	}
	names := make(map[unitFile]string) // that match, "" if not
	g.each(func(f function) {
		var inLines []run
		for _, of := range f.runs(f.table(wordFile)) {
			key := unitFile{f.unit(), of.value}
			name, known := names[key]
			if !known {
				if name = string(f.file(of.value)); !match(name) {
					name = ""
				}
				names[key] = name
			}
			if name == "" {
				continue
			}
			if inLines == nil {
				inLines = f.runs(f.table(wordLine))
			}
			for _, l := range inLines {
				if l.end > of.addr && l.addr < of.end && l.value > 0 {
					found(max(l.addr, of.addr), name, int(l.value), false)
				}
			}
		}
	})
	return nil
}

// Copies tells for each of addrs, by a number that means no more than this, which inlined copy
// of a function it is in; 0 for none.
func (g *Tables) Copies(addrs []uint64) ([]uint64, error) {
	numbers := make([]uint64, len(addrs))
	for i, addr := range addrs {
		if f, ok := g.at(addr); ok {
			if n, ok := f.valueAt(g.inlining(f), addr); ok && n >= 0 {
				numbers[i] = uint64(n) + 1
			}
		}
	}
	return numbers, nil
}

// Depth is how far SP is from the return address at an instruction; known is false if the
// function has no table of that, ok if the table does not tell.
func (g *Tables) Depth(addr uint64) (n uint64, known, ok bool) {
	f, found := g.at(addr)
	if !found || f.table(wordSP) == 0 {
		return 0, false, false
	}
	depth, ok := f.valueAt(f.table(wordSP), addr)
	return uint64(depth), true, ok && depth >= 0
}
