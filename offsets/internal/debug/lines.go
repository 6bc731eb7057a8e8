package debug

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"
)

// lineTable is that of a unit, read when first needed.
type lineTable struct {
	header sync.Once
	files  []string // by number; "" where there is none

	body sync.Once
	rows []lineRow // by address, one each
	err  error
}

// lineRow says what the instructions from an address to that of the next row are of.
type lineRow struct {
	addr uint64
	line int32
	file int32 // in files; -1: there is no code from here on
	stmt bool  // a statement begins here
}

// readLines reads line tables; each is read twice.
func (d *Info) readLines() (*dwarf.Data, error) {
	line, err := d.sections.read("line")
	if err != nil {
		return nil, err
	}
	d.lineFuel.Store(4*int64(len(line)) + 1<<16)
	return d.sections.dwarf("line")
}

// tableLen is the length that the line table at an offset begins with (DWARF 5, 6.2.4).
func tableLen(line []byte, at int64) int64 {
	if at < 0 || int64(len(line))-at < 4 {
		return 0
	}
	return min(int64(binary.LittleEndian.Uint32(line[at:])), int64(len(line))-at)
}

// lineReader reads the line table of a unit; nil if it has none.
func (d *Info) lineReader(u *unit) (*dwarf.LineReader, error) {
	data, err := d.withLines()
	if err != nil {
		return nil, err
	}
	line, _ := d.sections.read("line") // which was read just now
	at, _ := u.entry.Val(dwarf.AttrStmtList).(int64)
	if d.lineFuel.Add(-tableLen(line, at)) < 0 {
		return nil, errTooLong
	}
	return data.LineReader(u.entry)
}

// files are the names of a unit's files by their numbers.
func (d *Info) files(u *unit) []string {
	t := &u.lines
	t.header.Do(func() {
		r, err := d.lineReader(u)
		if err != nil || r == nil {
			return
		}
		files := r.Files()
		t.files = make([]string, len(files))
		for i, f := range files {
			if f != nil {
				t.files[i] = f.Name
			}
		}
	})
	return t.files
}

// file is the name of a file by its number in the unit, "" if there is none.
func (d *Info) file(u *unit, number int64) string {
	if files := d.files(u); number >= 0 && number < int64(len(files)) {
		return files[number]
	}
	return ""
}

// rows reads the line table.
func (d *Info) rows(u *unit) ([]lineRow, error) {
	t := &u.lines
	t.body.Do(func() {
		if t.rows, t.err = d.readRows(u); t.err != nil {
			t.rows, t.err = nil, fmt.Errorf("read line table: %w", t.err)
		}
	})
	return t.rows, t.err
}

// readRows recovers from debug/dwarf: it takes a file number that a damaged table has made
// negative for an index (LineReader.updateFile, Go 1.26).
func (d *Info) readRows(u *unit) (rows []lineRow, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	files := d.files(u)
	r, err := d.lineReader(u)
	if err != nil || r == nil {
		return nil, err
	}
	numbers := make(map[*dwarf.LineFile]int32, len(files))
	for i, f := range r.Files() {
		if f != nil && i < len(files) {
			numbers[f] = int32(i)
		}
	}
	var e dwarf.LineEntry
	for {
		switch err := r.Next(&e); {
		case err == io.EOF:
			return sortRows(rows), nil
		case err != nil:
			return nil, err
		}
		row := lineRow{addr: e.Address, line: int32(e.Line), file: -1, stmt: e.IsStmt}
		if n, ok := numbers[e.File]; ok && !e.EndSequence {
			row.file = n
		}
		rows = append(rows, row)
	}
}

// sortRows orders rows by address. Of several with one address only the last has
// instructions; the end of one sequence may be where another begins.
func sortRows(rows []lineRow) []lineRow {
	slices.SortStableFunc(rows, func(x, y lineRow) int {
		if x.addr == y.addr && (x.file < 0) != (y.file < 0) {
			return cmp.Compare(x.file, y.file)
		}
		return cmp.Compare(x.addr, y.addr)
	})
	kept := rows[:0]
	for i, row := range rows {
		if i+1 == len(rows) || rows[i+1].addr != row.addr {
			kept = append(kept, row)
		}
	}
	return kept
}

// Position is the source line of an instruction.
func (d *Info) Position(addr uint64) (file string, line int, ok bool) {
	u := d.unitAt(addr)
	if u == nil {
		return "", 0, false
	}
	rows, err := d.rows(u)
	if err != nil {
		return "", 0, false
	}
	i := sort.Search(len(rows), func(i int) bool { return rows[i].addr > addr }) - 1
	if i < 0 || rows[i].file < 0 || rows[i].line <= 0 {
		return "", 0, false
	}
	return u.lines.files[rows[i].file], int(rows[i].line), true
}

// CodeLines calls found with the address where each run of instructions begins that is of one
// line of a file that matches, and whether a statement begins there.
func (d *Info) CodeLines(match func(file string) bool, found func(addr uint64, file string, line int, stmt bool)) error {
	for _, u := range d.units {
		files := d.files(u)
		matches := make([]bool, len(files))
		for i, name := range files {
			matches[i] = name != "" && match(name)
		}
		if !slices.Contains(matches, true) {
			continue
		}
		rows, err := d.rows(u)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.file >= 0 && matches[r.file] && r.line > 0 {
				found(r.addr, files[r.file], int(r.line), r.stmt)
			}
		}
	}
	return nil
}

// Copies tells for each of addrs, by the offset of its entry, which inlined copy of a function it
// is in; 0 for none. It looks at the functions around addrs only. Copies further in come later.
func (d *Info) Copies(addrs []uint64) ([]uint64, error) {
	numbers := make([]uint64, len(addrs))
	seen := make(map[*unit]bool)
	for _, addr := range addrs {
		u := d.unitAt(addr)
		if u == nil || seen[u] {
			continue
		}
		seen[u] = true
		if err := d.copiesIn(u, addrs, numbers); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

func (d *Info) copiesIn(u *unit, addrs, numbers []uint64) error {
	r := newEntryReader(d.data, d.info)
	return r.walk(u.start, u.end, func(e *dwarf.Entry) (inside bool, err error) {
		switch e.Tag {
		case dwarf.TagCompileUnit, dwarf.TagLexDwarfBlock, dwarf.TagNamespace:
			return true, nil
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
		default:
			return false, nil
		}
		ranges, err := d.data.Ranges(e)
		if err != nil {
			return false, err
		}
		for i, addr := range addrs {
			if !slices.ContainsFunc(ranges, func(r [2]uint64) bool { return r[0] <= addr && addr < r[1] }) {
				continue
			}
			if inside = true; e.Tag == dwarf.TagInlinedSubroutine {
				numbers[i] = uint64(e.Offset)
			}
		}
		return inside, nil
	})
}
