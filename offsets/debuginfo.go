package offsets

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"sync"
)

// debugSections are the sections of debug information that were asked for, decompressed.
type debugSections struct {
	mu     sync.Mutex
	loaded map[string]debugSection
	spent  uint64 // bytes that they have
}

type debugSection struct {
	data []byte
	err  error
}

// debugSection reads .debug_NAME, or .zdebug_NAME, once; it is nil if there is none.
//
// A few damaged or malicious bytes may say that sections are gigabytes, compressed.
func (b *Binary) debugSection(name string) ([]byte, error) {
	d := &b.debug
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.loaded[name]
	if !ok {
		if s.data, s.err = b.readDebugSection(name); s.err != nil {
			s.data, s.err = nil, fmt.Errorf("read debug information: section %s: %w", name, s.err)
		}
		if d.loaded == nil {
			d.loaded = make(map[string]debugSection)
		}
		d.loaded[name] = s
	}
	return s.data, s.err
}

func (b *Binary) readDebugSection(name string) ([]byte, error) {
	s := b.image.ELF.Section(".debug_" + name)
	if s == nil {
		s = b.image.ELF.Section(".zdebug_" + name)
	}
	if s == nil {
		return nil, nil
	}
	if s.Type == elf.SHT_NOBITS {
		return nil, errors.New("not in the file")
	}
	r := s.Open() // the size of .zdebug_ sections is known from here on
	if budget := b.image.MaxDebug(); s.Size > budget-min(budget, b.debug.spent) {
		return nil, errors.New("more than a file of this size can have")
	}
	b.debug.spent += s.Size
	// All of it at once: [elf.Section.Data] makes it grow.
	data := make([]byte, s.Size)
	if _, err := io.ReadFull(r, data); err != nil {
		return nil, err
	}
	return data, nil
}

// dwarfData reads what entries are made of, and other sections by name. What no entry
// refers to, frames and lists of locations, is left out.
func (b *Binary) dwarfData(more ...string) (*dwarf.Data, error) {
	all := make(map[string][]byte)
	for _, name := range append([]string{"abbrev", "info", "ranges", "str", "addr", "line_str", "str_offsets", "rnglists"}, more...) {
		data, err := b.debugSection(name)
		if err != nil {
			return nil, err
		}
		all[name] = data
	}
	if len(all["info"]) == 0 {
		return nil, ErrNoDebugInfo
	}
	if err := checkAbbrevs(all["info"], all["abbrev"]); err != nil {
		return nil, err
	}
	d, err := dwarf.New(all["abbrev"], nil, nil, all["info"], all["line"], nil, all["ranges"], all["str"])
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if err == nil && len(all[name]) > 0 {
			err = d.AddSection(".debug_"+name, all[name])
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	return d, nil
}

// dwarf is debug information with line tables.
func (b *Binary) dwarf() (*dwarf.Data, error) { return b.dwarfData("line") }
