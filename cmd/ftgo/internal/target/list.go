package main

import (
	"fmt"
	"path"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/offsets"
)

// listing describes the functions of a binary.
type listing struct {
	binary *offsets.Binary
	rows   []render.ListRow
	named  map[string]int // how many functions have a name
	// bodiless are functions without code: inlined wherever they are called. The
	// addresses serve to tell them apart, nothing else.
	bodiless   []offsets.Func
	inlinedErr error
}

func newListing(b *offsets.Binary) *listing {
	l := &listing{binary: b, named: make(map[string]int)}
	for _, f := range b.Funcs() {
		l.named[f.Name]++
	}
	names, err := b.Inlined()
	l.inlinedErr = err
	for i, name := range names {
		if _, ok := b.Lookup(name); !ok {
			l.bodiless = append(l.bodiless, offsets.Func{Name: name, Addr: uint64(i), Size: 1})
		}
	}
	return l
}

// function adds a function that has code.
func (l *listing) function(f *offsets.Func) error {
	row := render.ListRow{Name: f.Name, Addr: f.Addr, Size: f.Size, ABI: f.ABI.String()}
	var err error
	if row.Offset, err = l.binary.FileOffset(f.Addr); err != nil {
		return err
	}
	row.File, row.Line, _ = l.binary.Position(f.Addr)
	if sig, err := l.binary.Signature(f); err == nil {
		row.Signature = signatureText(f.Name, sig)
	}
	var notes []string
	sites, err := l.binary.Sites(f)
	if err != nil {
		row.Entry = "none"
		notes = append(notes, "can't be probed: "+err.Error())
	} else {
		row.Entry = sites.Strategy()
		row.Returns, row.TailJumps = len(sites.Returns), len(sites.Tails)+len(sites.CondTails)
		if row.Returns+row.TailJumps == 0 {
			notes = append(notes, "never returns")
		}
		if sites.Restarts {
			notes = append(notes, "loops to its start: counts may be high")
		}
	}
	if strings.HasSuffix(row.File, ".s") || strings.HasSuffix(row.File, ".S") {
		notes = append(notes, "assembly")
	}
	if n := l.named[f.Name]; n > 1 {
		notes = append(notes, fmt.Sprintf("one of %d functions of this name", n))
	}
	if row.Inlined = l.inlinedAt(f.Name); len(row.Inlined) > 0 {
		notes = append(notes, "calls not seen: also "+inlinedNote(row.Inlined))
	}
	row.Note = strings.Join(notes, "; ")
	l.rows = append(l.rows, row)
	return nil
}

// inlined adds a function that has none.
func (l *listing) inlined(name string) {
	row := render.ListRow{Name: name, Entry: "none", Inlined: l.inlinedAt(name)}
	row.Note = "no code of its own: " + inlinedNote(row.Inlined)
	l.rows = append(l.rows, row)
}

// place adds single instructions.
func (l *listing) place(e *env, p place) error {
	spots, skipped, err := p.resolve(l.binary)
	if err != nil {
		return err
	}
	for _, s := range skipped {
		e.Say("%s: can't be probed: %s", s.Function, s.Reason)
	}
	for _, s := range spots {
		row := render.ListRow{Name: s.label, Addr: s.site.Addr(), Offset: s.site.Offset(), ABI: s.fn.ABI.String(), Entry: "instruction"}
		row.File, row.Line, _ = l.binary.Position(row.Addr)
		if where := fmt.Sprintf("%s+%#x", s.fn.Name, row.Addr-s.fn.Addr); !strings.Contains(s.label, where) {
			row.Note = "is " + where
		}
		if s.again {
			row.Note = "executed again after a failed stack check"
		}
		l.rows = append(l.rows, row)
	}
	return nil
}

func (l *listing) inlinedAt(name string) []render.InlinedCall {
	sites, err := l.binary.InlinedAt(name)
	if err != nil {
		return nil // said once, by newListing's caller
	}
	calls := make([]render.InlinedCall, len(sites))
	for i, s := range sites {
		calls[i] = render.InlinedCall{Function: s.Function, File: s.File, Line: s.Line}
	}
	return calls
}

// inlinedNote names the first few places.
func inlinedNote(calls []render.InlinedCall) string {
	const shown = 3
	places := "places"
	if len(calls) == 1 {
		places = "place"
	}
	var list []string
	for _, c := range calls[:min(shown, len(calls))] {
		list = append(list, fmt.Sprintf("%s %s:%d", c.Function, path.Base(c.File), c.Line))
	}
	if len(calls) > shown {
		list = append(list, "…")
	}
	return fmt.Sprintf("inlined at %d %s: %s", len(calls), places, strings.Join(list, ", "))
}

// alsoInlined says at how many places a function was inlined, and "" if at none.
func alsoInlined(b *offsets.Binary, name string) string {
	at, err := b.InlinedAt(name)
	if err != nil || len(at) == 0 {
		return ""
	}
	return fmt.Sprintf("is also inlined at %s, where its calls are not seen", cli.Plural(len(at), "place"))
}
