package uprobe

// addThreadProbes probes where Go's scheduler makes a thread go on with a goroutine, and
// where it looks for the next (runtime/proc.go): every way that a goroutine leaves its
// thread leads to schedule, but for coroutines, which change places in coroswitch_m (since
// Go 1.23). It reports whether the binary has them.
func (c *planner) addThreadProbes() bool {
	b := c.plan.Binary
	execute, ok1 := b.Lookup("runtime.execute")
	schedule, ok2 := b.Lookup("runtime.schedule")
	if !ok1 || !ok2 {
		return false
	}
	on, err := b.Sites(execute)
	if err != nil {
		return false
	}
	off, err := b.Sites(schedule)
	if err != nil {
		return false
	}
	id := byG
	if c.plan.ByStack {
		id = byStack // the argument is on the stack
	}
	c.add(shape{kind: Resume, id: id}, -1, on.Entry)
	c.add(shape{kind: Yield}, -1, off.Entry)
	if f, ok := b.Lookup("runtime.coroswitch_m"); ok {
		s, err := b.Sites(f)
		if err != nil {
			return false
		}
		c.add(shape{kind: Yield}, -1, s.Entry)
	}
	return true
}
