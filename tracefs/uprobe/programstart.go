package uprobe

import "slices"

// ProgramStart is what [Event.Func] gives for the place in Go's runtime that a process comes
// by once, when it begins to run the program (runtime.rt0_go in runtime/asm_amd64.s, however
// the program was linked). What the process was doing before, as another program or the same,
// or an earlier process of its number, has ended without a trace.
const ProgramStart = -2

// addProgramStart probes that place, if goroutines' ends are probed, which it is a case of.
func (c *collector) addProgramStart() {
	for i := range c.events {
		if !slices.Contains(c.events[i].kinds, GoroutineEnd) {
			continue
		}
		f, ok := c.plan.Binary.Lookup("runtime.rt0_go")
		if !ok {
			return
		}
		s, err := c.plan.Binary.Sites(f)
		if err != nil {
			return
		}
		id := byG
		if c.plan.ByStack {
			id = byCheckG
		}
		c.add(shape{kind: GoroutineEnd, id: id}, ProgramStart, s.Entry)
		return
	}
}
