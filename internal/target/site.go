package target

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// site is a FUNC that selects single instructions. main.f+0x1a or main.f+26 is an offset in bytes from the start of a
// function. store.go:42 is the start of a source line.
type site struct {
	text string

	function string // "" for a source line
	offset   uint64

	file string
	line int
}

// These patterns match no name of a function: an import path may contain a plus sign, but no name ends in a plus sign and
// digits. No name contains ".go:".
var (
	offsetSite = regexp.MustCompile(`(?s)^(.+)\+(?:0x([^+./]*)|([0-9]+))$`)
	lineSite   = regexp.MustCompile(`(?s)^(?:(.+\.go)|(.+\.s)):(.*)$`)
)

// parseSite parses a site. If text is a pattern of functions instead, ok is false.
func parseSite(text string) (s site, ok bool, err error) {
	if m := offsetSite.FindStringSubmatch(text); m != nil {
		base := 16
		if m[3] != "" {
			base = 10 // 010 is ten
		}
		offset, err := strconv.ParseUint(m[2]+m[3], base, 64)
		if err != nil {
			return s, false, fmt.Errorf("parse %q: %q is not an offset like 0x1a or 26", text, text[len(m[1])+1:])
		}
		return site{text: text, function: m[1], offset: offset}, true, nil
	}
	if m := lineSite.FindStringSubmatch(text); m != nil {
		file, number := m[1]+m[2], m[3]
		line, err := strconv.ParseUint(number, 10, 31)
		switch {
		case err != nil || line == 0:
			return s, false, fmt.Errorf("parse %q: %q is not a line number", text, number)
		case strings.ContainsAny(file, "*?"):
			return s, false, fmt.Errorf("parse %q: no wildcards in a file's name", text)
		}
		return site{text: text, file: file, line: int(line)}, true, nil
	}
	return s, false, nil
}

// resolve finds the instructions of a site. An offset selects one instruction. A source line selects one instruction in each
// function that contains code of the line, and one in each inlined copy. The field Err of an instruction is the reason why
// the instruction can't be probed. If no instruction of a line can be probed, resolve returns the first Err.
func (s site) resolve(t *Target) (found []uprobe.Probe, err error) {
	b := t.Binary
	if s.function != "" {
		p, err := s.byOffset(t)
		return []uprobe.Probe{p}, err
	}
	addrs, err := b.Internals().LineAddrs(s.file, s.line)
	if b.Internals().NoCode(err) {
		return nil, nothingf("%w", err)
	} else if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		found = append(found, s.probeAt(b, addr))
	}
	if !slices.ContainsFunc(found, func(p uprobe.Probe) bool { return p.Err == nil }) {
		return nil, fmt.Errorf("%s: %w", found[0].Name, found[0].Err)
	}
	if len(found) == 1 {
		found[0].Name = s.short()
	}
	return found, nil
}

// pointProbe returns the probe of an instruction. again is true if the instruction is executed again after a failed stack
// check.
func pointProbe(name string, f *offsets.Func, at offsets.Site, again bool) uprobe.Probe {
	fn := &offsets.Func{Name: name, Addr: at.Addr(), Size: 1, ABI: f.ABI}
	return uprobe.Probe{Func: fn, Sites: &offsets.Sites{Entry: at, Restarts: again}, Point: true}
}

func (s site) byOffset(t *Target) (p uprobe.Probe, err error) {
	f, err := s.lookupFunc(t)
	if err != nil {
		return p, err
	}
	name, internals := fmt.Sprintf("%s+%#x", f.Name, s.offset), t.Binary.Internals()
	at, err := internals.SiteAt(f, s.offset)
	if internals.NoCode(err) {
		return p, nothingf("%s: %w", name, err)
	} else if err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	sites, err := t.Binary.Sites(f)
	return pointProbe(name, f, at, err == nil && at.Addr() < sites.Entry.Addr()), nil
}

// lookupFunc finds the function of the site. It returns an error if several functions have the name.
func (s site) lookupFunc(t *Target) (*offsets.Func, error) {
	named, err := t.findFuncs(s.function)
	if err != nil {
		return nil, err
	}
	other := func(f *offsets.Func) bool { return f.Name != s.function }
	if exact := slices.DeleteFunc(slices.Clone(named), other); len(exact) > 0 {
		named = exact
	}
	if len(named) > 1 {
		return nil, usagef("%s: %d functions of that name, such as %s at %#x", s.text, len(named), named[0].Name, named[0].Addr)
	}
	return named[0], nil
}

// probeAt returns the probe of the instruction at an address. If the function's entry probe is on a later instruction,
// probeAt returns the probe of the later instruction, because earlier instructions are executed again after a failed stack
// check.
func (s site) probeAt(b *offsets.Binary, addr uint64) uprobe.Probe {
	f, ok := b.FuncAt(addr)
	if !ok {
		return uprobe.Probe{Func: &offsets.Func{Name: s.short()}, Err: fmt.Errorf("address %#x: in no function", addr)}
	}
	if sites, err := b.Sites(f); err == nil {
		addr = max(addr, sites.Entry.Addr())
	}
	at, err := b.Internals().SiteAt(f, addr-f.Addr)
	p := pointProbe(fmt.Sprintf("%s (%s+%#x)", s.short(), f.Name, addr-f.Addr), f, at, false)
	p.Err = err
	return p
}

// short returns the source line without folders.
func (s site) short() string { return fmt.Sprintf("%s:%d", path.Base(s.file), s.line) }
