package offsets

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// lineUnit is a compilation unit and its line table, read when first needed.
type lineUnit struct {
	entry *dwarf.Entry
	size  int64         // of the table, or more
	fuel  *atomic.Int64 // of all units' tables: they may share one

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

// tableLen is the length that the line table at an offset begins with (DWARF 5, 6.2.4).
func tableLen(line []byte, at int64) int64 {
	if at < 0 || int64(len(line))-at < 4 {
		return 0
	}
	return min(int64(binary.LittleEndian.Uint32(line[at:])), int64(len(line))-at)
}

// fileName is the name of a file by its number in the unit, "" if there is none.
func (u *lineUnit) fileName(data *dwarf.Data, number int64) string {
	u.header.Do(func() {
		if u.fuel.Add(-u.size) < 0 {
			return
		}
		r, err := data.LineReader(u.entry)
		if err != nil || r == nil {
			return
		}
		u.setFiles(r.Files())
	})
	if number < 0 || number >= int64(len(u.files)) {
		return ""
	}
	return u.files[number]
}

func (u *lineUnit) setFiles(files []*dwarf.LineFile) {
	u.files = make([]string, len(files))
	for i, f := range files {
		if f != nil {
			u.files[i] = f.Name
		}
	}
}

// lines reads the line table.
func (u *lineUnit) lines(data *dwarf.Data) ([]lineRow, error) {
	u.fileName(data, 0)
	u.body.Do(func() {
		if u.rows, u.err = u.readRows(data); u.err != nil {
			u.rows, u.err = nil, fmt.Errorf("read line table: %w", u.err)
		}
	})
	return u.rows, u.err
}

// readRows recovers from debug/dwarf: it takes a file number that a damaged table has made
// negative for an index (LineReader.updateFile, Go 1.26).
func (u *lineUnit) readRows(data *dwarf.Data) (rows []lineRow, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	if u.fuel.Add(-u.size) < 0 {
		return nil, errDebugTooLong
	}
	r, err := data.LineReader(u.entry)
	if err != nil || r == nil {
		return nil, err
	}
	numbers := make(map[*dwarf.LineFile]int32, len(u.files))
	for i, f := range r.Files() {
		if f != nil && i < len(u.files) {
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

func (d *debugUnits) sortRanges() {
	slices.SortFunc(d.ranges, func(x, y unitRange) int { return cmp.Compare(x.low, y.low) })
}

// unitAt returns the unit that describes an address.
func (d *debugUnits) unitAt(addr uint64) *lineUnit {
	i := sort.Search(len(d.ranges), func(i int) bool { return d.ranges[i].low > addr }) - 1
	if i < 0 || addr >= d.ranges[i].high {
		return nil
	}
	return d.ranges[i].unit
}

func (d *debugUnits) Position(addr uint64) (file string, line int, ok bool) {
	u := d.unitAt(addr)
	if u == nil {
		return "", 0, false
	}
	rows, err := u.lines(d.data)
	if err != nil {
		return "", 0, false
	}
	i := sort.Search(len(rows), func(i int) bool { return rows[i].addr > addr }) - 1
	if i < 0 || rows[i].file < 0 || rows[i].line <= 0 {
		return "", 0, false
	}
	return u.files[rows[i].file], int(rows[i].line), true
}

func (d *debugUnits) CodeLines(match func(file string) bool, found func(addr uint64, file string, line int, stmt bool)) error {
	for _, u := range d.units {
		u.fileName(d.data, 0)
		matches := make([]bool, len(u.files))
		for i, name := range u.files {
			matches[i] = name != "" && match(name)
		}
		if !slices.Contains(matches, true) {
			continue
		}
		rows, err := u.lines(d.data)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.file >= 0 && matches[r.file] && r.line > 0 {
				found(r.addr, u.files[r.file], int(r.line), r.stmt)
			}
		}
	}
	return nil
}

// Copies looks at the functions around addrs only. The number of a copy is the offset
// of its entry; those further in come later.
func (d *debugUnits) Copies(addrs []uint64) ([]uint64, error) {
	numbers := make([]uint64, len(addrs))
	seen := make(map[*lineUnit]bool)
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

func (d *debugUnits) copiesIn(u *lineUnit, addrs, numbers []uint64) error {
	r := newEntryReader(d.data, d.info)
	if _, err := r.at(u.entry.Offset); err != nil {
		return err
	}
	for {
		e, err := r.next()
		if err != nil {
			return err
		}
		if e == nil || e.Tag == dwarf.TagCompileUnit {
			return nil
		}
		switch e.Tag {
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			ranges, err := d.data.Ranges(e)
			if err != nil {
				return err
			}
			inside := false
			for i, addr := range addrs {
				if !slices.ContainsFunc(ranges, func(r [2]uint64) bool { return r[0] <= addr && addr < r[1] }) {
					continue
				}
				inside = true
				if e.Tag == dwarf.TagInlinedSubroutine {
					numbers[i] = uint64(e.Offset)
				}
			}
			if !inside {
				if err := r.skip(e); err != nil {
					return err
				}
			}
		case dwarf.TagLexDwarfBlock, dwarf.TagNamespace, 0:
		default:
			if err := r.skip(e); err != nil {
				return err
			}
		}
	}
}
