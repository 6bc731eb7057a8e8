package target

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// These patterns match no name of a function: an import path may contain a plus sign, but no name ends in a plus sign and
// digits. No name contains ".go:".
var (
	offsetSite = regexp.MustCompile(`(?s)^(.+)\+(?:0x([^+./()]*)|([0-9]+))$`)
	lineSite   = regexp.MustCompile(`(?s)^(.+\.(?:go|s)):(.*)$`)
)

// readInstruction parses a FUNC that selects single instructions: main.f+0x1a or main.f+26 is an offset in bytes from the
// start of a function, and store.go:42 is the start of a source line. It does nothing if the FUNC is a pattern of functions.
func (a *funcArg) readInstruction() (err error) {
	if m := offsetSite.FindStringSubmatch(a.text); m != nil {
		base := 16
		if m[3] != "" {
			base = 10 // 010 is ten
		}
		if a.number, err = strconv.ParseUint(m[2]+m[3], base, 64); err != nil {
			return fmt.Errorf("%q is not an offset like 0x1a or 26", a.text[len(m[1])+1:])
		}
		a.function = m[1]
	} else if m := lineSite.FindStringSubmatch(a.text); m != nil {
		a.file = m[1]
		switch a.number, err = strconv.ParseUint(m[2], 10, 31); {
		case err != nil || a.number == 0:
			return fmt.Errorf("%q is not a line number", m[2])
		case strings.ContainsAny(a.file, "*?"):
			return errors.New("no wildcards in a file's name")
		}
	}
	return nil
}

func (a *funcArg) isInstruction() bool { return a.function+a.file != "" }

// resolve finds the instructions. An offset selects one instruction. A source line selects one instruction in each
// function that contains code of the line, and one in each inlined copy. The field Err of an instruction is the reason why
// the instruction can't be probed. If no instruction of a line can be probed, resolve returns the first Err.
func (a *funcArg) resolve(t *Target) (found []uprobe.Probe, err error) {
	b := t.Binary
	if a.function != "" {
		p, err := a.byOffset(t)
		return []uprobe.Probe{p}, err
	}
	addrs, err := b.Internals().LineAddrs(a.file, int(a.number))
	if b.Internals().NoCode(err) {
		return nil, nothingf("%w", err)
	} else if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		found = append(found, a.probeAt(b, addr))
	}
	if !slices.ContainsFunc(found, func(p uprobe.Probe) bool { return p.Err == nil }) {
		return nil, fmt.Errorf("%s: %w", found[0].Name, found[0].Err)
	}
	if len(found) == 1 {
		found[0].Name = a.short()
	}
	return found, nil
}

// pointProbe returns the probe of an instruction. again is true if the instruction is executed again after a failed stack
// check.
func pointProbe(name string, f *offsets.Func, at offsets.Site, again bool) uprobe.Probe {
	fn := &offsets.Func{Name: name, Addr: at.Addr(), ABI: f.ABI}
	return uprobe.Probe{Func: fn, Sites: &offsets.Sites{Entry: at, Restarts: again}, Point: true}
}

func (a *funcArg) byOffset(t *Target) (p uprobe.Probe, err error) {
	f, err := a.lookupFunc(t)
	if err != nil {
		return p, err
	}
	name, internals := fmt.Sprintf("%s+%#x", f.Name, a.number), t.Binary.Internals()
	at, err := internals.SiteAt(f, a.number)
	if internals.NoCode(err) {
		return p, nothingf("%s: %w", name, err)
	} else if err != nil {
		return p, fmt.Errorf("%s: %w", name, err)
	}
	sites, err := t.Binary.Sites(f)
	return pointProbe(name, f, at, err == nil && at.Addr() < sites.Entry.Addr()), nil
}

// lookupFunc finds the function of the site. It returns an error if several functions have the name.
func (a *funcArg) lookupFunc(t *Target) (*offsets.Func, error) {
	named, err := t.findFuncs(a.function)
	if err != nil {
		return nil, err
	}
	other := func(f *offsets.Func) bool { return f.Name != a.function }
	if exact := slices.DeleteFunc(slices.Clone(named), other); len(exact) > 0 {
		named = exact
	}
	if len(named) > 1 {
		return nil, usagef("%s: %d functions of that name, such as %s at %#x", a.text, len(named), named[0].Name, named[0].Addr)
	}
	return named[0], nil
}

// probeAt returns the probe of the instruction at an address. If the function's entry probe is on a later instruction,
// probeAt returns the probe of the later instruction, because earlier instructions are executed again after a failed stack
// check.
func (a *funcArg) probeAt(b *offsets.Binary, addr uint64) uprobe.Probe {
	f, ok := b.FuncAt(addr)
	if !ok {
		return uprobe.Probe{Func: &offsets.Func{Name: a.short()}, Err: fmt.Errorf("address %#x: in no function", addr)}
	}
	if sites, err := b.Sites(f); err == nil {
		addr = max(addr, sites.Entry.Addr())
	}
	at, err := b.Internals().SiteAt(f, addr-f.Addr)
	p := pointProbe(fmt.Sprintf("%s (%s+%#x)", a.short(), f.Name, addr-f.Addr), f, at, false)
	p.Err = err
	return p
}

// short returns the source line without folders.
func (a *funcArg) short() string { return fmt.Sprintf("%s:%d", path.Base(a.file), a.number) }
