// Package processors lists the supported processors.
package processors

import (
	"debug/elf"
	"runtime"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/arch/amd64"
	"github.com/ftgo/ftgo/internal/arch/arm64"
)

var known = []arch.Processor{amd64.Processor, arm64.Processor}

// All maps the machine number in the ELF header to the processor.
var All = map[elf.Machine]arch.Processor{elf.EM_X86_64: amd64.Processor, elf.EM_AARCH64: arm64.Processor}

// Names contains the names of all processors. Example is the fetcharg of a register. Messages contain them.
var (
	Names   = amd64.Processor.Machine().Name + " and " + arm64.Processor.Machine().Name
	Example = amd64.Processor.Machine().Filler.Fetch()
)

// Here returns the processor of this machine, nil if it is not supported.
func Here() arch.Processor {
	return Find(func(p arch.Processor) bool { return p.Machine().GOARCH == runtime.GOARCH })
}

// Find returns the first processor for which match returns true, or nil.
func Find(match func(arch.Processor) bool) arch.Processor {
	for _, p := range known {
		if match(p) {
			return p
		}
	}
	return nil
}
