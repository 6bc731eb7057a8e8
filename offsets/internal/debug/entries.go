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
	"slices"
	"sync"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

var errTooLong = errors.New("read debug information: it leads in circles, or says too much")

// entryReader reads entries of debug information as long as there is fuel: entries may refer to
// each other, and share what is long, so that a small file is endless.
type entryReader struct {
	data *dwarf.Data
	fuel int
}

// newEntryReader has enough for twice of what takes no more than its own bytes.
func newEntryReader(data *dwarf.Data, info []byte) entryReader {
	return entryReader{data, 2*len(info) + 1<<16}
}

// from is a place to read on from.
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

// next reads the entry at a place, which moves on.
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

// val is an attribute of an entry; zero if it has none of that type.
func val[T any](e *dwarf.Entry, a dwarf.Attr) T {
	v, _ := e.Val(a).(T)
	return v
}

// ref is an attribute that leads to another entry; 0, where none is, if there is no such.
func ref(e *dwarf.Entry, a dwarf.Attr) dwarf.Offset { return val[dwarf.Offset](e, a) }

// use takes fuel.
func (r *entryReader) use(n int) error {
	if r.fuel -= n; r.fuel < 0 {
		return errTooLong
	}
	return nil
}

// skip goes behind the children of an entry that was just read. [dwarf.Reader.SkipChildren]
// calls itself for each that has some.
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

// walk calls found with each entry of a unit, but for those below an entry that found does not
// want to see inside of.
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

// below has the entries right below one, and an error at most, at the end.
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
		// version, then address size and offset of the abbreviations in one order or the other.
		version, abbrevs := le.Uint16(info[at+head:]), at+head+2
		if u.first = abbrevs + word + 1; version >= 5 {
			const compile, partial = 1, 3
			u.other = info[abbrevs] != compile && info[abbrevs] != partial
			abbrevs += 2
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

// sections are those of debug information that were asked for, decompressed.
type sections struct {
	image  *image.Image
	mu     sync.Mutex
	loaded map[string][]byte
	spent  uint64 // bytes that they have
}

// read reads .debug_NAME, or .zdebug_NAME, once; it is nil if there is none.
//
// A few damaged or malicious bytes may say that sections are gigabytes, compressed.
func (d *sections) read(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	data, ok := d.loaded[name]
	if !ok {
		var err error
		if data, err = d.load(name); err != nil {
			return nil, fmt.Errorf("read debug information: section %s: %w", name, err)
		}
		d.loaded[name] = data
	}
	return data, nil
}

func (d *sections) load(name string) ([]byte, error) {
	s := d.image.DebugSection(name)
	if s == nil {
		return nil, nil
	}
	if s.Type == elf.SHT_NOBITS {
		return nil, errors.New("not in the file")
	}
	r := s.Open() // the size of .zdebug_ sections is known from here on
	if budget := d.image.MaxDebug(); s.Size > budget-min(budget, d.spent) {
		return nil, errors.New("more than a file of this size can have")
	}
	d.spent += s.Size
	// All of it at once: [elf.Section.Data] makes it grow.
	data := make([]byte, s.Size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	return data, nil
}

// dwarf reads what entries are made of, and other sections by name. What no entry
// refers to, frames and lists of locations, is left out.
func (d *sections) dwarf(more ...string) (*dwarf.Data, error) {
	all := make(map[string][]byte)
	added := []string{"addr", "line_str", "str_offsets", "rnglists"}
	for _, name := range slices.Concat([]string{"abbrev", "info", "ranges", "str"}, added, more) {
		data, err := d.read(name)
		if err != nil {
			return nil, err
		}
		all[name] = data
	}
	if len(all["info"]) == 0 {
		return nil, ErrNone
	}
	if err := checkAbbrevs(all["info"], all["abbrev"]); err != nil {
		return nil, err
	}
	made, err := dwarf.New(all["abbrev"], nil, nil, all["info"], all["line"], nil, all["ranges"], all["str"])
	for _, name := range added {
		if err == nil && len(all[name]) > 0 {
			err = made.AddSection(".debug_"+name, all[name])
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	return made, nil
}

// Attributes of Go's own (cmd/internal/dwarf/dwarf.go): the kind by the numbers of
// package reflect, what a slice, map or channel holds, whether a field is embedded, and
// where in a closure a variable is.
const (
	attrGoKind          = dwarf.Attr(0x2900)
	attrGoElem          = dwarf.Attr(0x2902)
	attrVector          = dwarf.Attr(0x2107) // DW_AT_GNU_vector
	attrGoEmbedded      = dwarf.Attr(0x2903)
	attrGoDictIndex     = dwarf.Attr(0x2906)
	attrGoClosureOffset = dwarf.Attr(0x2907)
)

func goKind(e *dwarf.Entry) reflect.Kind { return reflect.Kind(val[int64](e, attrGoKind)) }
