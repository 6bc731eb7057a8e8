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
	"github.com/ftgo/ftgo/offsets"
)

// Listed describes a function or a single instruction.
type Listed struct {
	// Addr is 0 if the function has no code of its own.
	offsets.Func
	Sites  *offsets.Sites // where calls begin and end; nil if Err is not nil
	Point  bool           // it is the instruction Sites.Entry
	Err    error          // the reason why it can't be probed
	Offset uint64         // of the code in the file
	// File and Line are the position in the source. They are "" and 0 if it is not known.
	File string
	Line int
	// Signature is the name with parameters and results, "" if they are not known. Source is where it comes from.
	Signature, Source string
	Inlined           []offsets.Frame // the places where calls of the function were inlined
	Note              string          // other remarks, and the reason in Err
}

// List describes the functions and instructions that the arguments select. The functions come first, by address.
// Functions without code follow, by name: all calls of such a function were inlined. Instructions come last, in the order
// of the arguments. List looks up signatures only if signatures is true, because this takes long in stripped programs.
func (q *Query) List(say Say, signatures bool) (rows []Listed, err error) {
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
	// bodiless are the functions without code: the compiler has inlined all their calls.
	bodiless := slices.DeleteFunc(slices.Sorted(maps.Keys(inlined)), func(name string) bool {
		_, ok := b.Lookup(name)
		return ok
	})
	if bodiless, err = t.find(say, q, bodiless); err != nil {
		return nil, err
	}
	for _, f := range t.Funcs {
		sites, err := b.Sites(f)
		rows = append(rows, Listed{Func: *f, Sites: sites, Err: err, Inlined: inlined[f.Name]})
	}
	for _, name := range bodiless {
		err := errors.New("no code of its own: " + inlinedNote(inlined[name]))
		rows = append(rows, Listed{Func: offsets.Func{Name: name}, Err: err, Inlined: inlined[name], Note: err.Error()})
	}
	for _, p := range t.Sites {
		rows = append(rows, Listed{Func: *p.Func, Sites: p.Sites, Point: true, Err: p.Err})
	}
	for i := range rows {
		if err := rows[i].describe(b, signatures); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// describe sets Offset, the position, the signature and the note of a function or an instruction that has code.
func (r *Listed) describe(b *offsets.Binary, signatures bool) (err error) {
	if r.Addr == 0 {
		return nil
	}
	if r.Offset, err = b.File().FileOffset(r.Addr); err != nil {
		return err
	}
	r.File, r.Line, _ = b.Position(r.Addr)
	if signatures && !r.Point {
		if sig, err := b.Signature(&r.Func); err == nil {
			r.Signature, r.Source = SignatureText(r.Name, sig), sig.Source
		}
	}
	var notes []string
	add := func(is bool, note string) {
		if is {
			notes = append(notes, note)
		}
	}
	switch {
	case r.Err != nil:
		add(true, "can't be probed: "+r.Err.Error())
	case r.Point:
		if f, ok := b.FuncAt(r.Addr); ok && !strings.Contains(r.Name, "+") {
			add(true, fmt.Sprintf("is %s+%#x", f.Name, r.Addr-f.Addr))
		}
		add(r.Sites.Restarts, "executed again after a failed stack check")
	default:
		returns, tailJumps := r.Ends()
		add(returns+tailJumps == 0, "never returns")
		add(r.Sites.Restarts, "loops to its start: counts may be high")
		// The first branch can be probed instead of an instruction that is single-stepped. But if calls also end at this branch,
		// it can't be probed to time calls, because the order of the two hits is unknown. With SteppedReturn, the kernel
		// single-steps every return anyway.
		s := r.Sites
		stepped := s.Entry.Cost().Stepped() && !s.CheckOnly && !b.File().Processor.Machine().SteppedReturn
		ends := s.Branch == nil || slices.Contains(slices.Concat(s.Returns, s.Tails, s.CondTails), *s.Branch)
		add(stepped && ends, "single-stepped where it begins")
	}
	add(!r.Point && (strings.HasSuffix(r.File, ".s") || strings.HasSuffix(r.File, ".S")), "assembly")
	add(len(r.Inlined) > 0, "calls not seen: also "+inlinedNote(r.Inlined))
	r.Note = strings.Join(notes, "; ")
	return nil
}

var conventions = [...]string{offsets.ABIInternal: "ABIInternal", offsets.ABI0: "ABI0", offsets.SystemV: "System V"}

// Convention returns the name of the calling convention, "" for a function without code.
func (r Listed) Convention() string {
	if r.Addr == 0 {
		return ""
	}
	return conventions[r.ABI]
}

// Ends returns the number of return instructions, and the number of jumps that leave the function instead.
func (r Listed) Ends() (returns, tailJumps int) {
	if r.Sites == nil {
		return 0, 0
	}
	return len(r.Sites.Returns), len(r.Sites.Tails) + len(r.Sites.CondTails)
}

// Entry says which instruction the entry probe is on. It is "none" for a function that can't be probed, and "instruction" for
// an instruction.
func (r Listed) Entry() string {
	s := r.Sites
	switch {
	case r.Err != nil || s == nil:
		return "none"
	case r.Point:
		return "instruction"
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
