package target

import (
	"fmt"

	"github.com/ftgo/ftgo/internal/recording"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Recorded is the target of a recording's plan: the plan's own functions, without the binary.
func Recorded(was *recording.Options, plan *uprobe.Plan) *Target {
	t := &Target{Roles: make(map[*offsets.Func]Role)}
	mark := func(list []int, as func(*Role)) {
		for _, i := range list {
			if i >= 0 && i < len(plan.Funcs) {
				role := t.Roles[plan.Funcs[i].Func]
				as(&role)
				t.Roles[plan.Funcs[i].Func] = role
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
