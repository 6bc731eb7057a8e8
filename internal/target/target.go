package target

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/gotype"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Target is a binary with the selected functions and instructions.
type Target struct {
	Binary *offsets.Binary
	Funcs  []*offsets.Func
	Sites  []uprobe.Probe // the single instructions
	// Roles has the roles of Funcs.
	Roles map[*offsets.Func]Role
	Pair  *Pair // nil without Query.From

	// The following fields are the parsed arguments. ownFuncs: FUNC was not given, and OwnFuncs selects the functions.
	instructions, include []funcArg
	exclude               []symname.Pattern
	ownFuncs              bool
}

// Role says why a function was selected.
type Role struct {
	uprobe.Role
	arg *funcArg // the FUNC that selects the function, if it lists parameters
}

// AlsoInlined returns a message with the number of places where a function was inlined, or "".
func (t *Target) AlsoInlined(name string) string {
	at, _ := t.Binary.Inlined() // empty if it is not known
	var notes []string
	for _, part := range strings.Split(name, printable.Arrow) {
		if len(at[part]) == 0 {
			continue
		}
		text := fmt.Sprintf("is also inlined at %s, where its calls are not seen", printable.Plural(len(at[part]), "place"))
		if t.Pair != nil {
			text = part + " " + text
		}
		notes = append(notes, text)
	}
	return strings.Join(notes, "; ")
}

// checkProcessor returns an [ErrForeign] if the binary is for another processor than this machine's, so that no process
// can run it here.
func (t *Target) checkProcessor() error {
	name, here := t.Binary.File().Processor.Machine().Name, arch.Here()
	if here == nil || here.Machine().Name != name {
		return &kindError{fmt.Errorf("%s is for %s, and this machine is not: ftgo script writes a script that records there, for ftgo report here", t.Binary.File().Path(), name), ErrForeign}
	}
	return nil
}

// Hold keeps other processes from writing to the binary. Without force, it returns an error if a process has opened it
// for writing.
func (t *Target) Hold(force bool) error {
	busy, err := t.Binary.File().Hold()
	switch {
	case !busy:
		return err
	case force:
		return nil
	}
	return fmt.Errorf("%w (--force goes on)", err)
}

// WrittenTo returns the error of a run that ends because a process writes to the binary.
func (t *Target) WrittenTo() error {
	return fmt.Errorf("%s: a process writes to it: removed the probes, because they would be in wrong places", t.Binary.File().Path())
}

// Signature returns a function's signature. If the user gave one, it returns the user's, and fromUser is true. Otherwise it
// returns the signature in the file.
func (t *Target) Signature(f *offsets.Func) (sig *offsets.Signature, fromUser bool, err error) {
	if t.Pair != nil {
		return &t.Pair.both, true, nil
	}
	if a := t.Roles[f].arg; a != nil {
		sig, err = a.signature(t.Binary, f)
		return sig, true, err
	}
	sig, err = t.Binary.Signature(f)
	return sig, false, err
}

// Note returns the reason why a function's signature is not known, short enough for a line of a call.
func Note(err error) string {
	if errors.Is(err, offsets.ErrNoDebugInfo) {
		return capture.NotKnown + offsets.ErrNoDebugInfo.Error()
	}
	return err.Error()
}

// Shown returns the paths of the arguments and of the results to show for a function. If args is nil, all arguments are
// shown, and if results is nil, all results are shown.
func (t *Target) Shown(f *offsets.Func, sig *offsets.Signature) (args, results []string, err error) {
	if t.Pair != nil {
		return t.Pair.from.keys, t.Pair.to.keys, nil
	}
	a := t.Roles[f].arg
	if a == nil || a.hasSignature {
		return nil, nil, nil
	}
	args = []string{}
	if a.noResults {
		results = []string{}
	}
	last, returnsError := LastError(sig)
	for _, sel := range a.params {
		switch {
		case sel.Path == "" && !sel.Result:
			args = append(args, sel.Name)
		case sel.Path == "":
			results = append(results, sel.Name)
		case AtReturn(sig, sel.Path):
			results = append(results, sel.Path)
		case AtEntry(sig, sel.Path):
			args = append(args, sel.Path)
		case sel.Path == "err" && returnsError:
			results = append(results, last.Name)
		default:
			return nil, nil, NoVariable(f, sig, sel.Path)
		}
	}
	return args, results, nil
}

// NoVariable returns the error for a path that begins neither with a variable of the function nor with a name in others.
func NoVariable(f *offsets.Func, sig *offsets.Signature, path string, others ...string) error {
	var lists []string
	addList := func(kind string, names []string) {
		if len(names) > 0 {
			lists = append(lists, kind+strings.Join(names, ", "))
		}
	}
	addList("", names(slices.Concat(sig.Params, sig.Captured)))
	addList("results ", names(sig.Results))
	addList("of each call ", others)
	known, name := cmp.Or(strings.Join(lists, "; "), "none"), capture.RootOf(path)
	if sig.Untyped {
		receiver := ""
		if symname.Split(f.Name).Receiver != "" {
			receiver = "t ptr, "
		}
		known += fmt.Sprintf("; without debug information no name is known: say goarg1:string, or all types, as in '%s(%skey string) (n int, err error)'", f.Name, receiver)
	}
	if last, ok := LastError(sig); ok && name == "err" { // err alone is the text
		known += "; for a part of the error say " + last.Name + strings.TrimPrefix(path, name)
	}
	return usagef("%s has no variable %q (want %s)", f.Name, name, known)
}

