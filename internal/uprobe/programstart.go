package uprobe

import "github.com/ftgo/ftgo/offsets"

// ProgramStart is what [Event.Func] gives for the place in Go's runtime that a process comes
// by once, when it begins to run the program (runtime.rt0_go in runtime/asm_amd64.s, however
// the program was linked). What the process was doing before, as another program or the same,
// or an earlier process of its number, has ended without a trace.
const ProgramStart = -2

// addGoroutineEnd probes where goroutines end, and where the program begins, which is a case
// of it.
func (c *planner) addGoroutineEnd(id identity, end offsets.Site) {
	c.add(shape{kind: GoroutineEnd, id: id}, -1, end)
	f, ok := c.plan.Binary.Lookup("runtime.rt0_go")
	if !ok {
		return
	}
	if s, err := c.plan.Binary.Sites(f); err == nil {
		c.add(shape{kind: GoroutineEnd, id: id}, ProgramStart, s.Entry)
	}
}
