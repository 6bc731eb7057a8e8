package debug

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
)

var errTooLong = errors.New("read debug information: it leads in circles, or says too much")

// entryReader reads entries of debug information until its fuel, a budget, is used up. Entries may refer to each other in
// circles and share long names, so reading a small hostile file could take forever.
type entryReader struct {
	data *dwarf.Data
	fuel int
}

// from returns a reader at an offset.
func (r *entryReader) from(offset dwarf.Offset) *dwarf.Reader {
	place := r.data.Reader()
	place.Seek(offset)
	return place
}

// at reads the entry at an offset.
func (r *entryReader) at(offset dwarf.Offset) (*dwarf.Entry, error) {
	e, err := r.next(r.from(offset))
	if err == nil && e == nil {
		err = errors.New("reference beyond the end")
	}
	return e, err
}

// next reads the next entry of a reader, nil at the end.
func (r *entryReader) next(place *dwarf.Reader) (*dwarf.Entry, error) {
	if r.fuel < 0 {
		return nil, errTooLong
	}
	e, err := place.Next()
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

// val returns an attribute of an entry, or the zero value if the entry has no such attribute with a value of type T.
func val[T any](e *dwarf.Entry, a dwarf.Attr) T {
	v, _ := e.Val(a).(T)
	return v
}

// ref returns an attribute that refers to another entry. Without the attribute it returns 0, which is the offset of no
// entry.
func ref(e *dwarf.Entry, a dwarf.Attr) dwarf.Offset { return val[dwarf.Offset](e, a) }

// use consumes fuel. It returns errTooLong if the fuel is used up.
func (r *entryReader) use(n int) error {
	if r.fuel -= n; r.fuel < 0 {
		return errTooLong
	}
	return nil
}

// skip moves behind the children of an entry that was just read. [dwarf.Reader.SkipChildren] is not used, because it
// recurses for every child with children.
func (r *entryReader) skip(place *dwarf.Reader, e *dwarf.Entry) error {
	if sibling := ref(e, dwarf.AttrSibling); sibling > e.Offset {
		place.Seek(sibling)
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
		if e, err = r.next(place); err != nil || e == nil {
			return err
		}
	}
}

// walk calls found with each entry of a unit. It skips the children of an entry if found returns false for inside.
func (r *entryReader) walk(u *unit, found func(e *dwarf.Entry) (inside bool, err error)) error {
	for place := r.from(u.entry.Offset); ; {
		e, err := r.next(place)
		if err != nil || e == nil || e.Offset >= u.end {
			return err
		}
		inside, err := found(e)
		if err == nil && !inside {
			err = r.skip(place, e)
		}
		if err != nil {
			return err
		}
	}
}

// below returns the children of an entry. An error is the last element.
func (r *entryReader) below(e *dwarf.Entry) iter.Seq2[*dwarf.Entry, error] {
	return func(yield func(*dwarf.Entry, error) bool) {
		if !e.Children {
			return
		}
		place := r.from(e.Offset)
		_, err := r.next(place)
		for err == nil {
			var c *dwarf.Entry
			if c, err = r.next(place); err == nil && (c == nil || c.Tag == 0 || !yield(c, nil)) {
				return
			}
			if err == nil {
				err = r.skip(place, c)
			}
		}
		yield(nil, err)
	}
}

// eachUnit calls found for each unit (DWARF 5, 7.5.1), with the offset of its first entry, the offset of its end, and the
// offset of its abbreviations in .debug_abbrev. other is true for units of types and the like.
func eachUnit(info []byte, found func(first, end int, abbrevs uint64, other bool) error) error {
	le := binary.LittleEndian
	for at := 0; len(info)-at >= 24; {
		size, head, word := uint64(le.Uint32(info[at:])), 4, 4
		if size == 0xffffffff {
			size, head, word = le.Uint64(info[at+4:]), 12, 8
		}
		if size > uint64(len(info)-at-head) {
			return errors.New("a unit is longer than the section")
		}
		end, other := at+head+int(size), false
		// The version follows, then the size of addresses and the offset of the abbreviations, in an order that
		// depends on the version.
		version, abbrevs := le.Uint16(info[at+head:]), at+head+2
		first := abbrevs + word + 1
		if version >= 5 {
			const compile, partial = 1, 3
			other = info[abbrevs] != compile && info[abbrevs] != partial
			abbrevs += 2
			first++
		}
		var table uint64
		if first <= len(info) {
			if table = uint64(le.Uint32(info[abbrevs:])); word == 8 {
				table = le.Uint64(info[abbrevs:])
			}
		}
		if err := found(first, end, table, other); err != nil {
			return err
		}
		at = end
	}
	return nil
}

// checkAbbrevs returns an error if the abbreviations of units overlap. For each unit, [dwarf.New] stores all abbreviations
// from the unit's offset to the end of the table. If the tables overlapped, this would take memory without bound.
func checkAbbrevs(info, abbrev []byte) error {
	seen := make(map[uint64]bool)
	left := 2*len(abbrev) + 1<<16
	return eachUnit(info, func(_, _ int, table uint64, _ bool) error {
		if table > uint64(len(abbrev)) || seen[table] {
			return nil
		}
		seen[table] = true
		if left -= abbrevsLen(abbrev[table:]); left < 0 {
			return errTooLong
		}
		return nil
	})
}

// abbrevsLen returns the length in bytes of a table of abbreviations. An abbreviation has a code, a tag, a byte for
// children, and pairs of attribute and form. Two zeros end the pairs. The code 0 ends the table.
func abbrevsLen(table []byte) int {
	const implicitConst = 0x21 // DW_FORM_implicit_const, which a value follows
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

// section returns the section .debug_NAME or .zdebug_NAME, decompressed, or nil if the file has neither. It returns an error
// if the section is too large for the file's size, because a few bytes of a hostile file may decompress to gigabytes.
func (d *Info) section(name string) ([]byte, error) {
	s := d.image.DebugSection(name)
	if s == nil {
		return nil, nil
	}
	failed := func(err error) error { return fmt.Errorf("read debug information: section %s: %w", name, err) }
	if s.Type == elf.SHT_NOBITS {
		return nil, failed(errors.New("not in the file"))
	}
	r := s.Open() // the size of .zdebug_ sections is known from here on
	if budget := d.image.MaxDebug(); s.Size > budget-min(budget, d.spent) {
		return nil, failed(errors.New("more than a file of this size can have"))
	}
	d.spent += s.Size
	// Allocate the memory once. [elf.Section.Data] would let it grow.
	data := make([]byte, s.Size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, failed(err)
	}
	return data, nil
}

// readSections reads all sections but frames and location lists.
func (d *Info) readSections() (err error) {
	all := make(map[string][]byte)
	for _, name := range []string{"abbrev", "info", "ranges", "str", "line", "addr", "line_str", "str_offsets", "rnglists"} {
		if all[name], err = d.section(name); err != nil {
			return err
		}
	}
	if len(all["info"]) == 0 {
		return ErrNone
	}
	if err := checkAbbrevs(all["info"], all["abbrev"]); err != nil {
		return err
	}
	d.info, d.lines = all["info"], all["line"]
	d.data, err = dwarf.New(all["abbrev"], nil, nil, all["info"], all["line"], nil, all["ranges"], all["str"])
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if err == nil && len(all[name]) > 0 {
			err = d.data.AddSection(".debug_"+name, all[name])
		}
	}
	if err != nil {
		return fmt.Errorf("read debug information: %w", err)
	}
	return nil
}

// Attributes that Go adds (cmd/internal/dwarf/dwarf.go).
const (
	attrGoKind          = dwarf.Attr(0x2900) // the kind, as a number of package reflect
	attrGoElem          = dwarf.Attr(0x2902) // the type of elements of a slice, map or channel
	attrGoEmbedded      = dwarf.Attr(0x2903) // the field is embedded
	attrGoClosureOffset = dwarf.Attr(0x2907) // the offset of a variable in a closure
)

func goKind(e *dwarf.Entry) reflect.Kind { return reflect.Kind(val[int64](e, attrGoKind)) }
