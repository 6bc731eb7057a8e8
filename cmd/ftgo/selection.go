package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/offsets"
)

// selection is a binary and the functions asked for.
type selection struct {
	binary *offsets.Binary
	funcs  []*offsets.Func
	// named are those whose name was given without wildcards: they are shown even
	// if never called.
	named map[*offsets.Func]bool
}

// selectFuncs opens the binary and finds the functions that the patterns select. A
// pattern without a match is an error, unless forced, since it is mostly a typing
// error; then only all of them together are.
func selectFuncs(e *env, o *options) (*selection, error) {
	include, err := compile(o.patterns, o.regexp)
	if err != nil {
		return nil, err
	}
	exclude, err := compile(o.exclude, o.regexp)
	if err != nil {
		return nil, err
	}
	b, err := offsets.Open(o.binary)
	if err != nil {
		return nil, err
	}
	s := &selection{binary: b, named: make(map[*offsets.Func]bool)}
	funcs, unmatched := offsets.Select(b.Funcs(), include, exclude)
	for i, p := range unmatched {
		text := noMatch(b, p.String(), o.regexp)
		if !o.force || len(funcs) == 0 && i == len(unmatched)-1 {
			b.Close()
			return nil, nothing("%s", text)
		}
		e.say("%s", text)
	}
	if len(funcs) == 0 {
		b.Close()
		return nil, nothing("%s: all functions that match are excluded", o.binary)
	}
	s.funcs = funcs
	if !o.regexp {
		s.findNamed(include, exclude)
	}
	return s, nil
}

func (s *selection) findNamed(include, exclude []offsets.Pattern) {
	var plain []offsets.Pattern
	for _, p := range include {
		if _, exact := s.binary.Lookup(p.String()); exact || !strings.ContainsAny(p.String(), "*?") {
			plain = append(plain, p)
		}
	}
	named, _ := offsets.Select(s.binary.Funcs(), plain, exclude)
	for _, f := range named {
		s.named[f] = true
	}
}

func compile(texts []string, regexp bool) ([]offsets.Pattern, error) {
	syntax := offsets.Glob
	if regexp {
		syntax = offsets.Regexp
	}
	patterns := make([]offsets.Pattern, len(texts))
	for i, t := range texts {
		p, err := offsets.CompilePattern(t, syntax)
		if err != nil {
			return nil, &statusError{exitUsage, err}
		}
		patterns[i] = p
	}
	return patterns, nil
}

// noMatch explains why a pattern selects nothing: no such name, or a function that
// the compiler has put into its callers.
func noMatch(b *offsets.Binary, pattern string, regexp bool) string {
	text := fmt.Sprintf("%s: no function matches %q", b.Path(), pattern)
	if regexp {
		return text
	}
	if n, err := b.InlinedCalls(pattern); err == nil && n > 0 {
		return fmt.Sprintf("%s: %s was inlined into its callers (%d places) and has no code of its own: nothing to probe", b.Path(), pattern, n)
	} else if err != nil && !errors.Is(err, offsets.ErrNoFunc) {
		text += fmt.Sprintf(" (%v)", err)
	}
	near := offsets.Nearest(pattern, b.Funcs(), 3)
	if len(near) == 0 {
		return text
	}
	return text + "; nearest: " + strings.Join(near, ", ")
}
