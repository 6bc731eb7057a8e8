package target

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/internal/valuepath"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// Signature is what is known of a function's parameters, from the user or else from the
// file. told tells whether the user has said something.
func (t *Target) Signature(f *offsets.Func) (sig *offsets.Signature, told bool, err error) {
	g, told := t.given[f]
	if told {
		sig, err = g.Signature(t.Binary, f)
	} else {
		sig, err = t.Binary.Signature(f)
	}
	return sig, told, err
}

// Note says, for a line of a call, why a function's signature is not known: without the prefixes
// that there is no room for.
func Note(err error) string {
	if errors.Is(err, offsets.ErrNoDebugInfo) {
		return "not known: " + offsets.ErrNoDebugInfo.Error()
	}
	return err.Error()
}

// Shown are the paths to show of a function's arguments and results; nil is all.
func (t *Target) Shown(f *offsets.Func, sig *offsets.Signature) (args, results []string) {
	g, ok := t.given[f]
	if !ok || g.HasSignature {
		return nil, nil
	}
	args = []string{}
	for _, sel := range g.Select {
		switch {
		case sel.Path == "" && !sel.Result:
			args = append(args, sel.Name)
		case sel.Path == "":
			results = append(results, sel.Name)
		case HasRoot(sig.Results, sel.Path):
			results = append(results, sel.Path)
		default:
			args = append(args, sel.Path)
		}
	}
	return args, results
}

// HasRoot tells whether a path begins with one of the variables.
func HasRoot(vars []offsets.Variable, path string) bool {
	name := valuepath.Root(path)
	return slices.ContainsFunc(vars, func(v offsets.Variable) bool { return v.Name == name })
}

// Fetch is how much of values is fetched: of strings so many bytes, of slices so many items.
type Fetch struct{ StrLen, Items int }

// Usual is what suits most.
var Usual = Fetch{StrLen: 64, Items: 8}

// errLate: the function's first instructions can't be probed.
var errLate = errors.New("its register may be in use for something else where the probe is")

// Options are what the kernel allows to be fetched of a function's calls.
func (l Fetch) Options(b *offsets.Binary, f *offsets.Func, features tracefs.Features) capture.Options {
	return capture.Options{
		StrLen: l.StrLen, Items: l.Items, Arrays: features.Arrays, Memory: features.Memory, Machine: b.Processor().Machine(), Static: staticFetch(b, f),
	}
}

// Builders are for what is fetched where calls of a function begin, beside so many callers, and
// where they return.
func (l Fetch) Builders(b *offsets.Binary, f *offsets.Func, sites *offsets.Sites, sig *offsets.Signature, stack int, features tracefs.Features) (entry, ret *capture.Builder) {
	atEntry := append(slices.Clone(sig.Params), sig.Captured...)
	if sites.Late {
		for i := range atEntry {
			atEntry[i].Err = errLate
		}
	}
	opt := l.Options(b, f, features)
	ret = capture.NewBuilder(sig.Results, opt)
	opt.Beside = uprobe.StackArgs(b, stack, features.Arrays)
	return capture.NewBuilder(atEntry, opt), ret
}

// staticFetch returns how the probes of a function fetch what is at an address of the
// file. In a position-independent program it is reckoned from the function: the kernel
// adds what follows @+ to the distance between the probe's address and its file offset
// (translate_user_vaddr in kernel/trace/trace_uprobe.c).
func staticFetch(b *offsets.Binary, f *offsets.Func) func(va uint64) string {
	return func(va uint64) string {
		if off, err := b.File().FileOffset(f.Addr); err == nil && b.File().Relocatable() {
			// As long as what it becomes for each site: tracefs says it by the probe's address.
			return fmt.Sprintf("@+0x%012x", va-(f.Addr-off))
		}
		return fmt.Sprintf("@%#x", va)
	}
}
