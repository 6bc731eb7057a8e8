package debug

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
)

// lineRow is the source line of the instructions from addr up to the address of the next row.
type lineRow struct {
	addr uint64
	line int32
	file int32 // an index of files; -1 for the end of code
	stmt bool  // a statement begins here
}

// readLines reads the section of line tables. It sets lineFuel, so that every table can be read more than once.
func (d *Info) readLines() (*dwarf.Data, error) {
	line, err := d.sections.read("line")
	if err != nil {
		return nil, err
	}
	d.lineFuel.Store(4*int64(len(line)) + 1<<16)
	return d.sections.dwarf("line")
}

// lineReader returns a reader of a unit's line table, or nil if the unit has none.
func (d *Info) lineReader(u *unit) (*dwarf.LineReader, error) {
	data, err := d.withLines()
	if err != nil {
		return nil, err
	}
	line, _ := d.sections.read("line") // withLines has read it without an error
	if at := val[int64](u.entry, dwarf.AttrStmtList); at >= 0 && at < int64(len(line)) {
		// The table begins with its length (DWARF 5, 6.2.4).
		r := reader{data: line[at:]}
		if d.lineFuel.Add(-int64(min(r.number(4), uint64(len(r.data))))) < 0 {
			return nil, errTooLong
		}
	}
	return data.LineReader(u.entry)
}

// readFiles reads the names of a unit's files.
func (d *Info) readFiles(u *unit) []string {
	r, err := d.lineReader(u)
	if err != nil || r == nil {
		return nil
	}
	files := make([]string, len(r.Files()))
	for i, f := range r.Files() {
		if f != nil {
			files[i] = f.Name
		}
	}
	return files
}

// file returns the name of a file by its number in the unit, "" for an unknown number.
func (u *unit) file(number int64) string {
	if files := u.files(); number >= 0 && number < int64(len(files)) {
		return files[number]
	}
	return ""
}

// readRows reads the line table of a unit. It recovers from panics of debug/dwarf, which uses a negative file number of a
// damaged table as an index (LineReader.updateFile, Go 1.26).
func (d *Info) readRows(u *unit) (rows []lineRow, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
		if err != nil {
			rows, err = nil, fmt.Errorf("read line table: %w", err)
		}
	}()
	files := u.files()
	r, err := d.lineReader(u)
	if err != nil || r == nil {
		return nil, err
	}
	numbers := make(map[*dwarf.LineFile]int32, len(files))
	for i, f := range r.Files()[:min(len(files), len(r.Files()))] {
		numbers[f] = int32(i)
	}
	delete(numbers, nil)
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

// sortRows sorts rows by address. Of several rows with one address it keeps the last, because the other rows have no
// instructions. If a sequence of rows ends where another sequence begins, sortRows keeps the first row of the other
// sequence.
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

// Position returns the source line of an instruction.
func (d *Info) Position(addr uint64) (file string, line int, ok bool) {
	u := d.unitAt(addr)
	if u == nil {
		return "", 0, false
	}
	rows, _ := u.rows()
	i := sort.Search(len(rows), func(i int) bool { return rows[i].addr > addr }) - 1
	if i < 0 || rows[i].file < 0 || rows[i].line <= 0 {
		return "", 0, false
	}
	return u.files()[rows[i].file], int(rows[i].line), true
}

