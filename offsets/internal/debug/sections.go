package debug

import (
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/ftgo/ftgo/offsets/internal/image"
)

// sections are those of debug information that were asked for, decompressed.
type sections struct {
	image  *image.Image
	mu     sync.Mutex
	loaded map[string]section
	spent  uint64 // bytes that they have
}

type section struct {
	data []byte
	err  error
}

// read reads .debug_NAME, or .zdebug_NAME, once; it is nil if there is none.
//
// A few damaged or malicious bytes may say that sections are gigabytes, compressed.
func (d *sections) read(name string) ([]byte, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s, ok := d.loaded[name]
	if !ok {
		if s.data, s.err = d.load(name); s.err != nil {
			s.data, s.err = nil, fmt.Errorf("read debug information: section %s: %w", name, s.err)
		}
		if d.loaded == nil {
			d.loaded = make(map[string]section)
		}
		d.loaded[name] = s
	}
	return s.data, s.err
}

func (d *sections) load(name string) ([]byte, error) {
	s := d.image.ELF.Section(".debug_" + name)
	if s == nil {
		s = d.image.ELF.Section(".zdebug_" + name)
	}
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
	for _, name := range append([]string{"abbrev", "info", "ranges", "str", "addr", "line_str", "str_offsets", "rnglists"}, more...) {
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
	for _, name := range []string{"addr", "line_str", "str_offsets", "rnglists"} {
		if err == nil && len(all[name]) > 0 {
			err = made.AddSection(".debug_"+name, all[name])
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	return made, nil
}
