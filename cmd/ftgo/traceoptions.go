package main

import (
	"strings"
	"time"

	"github.com/spf13/pflag"
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
	fs.StringVar(&o.where, "where", "", "only calls for which `EXPR` is true: 'n > 100 && key == \"bob\"'")
	fs.BoolVar(&o.errors, "errors", false, "only calls whose last result is an error")
	fs.Var(seconds{&o.min}, "min", "only calls that took at least so many `SECONDS`, or 5ms")
	fs.StringVar(&o.inside, "inside", "", "only calls made while `FUNC` was running, on its goroutine")
	fs.Uint64Var(&o.goid, "goid", 0, "only calls on goroutine `N`")
	fs.BoolVar(&o.tree, "tree", false, "calls of each goroutine as a tree, once the outermost has ended")
	fs.IntVarP(&o.depth, "depth", "D", 0, "only calls that are inside of fewer than `N` other traced ones")
	fs.BoolVar(&o.begins, "begins", false, "a line when a call begins and another when it ends")
	fs.BoolVar(&o.entries, "entries", false, "only how calls begin: no results, no latency, and much cheaper")
	fs.BoolVar(&o.startOrder, "start-order", false, "calls in the order in which they began")
	fs.BoolVarP(&o.times, "timestamp", "T", false, "begin lines with the time")
	fs.StringVar(&o.template, "format", "", "write lines by `TEMPLATE NAMES`: --format 'key=%q n=%d' key,n")
	fs.StringVar(&o.templateNames, "format-names", "", "")
	o.defineFetch(fs)
	fs.MarkHidden("format-names")
}

// defineFetch defines how much is fetched, for watch too.
func (o *traceOptions) defineFetch(fs *pflag.FlagSet) {
	fs.IntVar(&o.strLen, "strlen", 64, "fetch so many `BYTES` of a string, at most 512")
	fs.IntVar(&o.items, "items", 8, "fetch the first `N` elements of a slice, at most 64")
}

// check refuses what makes no sense.
func (o *traceOptions) check() error {
	if err := o.checkFetch("trace"); err != nil {
		return err
	}
	switch {
	case o.entries && (o.inside != "" || o.tree):
		return usage("trace: --entries does not see calls end: no --inside, no --tree")
	case o.entries && (o.errors || o.min > 0):
		return usage("trace: --entries sees no results and no latency: no --errors, no --min")
	case o.entries && o.startOrder, o.begins && o.startOrder:
		return usage("trace: --start-order is for lines of whole calls")
	case o.tree && o.startOrder:
		return usage("trace: --tree has calls in the order of their begin: no --start-order")
	case o.depth < 0:
		return usage("trace: --depth %d: negative", o.depth)
	case o.entries && o.depth > 0:
		return usage("trace: --entries does not see calls end: no --depth")
	case o.template != "" && (o.begins || o.tree):
		return usage("trace: --format excludes --begins and --tree")
	}
	return nil
}

// maxStrLen is an array of 64 words.
const maxStrLen = 512

// checkFetch refuses what the kernel does not fetch.
func (o *traceOptions) checkFetch(command string) error {
	switch {
	case o.strLen < 1 || o.strLen > maxStrLen:
		return usage("%s: --strlen %d: not 1 to %d", command, o.strLen, maxStrLen)
	case o.items < 1 || o.items > 64:
		return usage("%s: --items %d: not 1 to 64", command, o.items)
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
