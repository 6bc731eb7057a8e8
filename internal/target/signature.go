package target

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/valuepath"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
)

// Signature is what is known of a function's parameters, from the user or else from the
// file. told tells whether the user has said something.
func (t *Target) Signature(f *offsets.Func) (sig *offsets.Signature, told bool, err error) {
	g, told := t.given[f]
	switch {
	case !told:
		sig, err = t.Binary.Signature(f)
	case g.HasSignature:
		sig, err = t.Binary.GivenSignature(f, *g)
	default:
		sig, err = t.partly(f, g)
	}
	return sig, told, err
}

// partly is a signature of the file with what the user adds.
func (t *Target) partly(f *offsets.Func, g *offsets.Given) (*offsets.Signature, error) {
	sig := &offsets.Signature{}
	if known, err := t.Binary.Signature(f); err == nil {
		*sig = *known
	} else if slices.ContainsFunc(g.Select, func(sel offsets.Selection) bool { return sel.Path != "" }) {
		return nil, err
	}
	sig.Note = ""
	registers, err := t.Binary.GivenSignature(f, *g)
	if err != nil {
		return nil, err
	}
	sig.Params = append(slices.Clone(sig.Params), registers.Params...)
	sig.Results = append(slices.Clone(sig.Results), registers.Results...)
	for _, sel := range g.Select {
		if sel.Fetch != "" {
			sig.Params = append(sig.Params, fetchVariable(sel))
		}
	}
	return sig, nil
}

// Note says, for a line of a call, why a function's signature is not known: without the prefixes
// that there is no room for.
func Note(err error) string {
	if errors.Is(err, offsets.ErrNoDebugInfo) {
		return "not known: " + offsets.ErrNoDebugInfo.Error()
	}
	return err.Error()
}

// fetchVariable is what a fetcharg of the user's yields, of a type like s32 or x64.
func fetchVariable(sel offsets.Selection) offsets.Variable {
	t := &gotype.Type{Name: sel.Type, Kind: reflect.Uint, Size: 8, Align: 8}
	if strings.HasPrefix(sel.Type, "s") {
		t.Kind = reflect.Int
	}
	if bits, err := strconv.Atoi(sel.Type[1:]); err == nil {
		t.Size = int64(bits / 8)
	}
	return offsets.Variable{Name: sel.Name, Type: t, Pieces: []offsets.Piece{{Size: t.Size, Fetch: sel.Fetch}}}
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
		case sel.Path == "" && sel.Result == 0:
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
