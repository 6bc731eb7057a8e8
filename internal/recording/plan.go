package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// portablePlan is the JSON form of a plan. It has everything that pairing needs, but not the binary, nor the captures,
// which need the binary's types.
type portablePlan struct {
	Processor string `json:"processor"`
	uprobe.Plan
	Funcs  []portableFunc  `json:"funcs"`
	Events []portableEvent `json:"events"`
}

// portableFunc is a function of a portablePlan.
type portableFunc struct {
	Name string      `json:"name"`
	Addr uint64      `json:"addr"`
	ABI  offsets.ABI `json:"abi"`
	uprobe.Probe
	Restarts bool `json:"restarts,omitempty"`
}

// portableEvent is an event of a portablePlan.
type portableEvent struct {
	uprobe.Event
	Sites    [][5]int64 `json:"sites"` // of each site: kind, file offset, address, function and condition
	Fetch    [][]string `json:"fetch,omitempty"`
	Creation *[3]int    `json:"creation,omitempty"` // the fields Creator, CreatorGoid and Start of a Creation event
}

// portable converts a plan to the form that readPlan reads.
func portable(p *uprobe.Plan) *portablePlan {
	out := &portablePlan{Processor: p.Processor.Machine().Name, Plan: *p}
	for i := range p.Funcs {
		f := &p.Funcs[i]
		out.Funcs = append(out.Funcs, portableFunc{Name: f.Name, Addr: f.Addr, ABI: f.ABI, Probe: *f, Restarts: f.Sites.Restarts})
	}
	for i := range p.Events {
		ev := &p.Events[i]
		e := portableEvent{Event: *ev, Fetch: uprobe.Fetches(ev.Sites)}
		if f := ev.Fields; len(ev.Sites) > 0 && ev.Sites[0].Kind == uprobe.Creation {
			e.Creation = &[3]int{f.Creator, f.CreatorGoid, f.Start}
		}
		for k := range ev.Sites {
			s := &ev.Sites[k]
			e.Sites = append(e.Sites, [5]int64{int64(s.Kind), int64(s.Offset), int64(s.Addr), int64(s.Func), int64(s.Cond)})
		}
		out.Events = append(out.Events, e)
	}
	return out
}

// readPlan decodes the JSON of a portablePlan. It returns an error for any plan that package pairing could not handle.
// The plan has no Binary, and its functions have no Values.
func readPlan(text []byte) (*uprobe.Plan, error) {
	var in portablePlan
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, fmt.Errorf("read plan: %w", err)
	}
	if in.Mode > uprobe.CountRecorded {
		return nil, fmt.Errorf("read plan: mode %d is not known", in.Mode)
	}
	if in.Stack < 0 || in.Stack > uprobe.MaxStack {
		return nil, fmt.Errorf("read plan: %d callers (at most %d)", in.Stack, uprobe.MaxStack)
	}
	processor := arch.Find(func(p arch.Processor) bool { return p.Machine().Name == in.Processor })
	if processor == nil {
		return nil, fmt.Errorf("read plan: processor %q is not known", in.Processor)
	}
	p := &in.Plan
	p.Processor, p.GroupSize = processor, max(p.GroupSize, 0)
	for _, f := range in.Funcs {
		if f.ABI > offsets.SystemV {
			return nil, fmt.Errorf("read plan: function %q: ABI %d is not known", f.Name, f.ABI)
		}
		f.Func = &offsets.Func{Name: f.Name, Addr: f.Addr, ABI: f.ABI}
		f.Sites = &offsets.Sites{Restarts: f.Restarts}
		p.Funcs = append(p.Funcs, f.Probe)
	}
	for i := range in.Events {
		ev, err := readEvent(p, &in.Events[i])
		if err != nil {
			return nil, fmt.Errorf("read plan: event %q: %w", in.Events[i].Name, err)
		}
		p.Events = append(p.Events, ev)
	}
	uprobe.MarkShared(p.Events)
	return p, nil
}