func names(vars []offsets.Variable) (names []string) {
	for _, v := range vars {
		names = append(names, v.Name)
	}
	return names
}

// LastError returns the last result of a signature, and ok is true if the result is an error. If no variable is named err,
// the path "err" means this result.
func LastError(sig *offsets.Signature) (v offsets.Variable, ok bool) {
	if n := len(sig.Results); n > 0 {
		v = sig.Results[n-1]
	}
	return v, v.Type != nil && capture.IsError(v.Type)
}

// AtEntry reports whether a path begins with a value that is known when a call begins.
func AtEntry(sig *offsets.Signature, path string) bool {
	_, isLabel := capture.Label(path)
	return isLabel || capture.IsTrace(path) && !AtReturn(sig, path) || hasRoot(path, "goarg", sig.Params) || hasRoot(path, "goarg", sig.Captured)
}

// AtReturn reports whether a path begins with a value that is known when a call ends.
func AtReturn(sig *offsets.Signature, path string) bool { return hasRoot(path, "goret", sig.Results) }

func hasRoot(path, register string, vars []offsets.Variable) bool {
	name := capture.RootOf(path)
	from, _, _ := strings.Cut(name, ":") // a type follows
	return capture.RegisterLen(name) > 0 && strings.Contains(from, register) ||
		slices.ContainsFunc(vars, func(v offsets.Variable) bool { return v.Name == name })
}

// errLate is the reason why parameters are not fetched if the first instructions of a function can't be probed.
var errLate = errors.New("its register may be in use for something else where the probe is")

// FetchOptions returns the options for fetching variables of a function.
func FetchOptions(limits capture.Limits, b *offsets.Binary, f *offsets.Func, features tracefs.Features) capture.Options {
	return capture.Options{
		Limits: limits, Features: features, Machine: b.File().Processor.Machine(),
		// In a position-independent program, the address in a fetcharg is relative to the function: the kernel adds the
		// number after @+ to the distance between the probe's address and its file offset (translate_user_vaddr in
		// kernel/trace/trace_uprobe.c).
		Static: func(va uint64) string {
			if off, err := b.File().FileOffset(f.Addr); err == nil && b.File().Relocatable() {
				// Package tracefs computes the final number for each site from the probe's address. This text has the
				// same length.
				return fmt.Sprintf("@+0x%012x", va-(f.Addr-off))
			}
			return fmt.Sprintf("@%#x", va)
		},
		// A path may begin with a value in a register: "goarg2", "+56(+16(goarg4)):string".
		Variable: func(root string) (offsets.Variable, error) {
			sel, err := parseSelection(root)
			if err != nil {
				return offsets.Variable{}, err
			}
			return sel.inRegister(b, f)
		},
		// A name without a package that is not predeclared is of the function's package.
		Type: func(name string) (*gotype.Type, error) {
			if base := strings.TrimLeft(name, "*"); token.IsIdentifier(base) {
				if _, ok := gotype.Basic(base); !ok {
					name = strings.TrimSuffix(name, base) + symname.Split(f.Name).Package + "." + base
				}
			}
			return knownType(b, name)
		},
	}
}

// Builders returns two builders for the variables of one of Funcs: for the event at its begin, and for the event at its end.
// The event at the begin also fetches the addresses of callers. stack is their number.
func (t *Target) Builders(limits capture.Limits, f *offsets.Func, sites *offsets.Sites, sig *offsets.Signature, stack int, features tracefs.Features) (entry, ret *capture.Builder, err error) {
	if t.Pair != nil {
		return t.pairBuilders(limits, stack, features)
	}
	entry, ret = builders(FetchOptions(limits, t.Binary, f, features), t.Binary, f, sites, sig, stack)
	return entry, ret, nil
}

// builders returns two builders for the variables of a function: for the event at its entry, and for the event at its returns.
func builders(opt capture.Options, b *offsets.Binary, f *offsets.Func, sites *offsets.Sites, sig *offsets.Signature, stack int) (entry, ret *capture.Builder) {
	atEntry := append(slices.Clone(sig.Params), sig.Captured...)
	if sites.Late {
		for i := range atEntry {
			atEntry[i].Err = errLate
		}
	}
	ret = capture.NewBuilder(sig.Results, opt)
	opt.Resume, opt.Labels = b.Internals().ResumesWithoutArgs(f), b.Internals().Labels(f, sites)
	opt.OtherArgs = uprobe.StackArgs(b, stack, opt.Arrays)
	if sites.Late {
		opt.Variable = func(string) (offsets.Variable, error) { return offsets.Variable{}, errLate }
	}
	return capture.NewBuilder(atEntry, opt), ret
}

// Kinds of errors, besides errors of the file and of the system.
var (
	// ErrUsage: the arguments make no sense.
	ErrUsage = errors.New("wrong usage")
	// ErrNothing: the binary has nothing that the arguments select.
	ErrNothing = errors.New("nothing matched")
	// ErrForeign: the binary is for another processor than this machine's.
	ErrForeign = errors.New("another processor")
)

// kindError is an error of a kind that its text does not mention.
type kindError struct {
	error
	kind error
}

func (e *kindError) Unwrap() []error { return []error{e.kind, e.error} }

func usagef(format string, args ...any) error {
	return &kindError{fmt.Errorf(format, args...), ErrUsage}
}

func nothingf(format string, args ...any) error {
	return &kindError{fmt.Errorf(format, args...), ErrNothing}
}
