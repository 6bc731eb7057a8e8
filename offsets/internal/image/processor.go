package image

import (
	"debug/elf"
	"fmt"
	"runtime"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/arch/amd64"
)

// Processors are those whose programs can be probed, by what the ELF header says.
var Processors = map[elf.Machine]arch.Processor{elf.EM_X86_64: amd64.Processor}

// Host is the one that this program was compiled for; nil if it is not among them.
func Host() arch.Processor {
	for _, p := range Processors {
		if p.Machine().GOARCH == runtime.GOARCH {
			return p
		}
	}
	return nil
}

// ProcessorNamed finds a processor by the Name of its [arch.Machine].
func ProcessorNamed(name string) (arch.Processor, error) {
	for _, p := range Processors {
		if p.Machine().Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("processor %q is not known", name)
}

// AnyFetches tells whether some processor has a register of a name.
func AnyFetches(r arch.Reg) bool {
	for _, p := range Processors {
		if p.Fetches(r) {
			return true
		}
	}
	return false
}

// ExampleRegister is the one that messages name.
var ExampleRegister = amd64.Processor.Machine().Filler.Fetch()
