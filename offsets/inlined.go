package offsets

import (
	"debug/dwarf"
	"fmt"
)

// InlinedCalls tells at how many places a function has been put into its callers,
// from debug information (Go 1.10 and later). The error is ErrNoFunc if no function
// of that name was.
func (b *Binary) InlinedCalls(name string) (int, error) {
	d, err := b.elf.DWARF()
	if err != nil {
		return 0, fmt.Errorf("read debug information: %w", err)
	}
	var abstract dwarf.Offset
	found := false
	calls := make(map[dwarf.Offset]int)
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			return 0, fmt.Errorf("read debug information: %w", err)
		}
		if e == nil {
			break
		}
		switch e.Tag {
		case dwarf.TagSubprogram:
			if e.Val(dwarf.AttrInline) != nil && e.Val(dwarf.AttrName) == name {
				abstract, found = e.Offset, true
			}
		case dwarf.TagInlinedSubroutine:
			if origin, ok := e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset); ok {
				calls[origin]++
			}
		}
	}
	if !found {
		return 0, fmt.Errorf("%s: %w", name, ErrNoFunc)
	}
	return calls[abstract], nil
}
