// Package own measures what probes cost, on functions of ftgo itself.
package own

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// Calls are timed in batches of so many, which takes some 0.7 ms each time. At first there are as many
// batches as tell a disturbed one from others.
const (
	batchCalls   = 12
	firstBatches = 9
)

// fetchedWords is how many words are fetched at once to know what one costs.
const fetchedWords = 16

// ErrNotTried: it is not known whether probes work.
var ErrNotTried = errors.New("not tried")

// errNotItself: as in ftgo's own tests, where package main has another name.
var errNotItself = fmt.Errorf("%w: ftgo does not find its own functions", ErrNotTried)

// Function is a function of ftgo's that it probes in itself.
type Function struct {
	Name string
	Call func(int) int
}

// Functions are those that the costs are measured on: the kernel emulates the instruction that
// calls of Framed and of Fetched begin with, and single-steps that of Frameless, and any RET. Where
// Fetched is called words are fetched as well.
type Functions struct{ Framed, Frameless, Fetched Function }

func (f *Functions) all() []Function { return []Function{f.Framed, f.Frameless, f.Fetched} }

// timed is what each takes by a time of its calls.
func (f *Functions) timed(call func(func(int) int) float64) (ns [3]float64) {
	for i, own := range f.all() {
		ns[i] = call(own.Call)
	}
	return ns
}

// timeCalls is the time of a call in nanoseconds, of a batch.
func timeCalls(call func(int) int) float64 {
	start := time.Now()
	for i := range batchCalls {
		call(i)
	}
	return float64(time.Since(start)) / batchCalls
}

// middle sorts numbers, of which there are some.
func middle(of []float64) float64 {
	slices.Sort(of)
	return of[len(of)/2]
}

// recordsValues tells whether there are values in a mode.
func recordsValues(mode uprobe.Mode) bool { return mode == uprobe.Latency || mode == uprobe.Entries }

// probe probes all functions, which a plan has in their order, by the events that are made of it.
func (f *Functions) probe(ctx context.Context, fsys *tracefs.FS, opt uprobe.Options, arm tracefs.Options,
	events func(*uprobe.Plan) []tracefs.Event) (session *tracefs.Session, plan *uprobe.Plan, err error) {
	b, err := offsets.Open("/proc/self/exe")
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	var funcs []*offsets.Func
	for _, own := range f.all() {
		fn, ok := b.Lookup(own.Name)
		if !ok {
			return nil, nil, errNotItself
		}
		funcs = append(funcs, fn)
	}
	if recordsValues(opt.Mode) {
		opt.Values = func(fn *offsets.Func, _ *offsets.Sites) (v uprobe.Values, err error) {
			if fn.Name == f.Fetched.Name {
				v.Entry = &capture.Capture{Args: fetchedArgs(b), Words: fetchedWords}
			}
			return v, nil
		}
	}
	if plan, err = uprobe.New(b, funcs, opt); err != nil {
		return nil, nil, err
	}
	if len(plan.Skipped) > 0 {
		return nil, nil, fmt.Errorf("probe %s: %w", plan.Skipped[0].Func.Name, plan.Skipped[0].Reason)
	}
	session, err = tracefs.Start(ctx, fsys, plan.Target(), events(plan), arm)
	return session, plan, err
}

// fetchedArgs fetch so many words.
func fetchedArgs(b *offsets.Binary) (args []tracefs.Arg) {
	word := b.Processor().Machine().SP.At(0)
	for w := range fetchedWords {
		args = append(args, tracefs.Arg{Name: fmt.Sprintf("w%d", w), Fetch: word, Type: "s64"})
	}
	return args
}

// trialCalls is how often each function is called.
const trialCalls = firstBatches * batchCalls

var errShared = fmt.Errorf("%w: this kernel records uprobes at the top level of tracefs alone, which everybody shares", ErrNotTried)

// Try arms probes on functions of ftgo, calls them, and sees that each hit is counted and
// delivered. It returns what a hit costs where calls begin, with an instruction that the kernel
// emulates, and with a RET, which it single-steps. It is the least that there is: another process
// beside it costs more.
func Try(ctx context.Context, fsys *tracefs.FS, funcs Functions, features tracefs.Features) (result trace.HitCost, err error) {
	if !features.Instances {
		return result, errShared
	}
	var events []tracefs.Event
	unprobed := funcs.timed(medianCall)
	session, _, err := funcs.probe(ctx, fsys, uprobe.Options{Features: features}, tracefs.Options{BufferKB: 1024, Features: &features},
		func(p *uprobe.Plan) []tracefs.Event {
			events = trialEvents(p, features)
			return events
		})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	costs := funcs.timed(medianCall)
	for i := range costs {
		costs[i] = max(0, costs[i]-unprobed[i])
	}
	if err := seen(ctx, session, events); err != nil {
		return result, err
	}
	return trace.HitCost{Emulated: costs[0], Stepped: costs[1], Word: max(0, costs[2]-costs[0]) / fetchedWords}, nil
}

// medianCall is the time of a call in nanoseconds, in the median batch.
func medianCall(call func(int) int) float64 {
	batches := make([]float64, firstBatches)
	for b := range batches {
		batches[b] = timeCalls(call)
	}
	return middle(batches)
}

// trialEvents are one for each function: its entry, its return, and its entry with words
// fetched.
func trialEvents(plan *uprobe.Plan, features tracefs.Features) []tracefs.Event {
	// Names of events are unique among all sessions, as those of the plan are.
	unique := plan.Events[0].Name
	entry := func(i int) []uint64 {
		sites := plan.Funcs[i].Sites
		if sites.Check != nil && sites.Entry.Cost().Later != "" && !features.PushEmulated {
			return []uint64{sites.Check.Offset()}
		}
		return []uint64{sites.Entry.Offset()}
	}
	returns := tracefs.Event{Name: "return_" + unique}
	for _, s := range plan.Funcs[1].Sites.Returns {
		returns.Sites = append(returns.Sites, s.Offset())
	}
	fetch := tracefs.Event{Name: "fetch_" + unique, Sites: entry(2), Args: plan.Funcs[2].Values.Entry.Args}
	return []tracefs.Event{{Name: "entry_" + unique, Sites: entry(0)}, returns, fetch}
}

// seen fails if a call has not been counted, or not been delivered. There may be more
// of them: the same file may be running elsewhere.
func seen(ctx context.Context, session *tracefs.Session, events []tracefs.Event) error {
	profile, err := session.Profile()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	for buf, n := make([]byte, 64<<10), 1; n > 0; text.Write(buf[:n]) { // it has all been there before
		if n, err = session.Read(ctx, buf); err != nil {
			return err
		}
	}
	for i, e := range events {
		var hits uint64
		for _, n := range profile[i] {
			hits += n
		}
		if delivered := bytes.Count(text.Bytes(), []byte(": "+e.Name+": (0x")); hits < trialCalls || delivered < trialCalls {
			return fmt.Errorf("probe ftgo itself: of %d calls the kernel has counted %d and delivered %d", trialCalls, hits, delivered)
		}
	}
	return nil
}
