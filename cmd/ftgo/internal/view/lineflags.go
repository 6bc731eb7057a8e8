package view

import (
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/target"
)

// LineFlags are which calls have lines, and what the lines show.
type LineFlags struct {
	Where      string
	Errors     bool
	Min        time.Duration
	Goid       uint64
	Tree       bool
	Depth      int
	Begins     bool
	Entries    bool
	StartOrder bool
	Times      bool
	Template   Template
}

// Template is what --format makes lines of.
type Template struct {
	Text string
	// names are those of values, with commas: there are none without verbs.
	names string
}

var templateForm = cli.Form[Template]{
	Name:  "TEMPLATE NAMES",
	More:  func(text string) bool { return strings.Contains(strings.ReplaceAll(text, "%%", ""), "%") },
	Write: func(t Template) string { return t.Text },
	Read: func(text string) (t Template, err error) {
		t.Text, t.names, _ = strings.Cut(text, "\x00")
		return t, nil
	},
}

// Names are those of values.
func (t Template) Names() []string {
	if t.names == "" {
		return nil
	}
	return strings.Split(t.names, ",")
}

func (l *LineFlags) Define(fs *cli.Flags) {
	fs.StringVar(&l.Where, "where", "", "show only calls for which `EXPR` is true: 'n > 100'")
	fs.BoolVar(&l.Errors, "errors", false, "show only calls whose last result is an error")
	cli.Define(fs, &l.Min, "min", "", "show only calls that took `SECONDS` or longer, like 5ms", cli.Seconds)
	fs.Uint64Var(&l.Goid, "goid", 0, "show only calls on goroutine `N`")
	fs.BoolVar(&l.Tree, "tree", false, "show the calls of each goroutine as a tree")
	fs.IntVarP(&l.Depth, "depth", "D", 0, "show calls nested less than `N` deep")
	fs.BoolVar(&l.Begins, "begins", false, "write one line when a call begins and one when it ends")
	fs.BoolVar(&l.Entries, "entries", false, "show only how calls begin, which is much cheaper")
	fs.BoolVar(&l.StartOrder, "start-order", false, "write calls in the order in which they began")
	fs.BoolVarP(&l.Times, "timestamp", "T", false, "begin lines with the time")
	cli.Define(fs, &l.Template, "format", "", "write lines by `TEMPLATE NAMES`: 'key=%q n=%d' key,n", templateForm)
	fs.Check(l.check)
}

func (l *LineFlags) check(command string) error {
	switch {
	case l.Depth < 0:
		return cli.Usage("%s: --depth %d: negative", command, l.Depth)
	case cli.IsFile(l.Template.names):
		return cli.Usage("%s: --format %q takes the names of its values: %s is a file", command, l.Template.Text, l.Template.names)
	}
	return nil
}

// FetchFlags are how much is fetched of what pointers lead to.
type FetchFlags target.Fetch

// maxStrLen is an array of 64 words.
const maxStrLen = 512

func (f *FetchFlags) Define(fs *cli.Flags) {
	fs.IntVar(&f.StrLen, "strlen", target.Usual.StrLen, "show up to `BYTES` of a string, at most 512")
	fs.IntVar(&f.Items, "items", target.Usual.Items, "show the first `N` elements of a slice, at most 64")
	fs.Check(f.Check)
}

// Check refuses what the kernel does not fetch.
func (f *FetchFlags) Check(command string) error {
	switch {
	case f.StrLen < 1 || f.StrLen > maxStrLen:
		return cli.Usage("%s: --strlen %d: not 1 to %d", command, f.StrLen, maxStrLen)
	case f.Items < 1 || f.Items > 64:
		return cli.Usage("%s: --items %d: not 1 to 64", command, f.Items)
	}
	return nil
}
