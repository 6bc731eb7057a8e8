package main

import (
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
)

// place is a FUNC that means single instructions: main.f+0x1a or main.f+26, so many
// bytes behind the start of a function; store.go:42, where a source line begins.
type place struct {
	text string

	function string // "" for a source line
	offset   uint64

	file string
	line int
}

// splitPlaces sorts FUNC arguments into places and patterns.
func splitPlaces(texts []string) (places []place, patterns []string, err error) {
	for _, text := range texts {
		p, ok, err := parsePlace(text)
		switch {
		case err != nil:
			return nil, nil, cli.WithStatus(cli.ExitUsage, err)
		case ok:
			places = append(places, p)
		default:
			patterns = append(patterns, text)
		}
	}
	return places, patterns, nil
}

// parsePlace reads a place; ok is false for what is a pattern. Import paths may have a
// plus sign, but what follows that can't look like a number to the end; and no symbol
// has ".go:" in it.
func parsePlace(text string) (p place, ok bool, err error) {
	if plus := strings.LastIndexByte(text, '+'); plus > 0 {
		number := text[plus+1:]
		hex, isHex := strings.CutPrefix(number, "0x")
		if isHex && !strings.ContainsAny(hex, "./") || isDecimal(number) {
			return parseOffset(text, text[:plus], number)
		}
	}
	for _, suffix := range []string{".go:", ".s:"} {
		if dot := strings.LastIndex(text, suffix); dot > 0 {
			colon := dot + len(suffix) - 1
			return parseLine(text, text[:colon], text[colon+1:])
		}
	}
	return place{}, false, nil
}

func parseOffset(text, function, number string) (place, bool, error) {
	offset, err := strconv.ParseUint(number, 0, 64)
	if !strings.HasPrefix(number, "0x") { // 010 is ten
		offset, err = strconv.ParseUint(number, 10, 64)
	}
	if err != nil || strings.Contains(number, "_") {
		return place{}, false, fmt.Errorf("parse %q: %q is no offset like 0x1a or 26", text, number)
	}
	return place{text: text, function: function, offset: offset}, true, nil
}

func parseLine(text, file, number string) (place, bool, error) {
	line, err := strconv.ParseUint(number, 10, 31)
	if err != nil || line == 0 {
		return place{}, false, fmt.Errorf("parse %q: %q is no line number", text, number)
	}
	if strings.ContainsAny(file, "*?") {
		return place{}, false, fmt.Errorf("parse %q: no wildcards in a file's name", text)
	}
	return place{text: text, file: file, line: int(line)}, true, nil
}

func isDecimal(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// spot is one instruction of a place.
type spot struct {
	fn    *offsets.Func
	site  offsets.Site
	label string
	// again: it is executed once more for each failed stack check.
	again bool
}

// resolve finds the instructions of a place: one by offset, and for a source line one
// in each function that has code of it and in each inlined copy. Those of them that
// can't be probed are skipped, unless that is all.
func (p place) resolve(b *offsets.Binary) ([]spot, []stats.Skipped, error) {
	if p.function != "" {
		s, err := p.byOffset(b)
		return []spot{s}, nil, err
	}
	addrs, err := b.LineAddrs(p.file, p.line)
	if errors.Is(err, offsets.ErrNoCode) {
		return nil, nil, cli.WithStatus(cli.ExitNothing, err)
	} else if err != nil {
		return nil, nil, err
	}
	var spots []spot
	var skipped []stats.Skipped
	for _, addr := range addrs {
		s, err := p.at(b, addr)
		if err != nil {
			skipped = append(skipped, stats.Skipped{Function: s.label, Reason: err.Error()})
		} else {
			spots = append(spots, s)
		}
	}
	if len(spots) == 0 {
		return nil, nil, fmt.Errorf("%s: %s", skipped[0].Function, skipped[0].Reason)
	}
	if len(addrs) == 1 {
		spots[0].label = p.short()
	}
	return spots, skipped, nil
}

func (p place) byOffset(b *offsets.Binary) (spot, error) {
	f, err := p.named(b)
	if err != nil {
		return spot{}, err
	}
	s := spot{fn: f, label: fmt.Sprintf("%s+%#x", f.Name, p.offset)}
	if s.site, err = b.SiteAt(f, p.offset); err != nil {
		err = fmt.Errorf("%s: %w", s.label, err)
		if errors.Is(err, offsets.ErrNoInstruction) {
			err = cli.WithStatus(cli.ExitNothing, err)
		}
		return s, err
	}
	sites, err := b.Sites(f)
	s.again = err == nil && s.site.Addr() < sites.Entry.Addr()
	return s, nil
}

// named finds the one function that the place is in.
func (p place) named(b *offsets.Binary) (*offsets.Func, error) {
	patterns, err := compile([]string{p.function}, false)
	if err != nil {
		return nil, err
	}
	funcs, _ := offsets.Select(b.Funcs(), patterns, nil)
	var named []*offsets.Func
	for _, f := range funcs {
		if f.Name == p.function {
			named = append(named, f)
		}
	}
	if len(named) == 0 {
		named = funcs
	}
	switch len(named) {
	case 0:
		return nil, cli.Nothing("%s", noMatch(b, p.function, false))
	case 1:
		return named[0], nil
	}
	var list []string
	for _, f := range named[:min(len(named), 3)] {
		list = append(list, fmt.Sprintf("%s at %#x", f.Name, f.Addr))
	}
	if len(named) > len(list) {
		list = append(list, "…")
	}
	return nil, cli.Usage("%s: %d functions of that name: %s", p.text, len(named), strings.Join(list, ", "))
}

// at is the instruction at an address, or, if that comes before where the function's
// calls are seen to begin, the one there: what comes earlier is executed again after a
// failed stack check.
func (p place) at(b *offsets.Binary, addr uint64) (spot, error) {
	f, ok := b.FuncAt(addr)
	if !ok {
		return spot{label: p.short()}, fmt.Errorf("address %#x: in no function", addr)
	}
	sites, err := b.Sites(f)
	if err == nil {
		addr = max(addr, sites.Entry.Addr())
	}
	s := spot{fn: f, label: fmt.Sprintf("%s (%s+%#x)", p.short(), f.Name, addr-f.Addr)}
	s.site, err = b.SiteAt(f, addr-f.Addr)
	return s, err
}

// short is a source line without the folders.
func (p place) short() string { return fmt.Sprintf("%s:%d", path.Base(p.file), p.line) }
