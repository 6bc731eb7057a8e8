package doctor

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Calls are timed in batches of so many, which takes some 0.7 ms each time. At first there are as many
// batches as tell a disturbed one from others.
const (
	batchCalls   = 12
	firstBatches = 9
)

// So many words are fetched at once to know what one costs, and from where no memory is.
const (
	fetchedWords = 16
	faultyWords  = 4
)

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
// calls of Framed, Fetched and Faulty begin with, and single-steps that of Frameless. Where
// Fetched is called words are fetched as well, and where Faulty is what its argument would point to.
type Functions struct{ Framed, Frameless, Fetched, Faulty Function }

func (f *Functions) all() []Function { return []Function{f.Framed, f.Frameless, f.Fetched, f.Faulty} }

// costs are what hits are measured to cost: as the fields of pairing.HitCost, in order.
type costs [4]float64

func (c costs) hit() pairing.HitCost {
	return pairing.HitCost{Emulated: c[0], Stepped: c[1], Word: c[2], Fault: c[3]}
}

// timed is what each takes by a time of its calls.
func (f *Functions) timed(call func(func(int) int) float64) (ns costs) {
	for i, own := range f.all() {
		ns[i] = call(own.Call)
	}
	return ns
}

// apart makes costs of words, and of those that can't be read, of those of hits that fetch them.
func (c *costs) apart() {
	word := max(0, c[2]-c[0]) / fetchedWords
	c[2], c[3] = word, max(0, (c[3]-c[0])/faultyWords-word)
}

// timeCalls is the time of a call in nanoseconds, of a batch. The argument is a nil pointer.
func timeCalls(call func(int) int) float64 {
	start := time.Now()
	for range batchCalls {
		call(0)
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

// probe probes all functions, which a plan has in their order, in a file that nobody else probes.
func (f *Functions) probe(ctx context.Context, fsys *tracefs.FS, opt uprobe.Options, arm tracefs.Options) (session *tracefs.Session, plan *uprobe.Plan, c *code, err error) {
	b, err := offsets.Open("/proc/self/exe")
	if err != nil {
		return nil, nil, nil, err
	}
	defer b.Close()
	var funcs []*offsets.Func
	for _, own := range f.all() {
		fn, ok := b.Lookup(own.Name)
		if !ok {
			return nil, nil, nil, errNotItself
		}
		funcs = append(funcs, fn)
	}
	if recordsValues(opt.Mode) {
		opt.Values = func(fn *offsets.Func, _ *offsets.Sites) (v uprobe.Values, err error) {
			switch fn.Name {
			case f.Fetched.Name:
				v.Entry = wordsAt(b.File().Processor.Machine().SP.Fetch(), fetchedWords)
			case f.Faulty.Name:
				v.Entry = wordsAt(firstArg(b), faultyWords)
			}
			return v, nil
		}
	}
	if plan, err = uprobe.New(b, funcs, opt); err != nil {
		return nil, nil, nil, err
	}
	if len(plan.Skipped) > 0 {
		return nil, nil, nil, fmt.Errorf("probe %s: %w", plan.Skipped[0].Func.Name, plan.Skipped[0].Err)
	}
	if c, err = newCode(b, funcs, reflect.ValueOf(f.Framed.Call).UnsafePointer()); err != nil {
		return nil, nil, nil, err
	}
	if session, err = tracefs.Start(ctx, fsys, c.target(), uprobe.TraceEvents(plan.Events), arm); err != nil {
		c.file.Close()
	}
	return session, plan, c, err
}

// wordsAt fetches so many words from an address.
func wordsAt(address string, words int) *capture.Capture {
	c := &capture.Capture{Words: words}
	for w := range words {
		c.Args = append(c.Args, tracefs.Arg{Name: fmt.Sprintf("w%d", w), Fetch: fmt.Sprintf("+%d(%s)", 8*w, address), Type: "s64"})
	}
	return c
}

// firstArg is the fetcharg of a function's first argument, where calls begin.
func firstArg(b *offsets.Binary) string {
	minor, _ := b.GoVersion()
	p := b.File().Processor
	return p.Go(minor, false).Arg(p.Machine().SP, 0)
}

var errShared = fmt.Errorf("%w: this kernel records uprobes at the top level of tracefs alone, which everybody shares", ErrNotTried)

// Try is a measurement of what hits cost, for who has nothing else to probe. It fails if hits are not
// counted, or not delivered.
func Try(ctx context.Context, fsys *tracefs.FS, funcs Functions, features tracefs.Features) (result pairing.HitCost, err error) {
	if !features.Instances {
		return result, errShared
	}
	m := NewMeasuring(fsys, funcs, uprobe.Latency, 0)
	defer m.Wait()
	m.Begin(ctx)
	if costs := m.Take(); costs != nil {
		return costs.Typical, nil
	}
	return result, m.err
}
