package offsets

import (
	"debug/dwarf"
	"errors"
	"fmt"
	"strings"
)

// dwarf reads the debug information anew, if its size is one that this file can have.
//
// debug/elf takes all sections into memory, and a few damaged or malicious bytes may
// say that they are gigabytes, compressed. Compilers' output shrinks to a half or a
// quarter.
func (b *Binary) dwarf() (*dwarf.Data, error) {
	// debug/elf notes in the section what a compressed one begins with.
	b.debug.Lock()
	defer b.debug.Unlock()
	budget := 8*uint64(b.stat.Size()) + 1<<20
	sections := 0
	for _, s := range b.elf.Sections {
		if !strings.HasPrefix(s.Name, ".debug_") && !strings.HasPrefix(s.Name, ".zdebug_") {
			continue
		}
		s.Open() // Size of .zdebug_ sections is known from here on
		if sections++; s.Size > budget || sections > 32 {
			return nil, errors.New("read debug information: more than a file of this size can have")
		}
		budget -= s.Size
	}
	if sections == 0 {
		return nil, errors.New("read debug information: there is none")
	}
	d, err := b.elf.DWARF()
	if err != nil {
		return nil, fmt.Errorf("read debug information: %w", err)
	}
	return d, nil
}
