package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// readPlan completes the plan, which lacks the binary and the values that need the binary's types. It returns an error
// for any plan that package pairing could not handle.
func (a *About) readPlan() error {
	p := a.Plan
	if p == nil {
		return errors.New("it has no plan")
	}
	p.Processor = arch.Find(func(p arch.Processor) bool { return p.Machine().Name == a.Processor })
	switch {
	case p.Processor == nil:
		return fmt.Errorf("processor %q is not known", a.Processor)
	case p.Mode > uprobe.CountRecorded:
		return fmt.Errorf("mode %d is not known", p.Mode)
	case p.Stack < 0 || p.Stack > uprobe.MaxStack:
		return fmt.Errorf("%d callers (at most %d)", p.Stack, uprobe.MaxStack)
	}
	for i, f := range p.Funcs {
		if f.Func == nil || f.ABI > offsets.SystemV {
			return fmt.Errorf("function %d has no name, or an ABI that is not known", i)
		}
	}
	for i := range p.Events {
		if err := readEvent(p, &p.Events[i]); err != nil {
			return fmt.Errorf("event %q: %w", p.Events[i].Name, err)
		}
	}
	for _, s := range a.Skipped {
		p.Skipped = append(p.Skipped, uprobe.Probe{Func: &offsets.Func{Name: s[0]}, Err: errors.New(s[1])})
	}
	return nil
}

// readEvent checks and completes an event of a plan.
func readEvent(p *uprobe.Plan, ev *uprobe.Event) error {
	words := len(ev.Args)
	for _, a := range ev.Args {
		n := uprobe.ArrayLen(a)
		if n < 0 || n > 64 {
			return fmt.Errorf("an array of %d", n)
		}
		words += max(n-1, 0)
	}
	f := &ev.Fields
	for i, at := range []int{f.Stack, f.Values, f.SP, f.G, f.Goid, f.Hi, f.Lo, f.Flags, f.Creator, f.CreatorGoid, f.Start} {
		// Stack and Values may be empty, and then begin behind the last word.
		if at < -1 || at > words || at == words && i > 1 {
			return fmt.Errorf("field at word %d of %d", at, words)
		}
	}
	if f.Stack >= 0 && f.Stack+p.StackWords() > words {
		return fmt.Errorf("%d words for callers from word %d of %d", p.StackWords(), f.Stack, words)
	}
	if f.Values >= 0 {
		ev.Words = words - f.Values
	}
	seen, needed := make(map[uint64]bool), needs(f)
	for i, s := range ev.Sites {
		if err := checkKind(p, s.Kind, f, needed); err != nil {
			return fmt.Errorf("site %d: %w", i, err)
		}
		belongs := s.Kind <= uprobe.CondTail
		runtimeProbe := s.Func == -1 || s.Func == uprobe.ProgramStart && s.Kind == uprobe.GoroutineEnd
		if belongs && (s.Func < 0 || s.Func >= len(p.Funcs)) || !belongs && !runtimeProbe {
			return fmt.Errorf("site %d is of function %d of %d", i, s.Func, len(p.Funcs))
		}
		if seen[s.Addr] {
			return fmt.Errorf("duplicate site %d", i)
		}
		seen[s.Addr] = true
	}
	return nil
}

// needs maps each kind of site in recordings to the least index of a word that pairing needs. The index is -1 if such a
// word is not fetched. Recordings have no Counter events.
func needs(f *uprobe.Fields) map[uprobe.Kind]int {
	return map[uprobe.Kind]int{
		uprobe.Entry: 0, uprobe.EntryJump: f.Flags, uprobe.Point: 0,
		uprobe.Return: f.SP, uprobe.TailJump: f.SP, uprobe.CondTail: min(f.SP, f.Flags),
		uprobe.GoroutineEnd: f.G, uprobe.Recovery: min(f.SP, f.G, f.Hi), uprobe.StackMove: min(f.G, f.Lo, f.Hi),
		uprobe.Resume: min(f.G, f.Goid), uprobe.Yield: 0, uprobe.Creation: min(f.G, f.Goid, f.Creator, f.CreatorGoid, f.Start),
	}
}

// checkKind returns an error if a kind is not known, or if an event of this kind lacks a word that pairing needs.
func checkKind(p *uprobe.Plan, kind uprobe.Kind, f *uprobe.Fields, needs map[uprobe.Kind]int) error {
	least, known := needs[kind]
	switch {
	case !known:
		return fmt.Errorf("kind %d is not known", kind)
	case kind == uprobe.StackMove && !p.ByStack:
		return errors.New("goroutines are not identified by their stacks")
	case kind == uprobe.Creation && f.Lo >= 0 && f.Hi < 0, least < 0, f.SP >= 0 && f.G >= 0 && kind <= uprobe.CondTail && f.Hi < 0:
		return fmt.Errorf("kind %d lacks a field", kind)
	}
	return nil
}

// SetEventNames sets the names of the events of p, a new plan for the recorded binary, to the names in the recording.
// It returns an error if the plans differ in anything but these names.
func (r *Recording) SetEventNames(p *uprobe.Plan) error {
	for i := range p.Events[:min(len(p.Events), len(r.Plan.Events))] {
		p.Events[i].Name = r.Plan.Events[i].Name
	}
	again, err := json.Marshal(p)
	if err != nil {
		return err
	}
	recorded, err := json.Marshal(r.Plan)
	if err == nil && !bytes.Equal(again, recorded) {
		err = errors.New("adopt plan: the recording has other functions or events")
	}
	return err
}