// CodeLines calls found for each range of instructions of one source line, in the files for which match returns true. addr
// is the start of the range, and stmt says whether a statement begins there.
func (d *Info) CodeLines(match func(file string) bool, found func(addr uint64, file string, line int, stmt bool)) error {
	for u := range d.each {
		files := u.files()
		matches := make([]bool, len(files))
		for i, name := range files {
			matches[i] = name != "" && match(name)
		}
		if !slices.Contains(matches, true) {
			continue
		}
		rows, err := u.rows()
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

// Copies returns a number for each address in addrs: the offset of the entry of the innermost inlined copy that contains the
// address, or 0 outside of inlined copies. It reads only the functions that contain addrs. The entries of inner copies come
// after the entries of outer copies.
func (d *Info) Copies(addrs []uint64) ([]uint64, error) {
	numbers, seen := make([]uint64, len(addrs)), map[*unit]bool{nil: true}
	for _, addr := range addrs {
		u := d.unitAt(addr)
		if seen[u] {
			continue
		}
		seen[u] = true
		r := newEntryReader(d.data, d.info)
		err := r.walk(u, func(e *dwarf.Entry) (inside bool, err error) {
			switch e.Tag {
			case dwarf.TagCompileUnit, dwarf.TagLexDwarfBlock, dwarf.TagNamespace:
				return true, nil
			case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			default:
				return false, nil
			}
			ranges, err := d.data.Ranges(e)
			for i, addr := range addrs {
				if !slices.ContainsFunc(ranges, func(r [2]uint64) bool { return r[0] <= addr && addr < r[1] }) {
					continue
				}
				if inside = true; e.Tag == dwarf.TagInlinedSubroutine {
					numbers[i] = uint64(e.Offset)
				}
			}
			return inside, err
		})
		if err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

// inlineScan collects inlined calls. Entries refer to each other by offset, also to later entries, so Calls looks up the
// names at the end.
type inlineScan struct {
	caller dwarf.Offset
	// budget is the number of bytes left for names. In a hostile file many short entries have the same long name.
	budget int64

	named   map[dwarf.Offset]string       // functions
	origins map[dwarf.Offset]dwarf.Offset // for functions without a name: the entry that has the name
	found   []scannedCall
}

type scannedCall struct {
	callee, caller dwarf.Offset
	file           string
	line           int
}

// maxInlined is the maximum number of inlined calls of a file.
const maxInlined = 1 << 22

// Calls calls found with every inlined call: the called function, the function that contains its code, and the position of
// the call in the source.
func (d *Info) Calls(found func(callee, caller, file string, line int)) error {
	s := &inlineScan{
		budget:  int64(d.image.MaxDebug()),
		named:   make(map[dwarf.Offset]string),
		origins: make(map[dwarf.Offset]dwarf.Offset),
	}
	r := newEntryReader(d.data, d.info)
	for u := range d.each {
		if err := s.scan(&r, u); err != nil {
			return fmt.Errorf("read debug information: %w", err)
		}
	}
	for _, c := range s.found {
		if name := s.name(c.callee); name != "" {
			found(name, s.name(c.caller), c.file, c.line)
		}
	}
	return nil
}

// scan reads the entries of a unit once. It skips types and variables, which hold no inlined calls.
func (s *inlineScan) scan(r *entryReader, u *unit) error {
	s.caller = 0
	return r.walk(u, func(e *dwarf.Entry) (inside bool, err error) {
		switch e.Tag {
		case dwarf.TagSubprogram:
			abstract, err := s.function(e)
			return !abstract, err
		case dwarf.TagInlinedSubroutine:
			c := scannedCall{callee: ref(e, dwarf.AttrAbstractOrigin), caller: s.caller}
			if c.callee == 0 {
				return true, nil
			}
			if len(s.found) == maxInlined {
				return false, errors.New("too many inlined calls")
			}
			if line := val[int64](e, dwarf.AttrCallLine); line > 0 && line < 1<<31 {
				c.line = int(line)
			}
			if file, ok := e.Val(dwarf.AttrCallFile).(int64); ok {
				c.file = u.file(file)
			}
			s.found = append(s.found, c)
			return true, nil
		case dwarf.TagCompileUnit, dwarf.TagLexDwarfBlock, dwarf.TagNamespace:
			return true, nil
		}
		return false, nil
	})
}

// function stores the name of a function's entry, or the entry that has the name. abstract means that the function has no
// code, because the entry is the common description of inlined copies.
func (s *inlineScan) function(e *dwarf.Entry) (abstract bool, err error) {
	// The symbols of C++ are linkage names.
	name := cmp.Or(val[string](e, dwarf.AttrLinkageName), val[string](e, dwarf.AttrName))
	if name != "" {
		s.named[e.Offset] = strings.ReplaceAll(name, "·", ".") // the spelling of .symtab
		if s.budget -= int64(len(name)); s.budget < 0 {
			return false, errors.New("names longer than the file")
		}
	} else if origin := original(e); origin != 0 {
		s.origins[e.Offset] = origin
	}
	if e.Val(dwarf.AttrLowpc) == nil && e.Val(dwarf.AttrRanges) == nil {
		return true, nil
	}
	s.caller = e.Offset
	return false, nil
}

// name returns the name of the function at an offset.
func (s *inlineScan) name(at dwarf.Offset) string {
	for range 4 { // origin, then specification; only damaged files have cycles
		if name, ok := s.named[at]; ok {
			return name
		}
		at = s.origins[at]
	}
	return ""
}
