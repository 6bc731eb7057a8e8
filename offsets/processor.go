package offsets

import (
	"debug/elf"
	"fmt"

	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/offsets/arch/amd64"
)

// processors are those whose programs can be probed, by what the ELF header says.
var processors = map[elf.Machine]arch.Processor{elf.EM_X86_64: amd64.Processor}

// Processor is the one that the file is for.
func (b *Binary) Processor() arch.Processor { return b.processor }

// ProcessorNamed finds a processor by the Name of its [arch.Machine].
func ProcessorNamed(name string) (arch.Processor, error) {
	for _, p := range processors {
		if p.Machine().Name == name {
			return p, nil
		}
	}
	return nil, fmt.Errorf("processor %q is not known", name)
}

// anyFetches tells whether some processor has a register of a name.
func anyFetches(r arch.Reg) bool {
	for _, p := range processors {
		if p.Fetches(r) {
			return true
		}
	}
	return false
}

// exampleRegister is the one that messages name.
var exampleRegister = amd64.Processor.Machine().Filler.Fetch()
