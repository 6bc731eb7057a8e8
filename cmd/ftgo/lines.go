package main

import (
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

// lines is which calls have lines, and what the lines show.
type lines struct {
	where         string
	errors        bool
	min           time.Duration
	goid          uint64
	tree          bool
	depth         int
	begins        bool
	entries       bool
	startOrder    bool
	times         bool
	template      string
	templateNames string
}

func (l *lines) Define(fs *cli.Flags) {
	fs.StringVar(&l.where, "where", "", "show only calls for which `EXPR` is true: 'n > 100'")
	fs.BoolVar(&l.errors, "errors", false, "show only calls whose last result is an error")
	cli.Define(fs, &l.min, "min", "", "show only calls that took `SECONDS` or longer, like 5ms", cli.Seconds)
	fs.Uint64Var(&l.goid, "goid", 0, "show only calls on goroutine `N`")
	fs.BoolVar(&l.tree, "tree", false, "show the calls of each goroutine as a tree")
	fs.IntVarP(&l.depth, "depth", "D", 0, "show calls nested less than `N` deep")
	fs.BoolVar(&l.begins, "begins", false, "write one line when a call begins and one when it ends")
	fs.BoolVar(&l.entries, "entries", false, "show only how calls begin, which is much cheaper")
	fs.BoolVar(&l.startOrder, "start-order", false, "write calls in the order in which they began")
	fs.BoolVarP(&l.times, "timestamp", "T", false, "begin lines with the time")
	fs.StringVar(&l.template, "format", "", "write lines by `TEMPLATE NAMES`: 'key=%q n=%d' key,n")
	fs.StringVar(&l.templateNames, "format-names", "", "")
	fs.MarkHidden("format-names")
}

func (l *lines) Check(command string) error {
	switch {
	case l.depth < 0:
		return cli.Usage("%s: --depth %d: negative", command, l.depth)
	case cli.IsFile(l.templateNames):
		return cli.Usage("%s: --format %q takes the names of its values: %s is a file", command, l.template, l.templateNames)
	}
	return nil
}

// names are those of --format: there are none without verbs.
func (l *lines) names() []string {
	if l.templateNames == "" {
		return nil
	}
	return strings.Split(l.templateNames, ",")
}

// joinFormat makes one word of "--format TEMPLATE NAMES", which is two behind the flag.
func joinFormat(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(out, args[i:]...)
		}
		var text string
		var ok bool
		if a == "--format" && i+1 < len(args) {
			i++
			text, ok = args[i], true
		} else if len(a) > len("--format=") && a[:len("--format=")] == "--format=" {
			text, ok = a[len("--format="):], true
		}
		if !ok {
			out = append(out, a)
			continue
		}
		out = append(out, "--format="+text)
		if strings.Contains(strings.ReplaceAll(text, "%%", ""), "%") && i+1 < len(args) && args[i+1] != "--" {
			i++
			out = append(out, "--format-names="+args[i])
		}
	}
	return out
}

// fetch is how much is fetched of what pointers lead to.
type fetch struct{ strLen, items int }

// maxStrLen is an array of 64 words.
const maxStrLen = 512

func (f *fetch) Define(fs *cli.Flags) {
	fs.IntVar(&f.strLen, "strlen", 64, "show up to `BYTES` of a string, at most 512")
	fs.IntVar(&f.items, "items", 8, "show the first `N` elements of a slice, at most 64")
}

// Check refuses what the kernel does not fetch.
func (f *fetch) Check(command string) error {
	switch {
	case f.strLen < 1 || f.strLen > maxStrLen:
		return cli.Usage("%s: --strlen %d: not 1 to %d", command, f.strLen, maxStrLen)
	case f.items < 1 || f.items > 64:
		return cli.Usage("%s: --items %d: not 1 to 64", command, f.items)
	}
	return nil
}
