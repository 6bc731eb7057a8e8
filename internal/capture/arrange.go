package capture

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/ftgo/ftgo/tracefs"
)

// arrange writes the arguments into a Capture, in an order that many functions share:
// sites whose arguments agree in types can be of one event, and each event more makes it
// take longer to remove the probes. So words come first, arrays last, and there are some
// more words than needed, from a register, which costs next to nothing.
func (b *Builder) arrange(c *Capture) {
	args := slices.Clone(b.args)
	if !b.named {
		words := 0
		for _, a := range args {
			if a.typ == "s64" && a.count == 0 {
				words++
			}
		}
		if b.opt.Machine != nil {
			for range padded(words) - words {
				args = append(args, arg{fetch: b.opt.Machine.Filler.Fetch(), typ: "s64", at: -1})
			}
		}
		slices.SortStableFunc(args, func(x, y arg) int {
			return cmp.Or(cmp.Compare(x.count, y.count), cmp.Compare(len(y.typ), len(x.typ)), cmp.Compare(y.typ, x.typ))
		})
		c.at = make([]int, b.words)
	}
	word := 0
	for i, a := range args {
		typ := a.typ
		if a.count > 0 {
			typ += "[" + strconv.Itoa(a.count) + "]"
		}
		c.Args = append(c.Args, tracefs.Arg{Name: "v" + strconv.Itoa(i), Fetch: a.fetch, Type: typ})
		c.Counts = append(c.Counts, a.count)
		for k := range max(a.count, 1) {
			if c.at != nil && a.at >= 0 {
				c.at[a.at+k] = word
			}
			word++
		}
	}
}

// padded is the number of words that n are filled up to. More than maxArgs there never are.
func padded(n int) int {
	for _, enough := range []int{0, 2, 4, 8, 12, 16, 24, 32, 48, 64} {
		if n <= enough {
			return enough
		}
	}
	return n
}
