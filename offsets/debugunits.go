package offsets

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// ErrNoDebugInfo: the file has no DWARF (built with -ldflags=-w, or stripped).
var ErrNoDebugInfo = errors.New("no debug information")

// sourceCache is what tells the source of instructions, read when first asked for.
type sourceCache struct {
	once  sync.Once
	units *debugUnits
	err   error
}

// debugUnits is what one pass over .debug_info finds.
type debugUnits struct {
	data  *dwarf.Data
	info  []byte
	units []*lineUnit
	// lineFuel is how many bytes of line tables may still be read: units may share one.
	lineFuel atomic.Int64
	ranges   []unitRange // by address
	scan     *inlineScan
	goCode   bool // some of it is of Go
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
	if b.image.ELF.Section(".debug_info") == nil && b.image.ELF.Section(".zdebug_info") == nil {
		return nil, ErrNoDebugInfo
	}
	data, err := b.dwarf()
	if err != nil {
		return nil, err
	}
	info, _ := b.debugSection("info") // which was read just now
	line, _ := b.debugSection("line")
	d, err := readUnits(data, info, line, int64(b.image.MaxDebug()))
	if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	return d, nil
}

// readUnits goes through all entries once. What can't hold an inlined call, types and
// variables, is skipped. Names may have that many bytes.
func readUnits(data *dwarf.Data, info, line []byte, names int64) (*debugUnits, error) {
	d := &debugUnits{data: data, info: info}
	d.lineFuel.Store(4*int64(len(line)) + 1<<16) // each is read twice
	scan := newInlineScan(data, names)
	d.scan = scan
	r := newEntryReader(data, info)
	for {
		e, err := r.next()
		if err != nil {
			return nil, err
		}
		if e == nil {
			break
		}
		switch e.Tag {
		case dwarf.TagCompileUnit:
			at, _ := e.Val(dwarf.AttrStmtList).(int64)
			u := &lineUnit{entry: e, size: tableLen(line, at), fuel: &d.lineFuel}
			ranges, err := d.addUnit(u)
			if err == nil {
				err = r.use(ranges)
			}
			if err != nil {
				return nil, err
			}
			scan.enter(u)
		case dwarf.TagSubprogram:
			abstract, err := scan.function(e)
			if err != nil {
				return nil, err
			}
			if abstract {
				if err := r.skip(e); err != nil {
					return nil, err
				}
			}
		case dwarf.TagInlinedSubroutine:
			if err := scan.call(e); err != nil {
				return nil, err
			}
		case dwarf.TagLexDwarfBlock, dwarf.TagNamespace, 0:
		default:
			if err := r.skip(e); err != nil {
				return nil, err
			}
		}
	}
	d.sortRanges()
	return d, nil
}

// addUnit notes a unit and the addresses it describes, and tells how many ranges they are.
func (d *debugUnits) addUnit(u *lineUnit) (n int, err error) {
	d.units = append(d.units, u)
	if producer, ok := u.entry.Val(dwarf.AttrProducer).(string); ok && strings.HasPrefix(producer, "Go cmd/compile") {
		d.goCode = true
	}
	ranges, err := d.data.Ranges(u.entry)
	if err != nil {
		return 0, err
	}
	for _, r := range ranges {
		if r[0] < r[1] {
			d.ranges = append(d.ranges, unitRange{r[0], r[1], u})
		}
	}
	return len(ranges), nil
}
