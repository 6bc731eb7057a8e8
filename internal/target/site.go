package target

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// site is a FUNC that means single instructions: main.f+0x1a or main.f+26, so many
// bytes behind the start of a function; store.go:42, where a source line begins.
type site struct {
	text string

	function string // "" for a source line
	offset   uint64

	file string
	line int
}

// Import paths may have a plus sign, but what follows that can't look like a number to the end; and
// no symbol has ".go:" in it.
var (
	offsetSite = regexp.MustCompile(`(?s)^(.+)\+(?:0x([^+./]*)|([0-9]+))$`)
	lineSite   = regexp.MustCompile(`(?s)^(?:(.+\.go)|(.+\.s)):(.*)$`)
)

// parseSite reads a site; ok is false for what is a pattern.
func parseSite(text string) (s site, ok bool, err error) {
	if m := offsetSite.FindStringSubmatch(text); m != nil {
		base := 16
		if m[3] != "" {
			base = 10 // 010 is ten
		}
		offset, err := strconv.ParseUint(m[2]+m[3], base, 64)
		if err != nil {
			return s, false, fmt.Errorf("parse %q: %q is no offset like 0x1a or 26", text, text[len(m[1])+1:])
		}
		return site{text: text, function: m[1], offset: offset}, true, nil
	}
	if m := lineSite.FindStringSubmatch(text); m != nil {
		file, number := m[1]+m[2], m[3]
		line, err := strconv.ParseUint(number, 10, 31)
		switch {
		case err != nil || line == 0:
			return s, false, fmt.Errorf("parse %q: %q is no line number", text, number)
		case strings.ContainsAny(file, "*?"):
			return s, false, fmt.Errorf("parse %q: no wildcards in a file's name", text)
		}
		return site{text: text, file: file, line: int(line)}, true, nil
	}
	return s, false, nil
}

// resolve finds the instructions of a site: one by offset, and for a source line one
// in each function that has code of it and in each inlined copy. Those of them that
// can't be probed are skipped, unless that is all.
func (s site) resolve(say Say, b *offsets.Binary) (found []uprobe.Instruction, skipped []stats.Skipped, err error) {
	if s.function != "" {
		in, err := s.byOffset(say, b)
		return []uprobe.Instruction{in}, nil, err
	}
	addrs, err := b.LineAddrs(s.file, s.line)
	if errors.Is(err, offsets.ErrNoCode) {
		return nil, nil, nothingf("%w", err)
	} else if err != nil {
		return nil, nil, err
	}
	for _, addr := range addrs {
		in, err := s.at(b, addr)
		if err != nil {
			skipped = append(skipped, stats.Skipped{Function: in.Name, Reason: err.Error()})
		} else {
			found = append(found, in)
		}
	}
	if len(found) == 0 {
		return nil, nil, fmt.Errorf("%s: %s", skipped[0].Function, skipped[0].Reason)
	}
	if len(addrs) == 1 {
		found[0].Name = s.short()
	}
	return found, skipped, nil
}

func (s site) byOffset(say Say, b *offsets.Binary) (in uprobe.Instruction, err error) {
	if in.Func, err = s.in(b); err != nil {
		return in, err
	}
	in.Name = fmt.Sprintf("%s+%#x", in.Func.Name, s.offset)
	meant := ""
	if assembly, ok := b.Lookup(in.Func.Name + ".abi0"); ok && isWrapper(b, in.Func) {
		meant = fmt.Sprintf("; %s is a wrapper of %s, which %s+%#x is in", in.Func.Name, assembly.Name, assembly.Name, s.offset)
	}
	code, err := b.Decode(in.Func)
	if err == nil {
		in.Site, err = code.SiteAt(s.offset)
	}
	if errors.Is(err, offsets.ErrNoCode) {
		return in, nothingf("%s: %w%s", in.Name, err, meant)
	} else if err != nil {
		return in, fmt.Errorf("%s: %w%s", in.Name, err, meant)
	} else if meant != "" {
		say("%s%s", in.Name, meant)
	}
	in.Again = code.Unprobed == nil && in.Site.Addr() < code.Sites.Entry.Addr()
	return in, nil
}

// in finds the one function that the site is in.
func (s site) in(b *offsets.Binary) (*offsets.Func, error) {
	named, err := matching(b, s.function)
	if err != nil {
		return nil, err
	}
	other := func(f *offsets.Func) bool { return f.Name != s.function }
	if exact := slices.DeleteFunc(slices.Clone(named), other); len(exact) > 0 {
		named = exact
	}
	if len(named) == 1 {
		return named[0], nil
	}
	var list []string
	for _, f := range named[:min(len(named), 3)] {
		list = append(list, fmt.Sprintf("%s at %#x", f.Name, f.Addr))
	}
	if len(named) > len(list) {
		list = append(list, "…")
	}
	return nil, usagef("%s: %d functions of that name: %s", s.text, len(named), strings.Join(list, ", "))
}

// at is the instruction at an address, or, if that comes before where the function's
// calls are seen to begin, the one there: what comes earlier is executed again after a
// failed stack check.
func (s site) at(b *offsets.Binary, addr uint64) (in uprobe.Instruction, err error) {
	f, ok := b.FuncAt(addr)
	if !ok {
		return uprobe.Instruction{Name: s.short()}, fmt.Errorf("address %#x: in no function", addr)
	}
	code, err := b.Decode(f)
	if err == nil && code.Unprobed == nil {
		addr = max(addr, code.Sites.Entry.Addr())
	}
	in = uprobe.Instruction{Func: f, Name: fmt.Sprintf("%s (%s+%#x)", s.short(), f.Name, addr-f.Addr)}
	if err == nil {
		in.Site, err = code.SiteAt(addr - f.Addr)
	}
	return in, err
}

// short is a source line without the folders.
func (s site) short() string { return fmt.Sprintf("%s:%d", path.Base(s.file), s.line) }
