package target

import (
	"fmt"

	"github.com/ftgo/ftgo/internal/given"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Target is a binary and what was selected of it.
type Target struct {
	Binary *offsets.Binary
	Funcs  []*offsets.Func
	// Sites are the single instructions, Skipped those of them that can't be probed.
	Sites   []uprobe.Instruction
	Skipped []stats.Skipped
	// Roles are those of Funcs.
	Roles map[*offsets.Func]Role
	// given is what the user says of functions' parameters.
	given map[*offsets.Func]*given.Functions
}

// Role says what a function was selected for.
type Role struct {
	// Named: its name was given without wildcards. It is shown even if it is never called.
	Named bool
	// Wrapper: the compiler made it to call another function, and no pattern selects it without
	// functions that are none.
	Wrapper bool
	// Inside: calls are wanted that it makes. Hidden: its own calls are not.
	Inside, Hidden bool
}

// AlsoInlined says at how many places a function was inlined, and "" if at none.
func (t *Target) AlsoInlined(name string) string {
	at, err := t.Binary.InlinedAt(name)
	if err != nil || len(at) == 0 {
		return ""
	}
	return fmt.Sprintf("is also inlined at %s, where its calls are not seen", units.Plural(len(at), "place"))
}

// Hold keeps others from writing to what is going to be probed, unless force is set and somebody
// does so already.
func (t *Target) Hold(force bool) error {
	busy, err := t.Binary.File().Hold()
	switch {
	case !busy:
		return err
	case force:
		return nil
	}
	return fmt.Errorf("%w (--force goes on)", err)
}

// WrittenTo is the error of a run that has ended because somebody writes to the binary.
func (t *Target) WrittenTo() error {
	return fmt.Errorf("%s: somebody writes to it: the probes were removed, which would be in wrong places", t.Binary.File().Path())
}
