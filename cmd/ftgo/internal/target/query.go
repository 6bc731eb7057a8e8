package main

import (
	"fmt"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/loader"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/symname"
	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// selection is a binary and the functions asked for.
type selection struct {
	binary *offsets.Binary
	funcs  []*offsets.Func
	// points are the single instructions asked for, skipped those of them that can't be
	// probed.
	points  []uprobe.Instruction
	skipped []stats.Skipped
	// named are those whose name was given without wildcards: they are shown even
	// if never called.
	named map[*offsets.Func]bool
	// wrappers are functions that the compiler made to call others, and that no pattern
	// selects without another function.
	wrappers map[*offsets.Func]bool
	// given is what was said of functions' parameters.
	given map[*offsets.Func]offsets.Given
	// inside are the functions of --inside; onlyInside those that were not asked for
	// otherwise.
	inside, onlyInside map[*offsets.Func]bool
}

// selectFuncs opens the binary and finds the functions that the patterns select. A
// pattern without a match is an error, unless that is allowed, since it is mostly a typing
// error; then only all of them together are.
func selectFuncs(e *env, o *options) (*selection, error) {
	// What is read of a binary is kept: of a huge one, looking for garbage takes an eighth of
	// the time.
	defer debug.SetGCPercent(debug.SetGCPercent(1000))
	w, err := readWanted(o)
	if err != nil {
		return nil, err
	}
	b := w.binary
	s := &selection{binary: b, named: make(map[*offsets.Func]bool)}
	for _, p := range w.places {
		spots, skipped, err := p.resolve(b)
		if err != nil {
			b.Close()
			return nil, err
		}
		for _, sp := range spots {
			s.points = append(s.points, uprobe.Instruction{Name: sp.label, Func: sp.fn, Site: sp.site, Again: sp.again})
		}
		s.skipped = append(s.skipped, skipped...)
	}
	funcs, unmatched := offsets.Select(b.Funcs(), w.include, w.exclude)
	s.findGiven(w.given, funcs)
	if o.trace.inside != "" {
		if funcs, err = s.findInside(o.trace.inside, funcs); err != nil {
			b.Close()
			return nil, err
		}
	}
	for i, p := range unmatched {
		text := noMatch(b, p.String(), o.regexp)
		if !o.force && !o.someMissing || len(funcs)+len(s.points) == 0 && i == len(unmatched)-1 {
			b.Close()
			return nil, cli.Nothing("%s", text)
		}
		e.Say("%s", text)
	}
	if len(funcs)+len(s.points) == 0 {
		b.Close()
		return nil, cli.Nothing("%s: all functions that match are excluded", o.binary)
	}
	s.funcs = funcs
	if !o.regexp {
		s.findNamed(w.include, w.exclude)
	}
	if o.wrappersMatter() {
		s.findWrappers(w.include, w.exclude)
	}
	return s, nil
}

// wanted is what the arguments ask for, read but not looked up.
type wanted struct {
	binary           *offsets.Binary
	places           []place
	include, exclude []symname.Pattern
	given            []offsets.Given
}

// readWanted opens the binary and reads the FUNC arguments. Who gets it closes the
// binary.
func readWanted(o *options) (w wanted, err error) {
	mapped, err := findBinary(o)
	if err != nil {
		return w, err
	}
	if err := w.readPatterns(o); err != nil {
		mapped.Close() // which may be none
		return w, err
	}
	w.binary, err = openBinary(o.binary, mapped, nil)
	return w, err
}

func (w *wanted) readPatterns(o *options) (err error) {
	patterns := o.patterns
	if !o.regexp {
		if w.places, patterns, err = splitPlaces(o.patterns); err != nil {
			return err
		}
		if patterns, w.given, err = splitGiven(patterns, o.signatures); err != nil {
			return err
		}
	}
	if w.include, err = compile(patterns, o.regexp); err != nil {
		return err
	}
	w.exclude, err = compile(o.exclude, o.regexp)
	return err
}

// openBinary opens what [loader.Find] has found.
func openBinary(path string, mapped *os.File, err error) (*offsets.Binary, error) {
	switch {
	case err != nil:
		return nil, err
	case mapped != nil:
		return offsets.OpenFile(mapped, path)
	}
	return offsets.Open(path)
}

// findBinary finds the file that BINARY names. With -p it may also be the first FUNC,
// if that is a library that the process has mapped: ftgo count -p PID libgo 'fmt.*'. What is
// mapped is open.
func findBinary(o *options) (mapped *os.File, err error) {
	pid := 0
	if len(o.pids) > 0 {
		pid = procfs.Executing(o.pids[0])
		// A path would have been taken for BINARY: what has a slash is a package's.
		if o.ownBinary && len(o.patterns) > 1 && !strings.Contains(o.patterns[0], "/") {
			if path, mapped, err := loader.Find(o.patterns[0], pid); err == nil {
				o.binary, o.ownBinary, o.patterns = path, false, o.patterns[1:]
				return mapped, nil
			}
		}
	}
	o.binary, mapped, err = loader.Find(o.binary, pid)
	return mapped, err
}

func (s *selection) findNamed(include, exclude []symname.Pattern) {
	var plain []symname.Pattern
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

// wrappersMatter: --fail-if is there, or may be given to report.
func (o *options) wrappersMatter() bool { return o.auto.failing.text != "" || o.recorded.as != "" }

func (s *selection) findWrappers(include, exclude []symname.Pattern) {
	s.wrappers = make(map[*offsets.Func]bool)
	alone := make(map[*offsets.Func]bool)
	for _, p := range include {
		funcs, _ := offsets.Select(s.binary.Funcs(), []symname.Pattern{p}, exclude)
		var wrappers []*offsets.Func
		for _, f := range funcs {
			// The last frame is the function's own. Wrappers of promoted methods are none to stacks.
			if frames := s.binary.Frames(f.Addr); len(frames) > 0 && frames[len(frames)-1].File == "<autogenerated>" {
				wrappers = append(wrappers, f)
			}
		}
		for _, f := range wrappers {
			s.wrappers[f] = true
			alone[f] = alone[f] || len(wrappers) == len(funcs)
		}
	}
	maps.DeleteFunc(s.wrappers, func(f *offsets.Func, _ bool) bool { return alone[f] })
}

func compile(texts []string, regexp bool) ([]symname.Pattern, error) {
	read := symname.Glob
	if regexp {
		read = symname.Regexp
	}
	patterns := make([]symname.Pattern, len(texts))
	for i, t := range texts {
		p, err := read(t)
		if err != nil {
			return nil, cli.WithStatus(cli.ExitUsage, err)
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
	if at, err := b.InlinedAt(pattern); err == nil && len(at) > 0 {
		return fmt.Sprintf("%s: %s was inlined into its callers (%s, see ftgo list) and has no code of its own: nothing to probe", b.Path(), pattern, cli.Plural(len(at), "place"))
	}
	var names []string
	for _, f := range b.Funcs() {
		names = append(names, f.Name)
	}
	near := symname.Nearest(pattern, slices.Values(names), 3)
	if len(near) == 0 {
		return text
	}
	return text + "; nearest: " + strings.Join(near, ", ")
}
