package uprobe

import (
	"slices"
	"strings"

	"github.com/ftgo/ftgo/tracefs"
)

// Timing makes events that time calls of functions that are CountFirst, by their index
// in Funcs; those of functions without returns are left out. They are for
// tracefs.Session.Extend, and not the plan's before they
// are appended to its Events, which has to come before Timing is asked again, as names go by their
// number. Their order is that of [New], which was given the same features.
func (p *Plan) Timing(on tracefs.Features, funcs []int) ([]Event, error) {
	_, nonce, _ := strings.Cut(p.Events[0].Name, "_")
	c, err := newPlanner(p, on, nonce)
	if err != nil {
		return nil, err
	}
	c.later, c.made = true, len(p.Events)
	for _, i := range funcs {
		if p.Funcs[i].Returns {
			c.addEntry(i)
		}
	}
	for _, i := range funcs {
		c.addEnds(i)
	}
	return c.sorted(), nil
}

// CountsFirst tells whether any function is CountFirst.
func (p *Plan) CountsFirst() bool {
	return slices.ContainsFunc(p.Funcs, func(f Function) bool { return f.CountFirst })
}
