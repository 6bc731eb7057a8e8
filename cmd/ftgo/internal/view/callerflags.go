package view

import (
	"fmt"
	"strconv"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// CallerFlags are how many callers are shown of a call.
type CallerFlags struct{ Stack int }

// depth is the form of a number of callers. It takes all numbers, to refuse those that are no depth.
var depth = cli.Form[int]{
	Name: "DEPTH", Bare: strconv.Itoa(uprobe.MaxStack),
	Takes: func(word string) bool { _, err := strconv.Atoi(word); return err == nil },
	Read: func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > uprobe.MaxStack {
			return 0, fmt.Errorf("parse depth %q: not 1 to %d", text, uprobe.MaxStack)
		}
		return n, nil
	},
	Write: strconv.Itoa,
}

// Group returns the group, whose help begins with what the command does with callers.
func (c *CallerFlags) Group(verb string) cli.Group {
	return func(fs *cli.Flags) {
		cli.Define(fs, &c.Stack, "stack", "s", verb+": up to `DEPTH` callers, or 15", depth)
	}
}
