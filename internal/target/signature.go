package target

import (
	"errors"
	"slices"

	"github.com/ftgo/ftgo/internal/valuepath"
	"github.com/ftgo/ftgo/offsets"
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
