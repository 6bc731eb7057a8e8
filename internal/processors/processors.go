// Package processors has those whose programs can be probed.
package processors

import (
	"debug/elf"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/arch/amd64"
)

// All are they, by what the ELF header says.
var All = map[elf.Machine]arch.Processor{elf.EM_X86_64: amd64.Processor}

// Example is a register's fetcharg, for messages.
var Example = amd64.Processor.Machine().Filler.Fetch()

// Find returns the first of which something is so, nil if there is none.
func Find(is func(arch.Processor) bool) arch.Processor {
	for _, p := range All {
		if is(p) {
			return p
		}
	}
	return nil
}
