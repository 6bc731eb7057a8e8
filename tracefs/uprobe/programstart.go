package uprobe

// ProgramStart is what [Event.Func] gives for the place in Go's runtime that a process comes
// by once, when it begins to run the program (runtime.rt0_go in runtime/asm_amd64.s, however
// the program was linked). What the process was doing before, as another program or the same,
// or an earlier process of its number, has ended without a trace.
const ProgramStart = -2

// addProgramStart probes that place. It joins the event of goroutines' ends, which it is a
// case of: every event takes time to be removed.
func (c *collector) addProgramStart() {
	for i := range c.events {
		if c.events[i].Kind != GoroutineEnd {
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