// readEvent checks and converts an event of a plan.
func readEvent(p *uprobe.Plan, in *portableEvent) (ev uprobe.Event, err error) {
	ev = in.Event
	ev.Fields.WaitReason = -1 // recordings have no events with this field
	if ev.Fields.Creator, ev.Fields.CreatorGoid, ev.Fields.Start = -1, -1, -1; in.Creation != nil {
		ev.Fields.Creator, ev.Fields.CreatorGoid, ev.Fields.Start = in.Creation[0], in.Creation[1], in.Creation[2]
	}
	words := len(ev.Args)
	for _, a := range ev.Args {
		n := uprobe.ArrayLen(a)
		if n < 0 || n > 64 {
			return ev, fmt.Errorf("an array of %d", n)
		}
		words += max(n-1, 0)
	}
	if err := checkFields(p, &ev.Fields, words); err != nil {
		return ev, err
	}
	if ev.Fields.Values >= 0 {
		ev.Words = words - ev.Fields.Values
	}
	if len(in.Fetch) != 0 && len(in.Fetch) != len(in.Sites) {
		return ev, fmt.Errorf("%d lists of fetchargs for %d sites", len(in.Fetch), len(in.Sites))
	}
	seen, needed := make(map[uint64]bool), needs(&ev.Fields)
	for i, s := range in.Sites {
		if s[0] < 0 || s[0] > math.MaxUint8 {
			return ev, fmt.Errorf("site %d is of kind %d", i, s[0])
		}
		kind, fn := uprobe.Kind(s[0]), s[3]
		if err := checkKind(p, kind, &ev.Fields, needed); err != nil {
			return ev, fmt.Errorf("site %d: %w", i, err)
		}
		belongs := kind <= uprobe.CondTail
		runtimeProbe := fn == -1 || fn == uprobe.ProgramStart && kind == uprobe.GoroutineEnd
		if belongs && (fn < 0 || fn >= int64(len(p.Funcs))) || !belongs && !runtimeProbe {
			return ev, fmt.Errorf("site %d is of function %d of %d", i, fn, len(p.Funcs))
		}
		if s[4] < 0 || s[4] > math.MaxUint8 {
			return ev, fmt.Errorf("site %d has condition %d", i, s[4])
		}
		site := uprobe.Site{Kind: kind, Offset: uint64(s[1]), Addr: uint64(s[2]), Func: int(fn), Cond: arch.Cond(s[4])}
		site.Stepped = kind == uprobe.Return && p.Processor.Machine().SteppedReturn || kind <= uprobe.Point && p.Funcs[fn].Stepped
		if len(in.Fetch) > 0 {
			site.Fetch = in.Fetch[i]
		}
		if seen[site.Addr] {
			return ev, fmt.Errorf("duplicate site %d", i)
		}
		seen[site.Addr] = true
		ev.Sites = append(ev.Sites, site)
	}
	return ev, nil
}

// checkFields returns an error if a field is not among the words of a hit.
func checkFields(p *uprobe.Plan, f *uprobe.Fields, words int) error {
	for i, at := range []int{f.Stack, f.Values, f.SP, f.G, f.Goid, f.Hi, f.Lo, f.Flags, f.Creator, f.CreatorGoid, f.Start} {
		// Stack and Values may be empty, and then begin behind the last word.
		if at < -1 || at > words || at == words && i > 1 {
			return fmt.Errorf("field at word %d of %d", at, words)
		}
	}
	if f.Stack >= 0 && f.Stack+p.StackWords() > words {
		return fmt.Errorf("%d words for callers from word %d of %d", p.StackWords(), f.Stack, words)
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
	read := r.Plan
	sameName := func(a, b uprobe.Probe) bool { return a.Name == b.Name }
	if p.Mode != read.Mode || p.Stack != read.Stack || !slices.EqualFunc(p.Funcs, read.Funcs, sameName) || !slices.EqualFunc(p.Events, read.Events, same) {
		return errors.New("adopt plan: the recording has other functions or events")
	}
	for i := range p.Events {
		p.Events[i].Name = read.Events[i].Name
	}
	return nil
}

// same reports whether two events differ only in their names.
func same(e, other uprobe.Event) bool {
	return e.Filter == other.Filter && e.Fields == other.Fields && slices.Equal(e.Args, other.Args) &&
		slices.EqualFunc(e.Sites, other.Sites, func(a, b uprobe.Site) bool {
			return a.Kind == b.Kind && a.Addr == b.Addr && a.Offset == b.Offset && a.Func == b.Func && slices.Equal(a.Fetch, b.Fetch)
		})
}
