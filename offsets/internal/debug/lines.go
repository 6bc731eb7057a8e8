package debug

import (
	"debug/dwarf"
	"fmt"
	"io"
	"slices"
)

// CodeLines calls found for each range of instructions of one source line, in the files for which match returns true. addr
// is the start of the range, and stmt says whether a statement begins there.
func (d *Info) CodeLines(match func(file string) bool, found func(addr uint64, file string, line int, stmt bool)) error {
	fuel := int64(2*len(d.lines) + 1<<16) // units of a hostile file may share a table
	for _, u := range d.units {
		if at := val[int64](u.entry, dwarf.AttrStmtList); at >= 0 && at < int64(len(d.lines)) {
			// The table begins with its length (DWARF 5, 6.2.4).
			r := reader{data: d.lines[at:]}
			if fuel -= int64(min(r.number(4), uint64(len(r.data)))); fuel < 0 {
				return fmt.Errorf("read line table: %w", errTooLong)
			}
		}
		if err := d.unitLines(u, match, found); err != nil {
			return fmt.Errorf("read line table: %w", err)
		}
	}
	return nil
}

// unitLines does what CodeLines does for one unit. Of several rows with one address it uses the last, because the other rows
// have no instructions. It recovers from panics of debug/dwarf, which uses a negative file number of a damaged table as an
// index (LineReader.updateFile, Go 1.26).
func (d *Info) unitLines(u *unit, match func(file string) bool, found func(addr uint64, file string, line int, stmt bool)) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged: %v", p)
		}
	}()
	r, err := d.data.LineReader(u.entry)
	if err != nil || r == nil {
		return err
	}
	if !slices.ContainsFunc(r.Files(), func(f *dwarf.LineFile) bool { return f != nil && match(f.Name) }) {
		return nil
	}
	var row, next dwarf.LineEntry
	for {
		if err := r.Next(&next); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if row.File != nil && !row.EndSequence && row.Address != next.Address && row.Line > 0 && match(row.File.Name) {
			found(row.Address, row.File.Name, row.Line, row.IsStmt)
		}
		row = next
	}
}
