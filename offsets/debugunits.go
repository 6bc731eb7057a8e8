package offsets

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// ErrNoDebugInfo: the file has no DWARF (built with -ldflags=-w, or stripped).
var ErrNoDebugInfo = errors.New("no debug information")

// sourceCache is what tells the source of instructions, read when first asked for.
type sourceCache struct {
	once  sync.Once
	units *debugUnits
	err   error
	table lazyTable
}

// debugUnits is what one pass over .debug_info finds.
type debugUnits struct {
	data   *dwarf.Data
	units  []*lineUnit
	ranges []unitRange // by address
	calls  inlineIndex
	goCode bool // some of it is of Go
}

// unitRange is a run of addresses that a compilation unit describes.
type unitRange struct {
	low, high uint64
	unit      *lineUnit
}

func (b *Binary) debugUnits() (*debugUnits, error) {
	c := &b.source
	c.once.Do(func() { c.units, c.err = b.readDebugUnits() })
	return c.units, c.err
}

func (b *Binary) readDebugUnits() (*debugUnits, error) {
	if b.elf.Section(".debug_info") == nil && b.elf.Section(".zdebug_info") == nil {
		return nil, ErrNoDebugInfo
	}
	data, err := b.dwarf()
	if err != nil {
		return nil, err
	}
	d, err := readUnits(data, int64(b.maxDebug()))
	if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	return d, nil
}

// readUnits goes through all entries once. What can't hold an inlined call, types and
// variables, is skipped. Names may have that many bytes.
func readUnits(data *dwarf.Data, names int64) (*debugUnits, error) {
	d := &debugUnits{data: data}
	scan := newInlineScan(data, names)
	r := data.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return nil, err
		}
		if e == nil {
			break
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			u := &lineUnit{entry: e}
			if err := d.addUnit(u); err != nil {
				return nil, err
			}
			scan.enter(u)
		case dwarf.TagSubprogram:
			abstract, err := scan.function(e)
			if err != nil {
				return nil, err
			}
			if abstract {
				r.SkipChildren()
			}
		case dwarf.TagInlinedSubroutine:
			if err := scan.call(e); err != nil {
				return nil, err
			}
		case dwarf.TagLexDwarfBlock, dwarf.TagNamespace, 0:
		default:
			r.SkipChildren()
		}
	}
	d.calls = scan.index()
	d.sortRanges()
	return d, nil
}

// addUnit notes a unit and the addresses it describes.
func (d *debugUnits) addUnit(u *lineUnit) error {
	d.units = append(d.units, u)
	if producer, ok := u.entry.Val(dwarf.AttrProducer).(string); ok && strings.HasPrefix(producer, "Go cmd/compile") {
		d.goCode = true
	}
	ranges, err := d.data.Ranges(u.entry)
	if err != nil {
		return err
	}
	for _, r := range ranges {
		if r[0] < r[1] {
			d.ranges = append(d.ranges, unitRange{r[0], r[1], u})
		}
	}
	return nil
}
