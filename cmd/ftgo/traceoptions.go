package main

import (
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
)

// traceOptions are the flags of trace alone.
type traceOptions struct {
	strLen, items int
	tree, begins  bool
	entries       bool
	times         bool
	errors        bool
	startOrder    bool
	template      string
	templateNames string
	where         string
	min           time.Duration
	inside        string
	goid          uint64
	depth         int
}

func (o *traceOptions) define(fs *pflag.FlagSet) {
	fs.StringVar(&o.where, "where", "", "show only calls for which `EXPR` is true: 'n > 100'")
	fs.BoolVar(&o.errors, "errors", false, "show only calls whose last result is an error")
	fs.Var(seconds{&o.min}, "min", "show only calls that took `SECONDS` or longer, like 5ms")
	fs.StringVar(&o.inside, "inside", "", "show only calls that `FUNC` makes, directly or not")
	fs.Uint64Var(&o.goid, "goid", 0, "show only calls on goroutine `N`")
	fs.BoolVar(&o.tree, "tree", false, "show the calls of each goroutine as a tree")
	fs.IntVarP(&o.depth, "depth", "D", 0, "show calls nested less than `N` deep")
	fs.BoolVar(&o.begins, "begins", false, "write one line when a call begins and one when it ends")
	fs.BoolVar(&o.entries, "entries", false, "show only how calls begin, which is much cheaper")
	fs.BoolVar(&o.startOrder, "start-order", false, "write calls in the order in which they began")
	fs.BoolVarP(&o.times, "timestamp", "T", false, "begin lines with the time")
	fs.StringVar(&o.template, "format", "", "write lines by `TEMPLATE NAMES`: 'key=%q n=%d' key,n")
	fs.StringVar(&o.templateNames, "format-names", "", "")
	o.defineFetch(fs)
	fs.MarkHidden("format-names")
}

// defineFetch defines how much is fetched, for watch too.
func (o *traceOptions) defineFetch(fs *pflag.FlagSet) {
	fs.IntVar(&o.strLen, "strlen", 64, "show up to `BYTES` of a string, at most 512")
	fs.IntVar(&o.items, "items", 8, "show the first `N` elements of a slice, at most 64")
}

// check refuses what makes no sense.
func (o *traceOptions) check() error {
	if err := o.checkFetch("trace"); err != nil {
		return err
	}
	switch {
	case o.entries && (o.inside != "" || o.tree):
		return cli.Usage("trace: --entries does not see calls end: no --inside, no --tree")
	case o.entries && (o.errors || o.min > 0):
		return cli.Usage("trace: --entries sees no results and no latency: no --errors, no --min")
	case o.entries && o.startOrder, o.begins && o.startOrder:
		return cli.Usage("trace: --start-order is for lines of whole calls")
	case o.tree && o.startOrder:
		return cli.Usage("trace: --tree has calls in the order of their begin: no --start-order")
	case o.depth < 0:
		return cli.Usage("trace: --depth %d: negative", o.depth)
	case o.entries && o.depth > 0:
		return cli.Usage("trace: --entries does not see calls end: no --depth")
	case o.template != "" && (o.begins || o.tree):
		return cli.Usage("trace: --format excludes --begins and --tree")
	}
	return nil
}

// maxStrLen is an array of 64 words.
const maxStrLen = 512

// checkFetch refuses what the kernel does not fetch.
func (o *traceOptions) checkFetch(command string) error {
	switch {
	case o.strLen < 1 || o.strLen > maxStrLen:
		return cli.Usage("%s: --strlen %d: not 1 to %d", command, o.strLen, maxStrLen)
	case o.items < 1 || o.items > 64:
		return cli.Usage("%s: --items %d: not 1 to 64", command, o.items)
	}
	return nil
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

// names are those of --format: there are none without verbs.
func (o *traceOptions) names() []string {
	if o.templateNames == "" {
		return nil
	}
	return strings.Split(o.templateNames, ",")
}
