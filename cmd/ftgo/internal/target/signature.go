package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/gotype"
	"github.com/ftgo/ftgo/offsets/symname"
)

// splitGiven takes what FUNC arguments say of parameters off the patterns.
func splitGiven(texts []string, allowed bool) (patterns []string, given []offsets.Given, err error) {
	for _, text := range texts {
		g, ok, err := offsets.ParseGiven(text)
		switch {
		case err != nil && allowed:
			return nil, nil, cli.WithStatus(cli.ExitUsage, err)
		case err != nil || !ok:
			patterns = append(patterns, text)
		case !allowed:
			return nil, nil, cli.Usage("%q: only trace shows values", text)
		default:
			patterns = append(patterns, g.Function)
			given = append(given, g)
		}
	}
	return patterns, given, nil
}

// findGiven finds the functions that something was said of.
func (s *selection) findGiven(given []offsets.Given, funcs []*offsets.Func) {
	s.given = make(map[*offsets.Func]offsets.Given)
	for _, g := range given {
		p, err := symname.Glob(g.Function)
		if err != nil {
			continue // it would not have been selected
		}
		matching, _ := offsets.Select(s.binary.Funcs(), []symname.Pattern{p}, nil)
		for _, f := range matching {
			if slices.Contains(funcs, f) {
				s.given[f] = g
			}
		}
	}
}

// findInside adds the functions that calls must be made from.
func (s *selection) findInside(pattern string, funcs []*offsets.Func) ([]*offsets.Func, error) {
	patterns, err := compile([]string{pattern}, false)
	if err != nil {
		return nil, err
	}
	s.inside, s.onlyInside = make(map[*offsets.Func]bool), make(map[*offsets.Func]bool)
	matching, unmatched := offsets.Select(s.binary.Funcs(), patterns, nil)
	if len(unmatched) > 0 {
		return nil, cli.Nothing("%s", noMatch(s.binary, pattern, false))
	}
	for _, f := range matching {
		s.inside[f] = true
		if !slices.Contains(funcs, f) {
			s.onlyInside[f] = true
			funcs = append(funcs, f)
		}
	}
	return funcs, nil
}

// signature is what is known of a function's parameters, from the user or else from the
// file.
func (s *selection) signature(f *offsets.Func) (*offsets.Signature, error) {
	g, ok := s.given[f]
	switch {
	case !ok:
		return s.binary.Signature(f)
	case g.HasSignature:
		return s.binary.GivenSignature(f, g)
	}
	sig := &offsets.Signature{}
	if known, err := s.binary.Signature(f); err == nil {
		*sig = *known
	} else if slices.ContainsFunc(g.Select, func(sel offsets.Selection) bool { return sel.Path != "" }) {
		return nil, err
	}
	sig.Note = ""
	registers, err := s.binary.GivenSignature(f, g)
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

// fetchVariable is what a fetcharg of the user's yields, of a type like s32 or x64.
func fetchVariable(sel offsets.Selection) offsets.Variable {
	t := &gotype.Type{Name: sel.Type, Kind: gotype.Uint, Size: 8, Align: 8}
	if strings.HasPrefix(sel.Type, "s") {
		t.Kind = gotype.Int
	}
	if bits, err := strconv.Atoi(sel.Type[1:]); err == nil {
		t.Size = int64(bits / 8)
	}
	return offsets.Variable{Name: sel.Name, Type: t, Pieces: []offsets.Piece{{Size: t.Size, Fetch: sel.Fetch}}}
}

// shown are the paths to show of a function's arguments and results; nil is all.
func (s *selection) shown(f *offsets.Func, sig *offsets.Signature) (args, results []string) {
	g, ok := s.given[f]
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
		case hasVariable(sig.Results, rootName(sel.Path)):
			results = append(results, sel.Path)
		default:
			args = append(args, sel.Path)
		}
	}
	return args, results
}
