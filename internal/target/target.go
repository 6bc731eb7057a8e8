package target

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/internal/given"
	"github.com/ftgo/ftgo/internal/recording"
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

func (t *Target) mark(f *offsets.Func, as func(*Role)) {
	role := t.Roles[f]
	as(&role)
	t.Roles[f] = role
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

// Recorded is the target of a recording's plan: the plan's own functions, without the binary.
func Recorded(was *recording.Options, plan *uprobe.Plan) *Target {
	t := &Target{Roles: make(map[*offsets.Func]Role)}
	mark := func(list []int, as func(*Role)) {
		for _, i := range list {
			if i >= 0 && i < len(plan.Funcs) {
				t.mark(plan.Funcs[i].Func, as)
			}
		}
	}
	mark(was.Named, func(r *Role) { r.Named = true })
	mark(was.Wrappers, func(r *Role) { r.Wrapper = true })
	mark(was.InsideFuncs, func(r *Role) { r.Inside = true })
	mark(was.OnlyInside, func(r *Role) { r.Hidden = true })
	return t
}

// OpenRecorded opens the binary that a recording is of, if it is the same.
func OpenRecorded(path string, of recording.File) (*offsets.Binary, error) {
	b, err := offsets.Open(path)
	if err != nil {
		return nil, err
	}
	sums, err := b.File().Checksums()
	if err == nil && sums.SHA256 != of.SHA256 {
		err = fmt.Errorf("%s: not the binary that was traced: its build ID is %q, that one's was %q", path, b.File().BuildID(), of.BuildID)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Kinds of errors, besides those of the file and of the system.
var (
	// ErrUsage: what was asked for can't be meant.
	ErrUsage = errors.New("wrong usage")
	// ErrNothing: the binary has nothing that is meant.
	ErrNothing = errors.New("nothing matched")
)

// kindError is an error of a kind that its text does not tell.
type kindError struct{ kind, err error }

func (e *kindError) Error() string   { return e.err.Error() }
func (e *kindError) Unwrap() []error { return []error{e.kind, e.err} }

func usage(err error) error { return &kindError{ErrUsage, err} }

func nothing(err error) error { return &kindError{ErrNothing, err} }

func usagef(format string, args ...any) error { return usage(fmt.Errorf(format, args...)) }

func nothingf(format string, args ...any) error { return nothing(fmt.Errorf(format, args...)) }
