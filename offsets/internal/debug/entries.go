package debug

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
)

var errTooLong = errors.New("read debug information: it leads in circles, or says too much")

// entryReader reads entries of debug information as long as there is fuel: entries may refer to
// each other, and share what is long, so that a small file is endless.
type entryReader struct {
	r    *dwarf.Reader
	fuel int
}

// newEntryReader has enough for twice of what takes no more than its own bytes.
func newEntryReader(data *dwarf.Data, info []byte) entryReader {
	return entryReader{data.Reader(), 2*len(info) + 1<<16}
}

// at reads the entry at an offset; next reads the one behind.
func (r *entryReader) at(offset dwarf.Offset) (*dwarf.Entry, error) {
	r.r.Seek(offset)
	e, err := r.next()
	if err == nil && e == nil {
		err = errors.New("reference beyond the end")
	}
	return e, err
}

func (r *entryReader) next() (*dwarf.Entry, error) {
	if r.fuel < 0 {
		return nil, errTooLong
	}
	e, err := r.r.Next()
	if err != nil || e == nil {
		return nil, err
	}
	used := 1 + len(e.Field)/4
	for i := range e.Field {
		if text, ok := e.Field[i].Val.(string); ok {
			used += len(text) / 64
		}
	}
	return e, r.use(used)
}

// use takes fuel.
func (r *entryReader) use(n int) error {
	if r.fuel -= n; r.fuel < 0 {
		return errTooLong
	}
	return nil
}

// skip goes behind the children of an entry that was just read. [dwarf.Reader.SkipChildren]
// calls itself for each that has some.
func (r *entryReader) skip(e *dwarf.Entry) error {
	if sibling, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && sibling > e.Offset {
		r.r.Seek(sibling)
		return nil
	}
	for depth := 0; ; {
		if e.Children {
			depth++
		} else if e.Tag == 0 {
			depth--
		}
		if depth <= 0 {
			return nil
		}
		var err error
		if e, err = r.next(); err != nil || e == nil {
			return err
		}
	}
}

// walk calls found with each entry from one offset on and before another, but for those below an
// entry that found does not want to see inside of.
func (r *entryReader) walk(from, end dwarf.Offset, found func(e *dwarf.Entry) (inside bool, err error)) error {
	for r.r.Seek(from); ; {
		e, err := r.next()
		if err != nil || e == nil || e.Offset >= end {
			return err
		}
		inside, err := found(e)
		if err == nil && !inside {
			err = r.skip(e)
		}
		if err != nil {
			return err
		}
	}
}

// unitHeader is that of a compilation unit (DWARF 5, 7.5.1).
type unitHeader struct {
	first, end int    // of its entries
	abbrevs    uint64 // where in .debug_abbrev its own begin
	other      bool   // of types, or the like
}

// eachUnit goes through the headers of units, which say where the next one is.
func eachUnit(info []byte, found func(unitHeader) error) error {
	le := binary.LittleEndian
	for at := 0; len(info)-at >= 24; {
		size, head, word := uint64(le.Uint32(info[at:])), 4, 4
		if size == 0xffffffff {
			size, head, word = le.Uint64(info[at+4:]), 12, 8
		}
		if size > uint64(len(info)-at-head) {
			return errors.New("a unit is longer than the section")
		}
		u := unitHeader{end: at + head + int(size)}
		// version, then address size and offset of the abbreviations in one order or
		// the other.
		version := at + head
		abbrevs := version + 2
		if le.Uint16(info[version:]) >= 5 {
			const compile, partial = 1, 3
			kind := info[abbrevs]
			u.other = kind != compile && kind != partial
			abbrevs += 2
		}
		u.first = abbrevs + word
		if le.Uint16(info[version:]) < 5 {
			u.first++
		}
		if u.first <= len(info) {
			if u.abbrevs = uint64(le.Uint32(info[abbrevs:])); word == 8 {
				u.abbrevs = le.Uint64(info[abbrevs:])
			}
		}
		if err := found(u); err != nil {
			return err
		}
		at = u.end
	}
	return nil
}

// checkAbbrevs refuses units whose abbreviations overlap: [dwarf.New] keeps those of each
// offset, from there to their end.
func checkAbbrevs(info, abbrev []byte) error {
	seen := make(map[uint64]bool)
	left := 2*len(abbrev) + 1<<16
	return eachUnit(info, func(u unitHeader) error {
		if u.abbrevs > uint64(len(abbrev)) || seen[u.abbrevs] {
			return nil
		}
		seen[u.abbrevs] = true
		if left -= abbrevsLen(abbrev[u.abbrevs:]); left < 0 {
			return errTooLong
		}
		return nil
	})
}

// abbrevsLen is how long a table of abbreviations is: each is a code, a tag, whether there are
// children, and pairs of attribute and form up to two zeros; the last code is 0.
func abbrevsLen(table []byte) int {
	const implicitConst = 0x21 // a form with a value behind it
	r := reader{data: table}
	for r.uleb() != 0 && !r.bad {
		r.uleb()
		r.u8()
		for !r.bad {
			attribute, form := r.uleb(), r.uleb()
			if form == implicitConst {
				r.sleb()
			}
			if attribute == 0 && form == 0 {
				break
			}
		}
	}
	return max(r.at, 1)
}
