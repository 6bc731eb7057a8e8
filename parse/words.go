package parse

import "github.com/ftgo/ftgo/tracefs/uprobe"

// firstWord is the first of the words that calls take along, -1 if there are none.
func firstWord(f *uprobe.Fields) int {
	if f.Stack >= 0 {
		return f.Stack
	}
	return f.Values
}

// fetched gives a call what was fetched where it began.
func (p *Pairer) fetched(c *Call, f *frame) {
	n := min(p.plan.StackWords(), len(f.args))
	c.StackHi, c.Stack, c.Args = f.hi, f.args[:n], f.args[n:]
}

// returned gives a call what is known of one that has returned.
func (p *Pairer) returned(c *Call, f *frame, ev *Event, fields *uprobe.Fields) {
	c.Split = p.split(f, ev.Time)
	if fields.Values >= 0 {
		c.Results = ev.Args[fields.Values:]
	}
}

// drop keeps the memory of a call's arguments for another's.
func (p *Pairer) drop(args []uint64) {
	if args != nil {
		p.spare = append(p.spare, args)
	}
}
