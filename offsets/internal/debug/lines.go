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
	file *dwarf.LineFile // nil for the end of code
	stmt bool            // a statement begins here
}

// lineReader returns a reader of a unit's line table, or nil if the unit has none.
func (d *Info) lineReader(u *unit) (*dwarf.LineReader, error) {
	if at := val[int64](u.entry, dwarf.AttrStmtList); at >= 0 && at < int64(len(d.lines)) {
		// The table begins with its length (DWARF 5, 6.2.4).
		r := reader{data: d.lines[at:]}
		if d.lineFuel.Add(-int64(min(r.number(4), uint64(len(r.data))))) < 0 {
			return nil, errTooLong
		}
	}
	return d.data.LineReader(u.entry)
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
	r, err := d.lineReader(u)
	if err != nil || r == nil {
		return nil, err
	}
	var e dwarf.LineEntry
	for {
		switch err := r.Next(&e); {
		case err == io.EOF:
			return sortRows(rows), nil
		case err != nil:
			return nil, err
		}
		row := lineRow{addr: e.Address, line: int32(e.Line), file: e.File, stmt: e.IsStmt}
		if e.EndSequence {
			row.file = nil
		}
		rows = append(rows, row)
	}
}

// sortRows sorts rows by address. Of several rows with one address it keeps the last, because the other rows have no
// instructions. If a sequence of rows ends where another sequence begins, sortRows keeps the first row of the other
// sequence.
func sortRows(rows []lineRow) []lineRow {
	slices.SortStableFunc(rows, func(x, y lineRow) int {
		if x.addr == y.addr && y.file == nil && x.file != nil {
			return 1
		}
		if x.addr == y.addr && x.file == nil && y.file != nil {
			return -1
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
	if i < 0 || rows[i].file == nil || rows[i].line <= 0 {
		return "", 0, false
	}
	return rows[i].file.Name, int(rows[i].line), true
}

// CodeLines calls found for each range of instructions of one source line, in the files for which match returns true. addr
// is the start of the range, and stmt says whether a statement begins there.
func (d *Info) CodeLines(match func(file string) bool, found func(addr uint64, file string, line int, stmt bool)) error {
	for _, u := range d.units {
		if !slices.ContainsFunc(u.files(), match) {
			continue
		}
		rows, err := u.rows()
		if err != nil {
			return err
		}
		for _, r := range rows {
			if r.file != nil && match(r.file.Name) && r.line > 0 {
				found(r.addr, r.file.Name, int(r.line), r.stmt)
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
		err := r.walkCode(u, func(e *dwarf.Entry) (inside bool, err error) {
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

// walkCode calls found with the entries of functions and of inlined calls of a unit. It skips types and variables, and what is
// inside an entry for which found returns false.
func (r *entryReader) walkCode(u *unit, found func(e *dwarf.Entry) (inside bool, err error)) error {
	return r.walk(u, func(e *dwarf.Entry) (inside bool, err error) {
		switch e.Tag {
		case dwarf.TagCompileUnit, dwarf.TagLexDwarfBlock, dwarf.TagNamespace:
			return true, nil
		case dwarf.TagSubprogram, dwarf.TagInlinedSubroutine:
			return found(e)
		}
		return false, nil
	})
}

// maxInlined is the maximum number of inlined calls of a file.
const maxInlined = 1 << 22

// Calls calls found with every inlined call: the called function, the function that contains its code, and the position of
// the call in the source. Entries refer to each other by offset, also to later entries, so Calls looks up the names at the
// end.
func (d *Info) Calls(found func(callee, caller, file string, line int)) error {
	type call struct {
		callee, caller dwarf.Offset
		file           string
		line           int
	}
	var calls []call
	named := make(map[dwarf.Offset]string)         // functions
	origins := make(map[dwarf.Offset]dwarf.Offset) // for functions without a name: the entry that has the name
	budget := int(d.image.MaxDebug())              // bytes of names
	r := newEntryReader(d.data, d.info)
	for _, u := range d.units {
		caller := dwarf.Offset(0)
		err := r.walkCode(u, func(e *dwarf.Entry) (inside bool, err error) {
			if e.Tag == dwarf.TagSubprogram {
				// The symbols of C++ are linkage names.
				if name := cmp.Or(val[string](e, dwarf.AttrLinkageName), val[string](e, dwarf.AttrName)); name != "" {
					named[e.Offset] = strings.ReplaceAll(name, "·", ".") // the spelling of .symtab
					if budget -= len(name); budget < 0 {                 // in a hostile file many entries have one long name
						return false, errors.New("names longer than the file")
					}
				} else {
					origins[e.Offset] = original(e)
				}
				if e.Val(dwarf.AttrLowpc) == nil && e.Val(dwarf.AttrRanges) == nil {
					return false, nil // the common description of inlined copies
				}
				caller = e.Offset
				return true, nil
			}
			if len(calls) == maxInlined {
				return false, errors.New("too many inlined calls")
			}
			c := call{callee: ref(e, dwarf.AttrAbstractOrigin), caller: caller}
			if line := val[int64](e, dwarf.AttrCallLine); line > 0 && line < 1<<31 {
				c.line = int(line)
			}
			if file, ok := e.Val(dwarf.AttrCallFile).(int64); ok {
				c.file = u.file(file)
			}
			calls = append(calls, c)
			return true, nil
		})
		if err != nil {
			return fmt.Errorf("read debug information: %w", err)
		}
	}
	name := func(at dwarf.Offset) string {
		for range 4 { // origin, then specification; only damaged files have cycles
			if name, ok := named[at]; ok {
				return name
			}
			at = origins[at]
		}
		return ""
	}
	for _, c := range calls {
		if callee := name(c.callee); callee != "" {
			found(callee, name(c.caller), c.file, c.line)
		}
	}
	return nil
}
