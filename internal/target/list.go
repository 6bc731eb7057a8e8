package target

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Row describes a function or a single instruction.
type Row struct {
	Name string
	// Addr is the function's address in the file, and Offset is the offset of the function's code in the file. Both are
	// 0 if the function has no code.
	Addr, Offset uint64
	// Size is the size of the code in bytes. It is 0 for an instruction.
	Size uint64
	// File and Line are the position in the source. They are "" and 0 if it is not known.
	File string
	Line int
	// ABI is the calling convention.
	ABI string
	// Entry says which instruction the entry probe is on. It is "none" for a function that can't be probed, and
	// "instruction" for an instruction.
	Entry string
	// Returns is the number of return instructions, and TailJumps the number of jumps that
	// leave the function instead.
	Returns, TailJumps int
	// Signature is the name with parameters and results, "" if they are not known.
	Signature string
	// Source is where the signature comes from.
	Source string
	// Inlined lists the places where the function was inlined.
	Inlined []offsets.Frame
	// Unprobed is the reason why the function can't be probed. It is nil if the function can be probed.
	Unprobed error
	// Note contains other remarks, and the reason in Unprobed.
	Note string
}

// List describes the functions and instructions that the arguments select. The functions come first, by address.
// Functions without code follow, by name: all calls of such a function were inlined. Instructions come last, in the order
// of the arguments. List looks up signatures only if signatures is true, because this takes long in stripped programs.
func (q *Query) List(say Say, signatures bool) (rows []Row, err error) {
	t, err := q.open(say)
	if err != nil {
		return nil, err
	}
	b := t.Binary
	defer b.Close()

	inlined, err := b.Inlined()
	if err != nil {
		say("%s: which calls are inlined is not known: %v", b.File().Path(), err)
	}
	unmatched, err := t.choose(say, q)
	if err != nil {
		return nil, err
	}
	for _, f := range t.Funcs {
		row, err := functionRow(b, f, signatures, inlined[f.Name])
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	// bodiless are the functions without code: the compiler has inlined all their calls.
	bodiless := slices.DeleteFunc(slices.Sorted(maps.Keys(inlined)), func(name string) bool {
		_, ok := b.Lookup(name)
		return ok
	})
	selected, elsewhere := symname.Select(slices.Values(bodiless), t.include, t.exclude)
	all := slices.Concat(selected...)
	slices.Sort(all)
	for _, i := range slices.Compact(all) {
		row := Row{Name: bodiless[i], Entry: "none", Inlined: inlined[bodiless[i]]}
		row.Note = "no code of its own: " + inlinedNote(row.Inlined)
		row.Unprobed = errors.New(row.Note)
		rows = append(rows, row)
	}
	for _, i := range unmatched {
		if slices.Contains(elsewhere, i) {
			return nil, q.located(t.texts[i], noMatch(b, t.include[i].String(), q.Regexp))
		}
	}
	for _, s := range t.sites {
		found, err := s.resolve(t)
		if err != nil {
			return nil, q.located(s.text, err)
		}
		for _, p := range found {
			if p.Err != nil {
				say("%s: can't be probed: %v", p.Name, p.Err)
			} else {
				rows = append(rows, s.row(b, p))
			}
		}
	}
	if len(rows) == 0 {
		return nil, nothingf("%s: all functions that match are excluded", q.Binary)
	}
	return rows, nil
}

var conventions = [...]string{offsets.ABIInternal: "ABIInternal", offsets.ABI0: "ABI0", offsets.SystemV: "System V"}

// functionRow describes a function. inlined lists the places where calls of the function were inlined.
func functionRow(b *offsets.Binary, f *offsets.Func, signatures bool, inlined []offsets.Frame) (row Row, err error) {
	row = Row{Name: f.Name, Addr: f.Addr, Size: f.Size, ABI: conventions[f.ABI], Inlined: inlined}
	if row.Offset, err = b.File().FileOffset(f.Addr); err != nil {
		return row, err
	}
	row.File, row.Line, _ = b.Position(f.Addr)
	if signatures {
		if sig, err := b.Signature(f); err == nil {
			row.Signature, row.Source = SignatureText(f.Name, sig), sig.Source
		}
	}
	var notes []string
	sites, err := b.Sites(f)
	if err != nil {
		row.Entry, row.Unprobed = "none", err
		notes = append(notes, "can't be probed: "+err.Error())
	} else {
		row.Entry = strategy(sites)
		row.Returns, row.TailJumps = len(sites.Returns), len(sites.Tails)+len(sites.CondTails)
		if row.Returns+row.TailJumps == 0 {
			notes = append(notes, "never returns")
		}
		if sites.Restarts {
			notes = append(notes, "loops to its start: counts may be high")
		}
		// With SteppedReturn, the kernel single-steps every return anyway.
		if note := steps(sites); !b.File().Processor.Machine().SteppedReturn && note != "" {
			notes = append(notes, note)
		}
	}
	if strings.HasSuffix(row.File, ".s") || strings.HasSuffix(row.File, ".S") {
		notes = append(notes, "assembly")
	}
	if len(inlined) > 0 {
		notes = append(notes, "calls not seen: also "+inlinedNote(inlined))
	}
	row.Note = strings.Join(notes, "; ")
	return row, nil
}

// steps returns a note if kernels single-step the instruction where calls begin, else "". The first branch can be probed
// instead of this instruction. But if calls also end at this branch, it can't be probed to time calls, because the order of
// the two hits is unknown.
func steps(s *offsets.Sites) string {
	switch {
	case !s.Entry.Cost().Stepped() || s.CheckOnly:
	case s.Branch == nil:
		return "single-stepped where it begins"
	case slices.Contains(slices.Concat(s.Returns, s.Tails, s.CondTails), *s.Branch):
		return "single-stepped where it begins, unless only counted"
	}
	return ""
}

// strategy returns a text that says which instruction the entry probe is on.
func strategy(s *offsets.Sites) string {
	switch {
	case s.CheckOnly:
		return "at check"
	case s.Check != nil:
		return "after check"
	case s.Branch != nil && s.Restarts:
		return "first branch (loops)"
	case s.Branch != nil:
		return "first " + cmp.Or(s.Branch.Cost().Later, "branch")
	case s.Restarts:
		return "start (loops)"
	case s.Late:
		return "near start"
	}
	return "start"
}

// row describes an instruction of the site.
func (s site) row(b *offsets.Binary, p uprobe.Probe) Row {
	row := Row{Name: p.Name, Addr: p.Addr, Offset: p.Sites.Entry.Offset(), ABI: conventions[p.ABI], Entry: "instruction"}
	row.File, row.Line, _ = b.Position(row.Addr)
	if f, ok := b.FuncAt(row.Addr); ok && row.Name == s.short() {
		row.Note = fmt.Sprintf("is %s+%#x", f.Name, row.Addr-f.Addr)
	}
	if p.Sites.Restarts {
		row.Note = "executed again after a failed stack check"
	}
	return row
}

// inlinedNote lists the first few places where a function was inlined.
func inlinedNote(calls []offsets.Frame) string {
	const shown = 3
	var list []string
	for _, c := range calls[:min(shown, len(calls))] {
		list = append(list, fmt.Sprintf("%s %s:%d", c.Function, path.Base(c.File), c.Line))
	}
	if len(calls) > shown {
		list = append(list, "…")
	}
	return fmt.Sprintf("inlined at %s: %s", printable.Plural(len(calls), "place"), strings.Join(list, ", "))
}

// SignatureText formats the name and the signature of a function in the syntax that ftgo trace accepts as FUNC, like
// main.get(key string, n int) (string, error).
func SignatureText(name string, s *offsets.Signature) string {
	call, results := name+"("+variablesText(s.Params)+")", variablesText(s.Results)
	switch {
	case len(s.Results) == 0:
		return call
	case len(s.Results) == 1 && !strings.Contains(results, " "):
		return call + " " + results
	}
	return call + " (" + results + ")"
}

// variablesText formats a list of parameters or results. If the names are r0, r1 …, it omits them, because results with
// these names have no names in the source.
func variablesText(vars []offsets.Variable) string {
	unnamed := true
	for i, v := range vars {
		unnamed = unnamed && v.Name == fmt.Sprint("r", i)
	}
	var parts []string
	for _, v := range vars {
		typ := "?"
		if v.Type != nil {
			typ = v.Type.Name
		}
		if !unnamed {
			typ = v.Name + " " + typ
		}
		parts = append(parts, typ)
	}
	return strings.Join(parts, ", ")
}
