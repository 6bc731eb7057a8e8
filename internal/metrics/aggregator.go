package metrics

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/stats"
)

// Aggregator adds up the counts of the files of a program, of one after the other and of several at the same time. Each file
// that is probed is a [Source]. Readers and writers never wait for each other for longer than it takes to copy some pointers.
type Aggregator struct {
	now   func() time.Time
	mu    sync.Mutex
	about About
	from  time.Time
	past  *account // of sources that were closed; it does not change
	open  []*Source
	own   Run                  // what is of no source: Plans, Failed and Own
	told  map[string]time.Time // the beginnings of functions, and of all ("") that a snapshot had
	left  map[string]time.Time // when functions were seen to be in no file that is probed
	known map[string]bool      // functions that files have had, and that Gone has not returned
}

// NewAggregator returns an Aggregator that has counted nothing since a moment.
func NewAggregator(about About, from time.Time) *Aggregator {
	return &Aggregator{now: time.Now, about: about, from: from, past: &account{at: from}, told: make(map[string]time.Time), left: make(map[string]time.Time), known: make(map[string]bool)}
}

// Source has the counts of one file.
type Source struct {
	all       *Aggregator
	file      File
	functions []string // that are going to be probed
	now       *account // the last reading; it does not change
}

// account is what was counted up to a moment.
type account struct {
	at    time.Time
	run   Run // without what is of no source
	funcs map[string]*Function
}

// Open returns a Source for a file that is going to be probed.
func (b *Aggregator) Open() *Source {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := &Source{all: b, now: &account{}}
	b.open = append(b.open, p)
	b.own.Plans++
	return p
}

// Failed counts a file that could not be probed.
func (b *Aggregator) Failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.own.Failed++
}

// Update takes the counts of all that has happened from Open to a moment, with the CPU time that the program has used. A count
// stays as it is if it has become less: of what seemed unwound, a return may yet come.
func (p *Source) Update(at time.Time, funcs []stats.Func, s *stats.Summary, used time.Duration) {
	next := &account{at: at, funcs: make(map[string]*Function, len(funcs)), run: Run{Summary: *s, CPU: used}}
	if s.Probing != nil {
		next.run.Cost = time.Duration(s.Probing.NS)
	}
	before := p.now
	next.run.raise(&before.run)
	for i := range funcs {
		f := newFunction(&funcs[i])
		f.Since = at.Add(-time.Duration(s.Seconds * float64(time.Second)))
		if other := next.funcs[f.Name]; other != nil { // some symbols share a name
			f = other.plus(f)
		}
		next.funcs[f.Name] = f
	}
	for name, f := range next.funcs {
		if had := before.funcs[name]; had != nil {
			f.raise(had)
		}
	}
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.now = next
}

// Describe says which file it is, and which functions are going to be probed.
func (p *Source) Describe(f File, functions []string) {
	b := p.all
	b.mu.Lock()
	defer b.mu.Unlock()
	f.PIDs = p.file.PIDs
	p.file, p.functions = f, functions
	for _, name := range functions {
		b.known[name] = true
	}
}

// Gone are functions that files have had, and that none has which is probed now, once each.
func (b *Aggregator) Gone() (gone []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	has := make(map[string]bool)
	for _, p := range b.open {
		for _, name := range p.functions {
			has[name] = true
		}
	}
	for name := range b.known {
		if !has[name] {
			gone = append(gone, name)
			delete(b.known, name)
		}
	}
	slices.Sort(gone)
	return gone
}

// Reset forgets which functions files have had: others are wanted, and Gone returns none of those before.
func (b *Aggregator) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.known)
}

// Running notes which processes run the file.
func (p *Source) Running(pids []int) {
	p.all.mu.Lock()
	defer p.all.mu.Unlock()
	p.file.PIDs = pids
}

// Close keeps what was counted, of a file that is probed no more.
func (p *Source) Close() {
	b := p.all
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = slices.DeleteFunc(b.open, func(other *Source) bool { return other == p })
	b.past = addAccounts(b.past, p.now)
	b.past.run.Probes, b.past.run.Skipped, b.past.run.Budget = 0, nil, 0
}

// Used notes how much CPU time ftgo has used.
func (b *Aggregator) Used(own time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.own.Own = max(b.own.Own, own)
}

// began is when something began, by the system's clock as it is at a moment: else it would seem to begin after now when that was set back.
// What was told once stays when the clock is set ahead, because a counter that begins later than it did begins anew.
func (b *Aggregator) began(what string, t, now time.Time) time.Time {
	t = now.Round(0).Add(t.Sub(now))
	if told, ok := b.told[what]; ok && t.Sub(told) > -machine.LeastSet {
		return told
	}
	b.told[what] = t
	return t
}

// Snapshot is all that is known now. Times are those of the system's clock as it is now.
func (b *Aggregator) Snapshot() *Snapshot {
	made := b.now()
	b.mu.Lock()
	total, own, accounts := b.past, b.own, make([]*account, 0, len(b.open))
	for _, p := range b.open {
		if p.now.funcs != nil { // else it is not probed yet
			accounts = append(accounts, p.now)
			own.Files = withFile(own.Files, p.file)
		}
	}
	b.mu.Unlock()
	probed := make(map[string]bool)
	for _, a := range accounts {
		total = addAccounts(total, a)
		for name := range a.funcs {
			probed[name] = true
		}
	}
	run := total.run
	run.Files, run.Plans, run.Failed, run.Own = own.Files, own.Plans, own.Failed, own.Own
	b.mu.Lock()
	defer b.mu.Unlock()
	s := &Snapshot{From: b.began("", b.from, made), At: made.Add(total.at.Sub(made)), Made: made, About: b.about, Run: run}
	var gone []string
	for _, f := range total.funcs {
		if b.longGone(f.Name, probed[f.Name], made) {
			gone = append(gone, f.Name)
			continue
		}
		whole := *f
		whole.Since = b.began(f.Name, f.Since, made)
		whole.Probed = probed[f.Name]
		s.Functions = append(s.Functions, whole)
	}
	b.forget(gone)
	slices.SortFunc(s.Functions, func(f, g Function) int { return strings.Compare(f.Name, g.Name) })
	return s
}

// leftFor is how long a function is told of that no file which is probed has any more: else a program whose builds
// name functions anew would have more of them each day. Should it come back, it begins anew.
const leftFor = time.Hour

// longGone tells whether a function has been in no file for long enough.
func (b *Aggregator) longGone(name string, probed bool, now time.Time) bool {
	since, left := b.left[name]
	switch {
	case probed:
		delete(b.left, name)
	case !left:
		b.left[name] = now
	}
	return !probed && left && now.Sub(since) > leftFor
}

// forget drops functions.
func (b *Aggregator) forget(names []string) {
	if len(names) == 0 {
		return
	}
	past := *b.past // which does not change
	past.funcs = maps.Clone(past.funcs)
	for _, name := range names {
		delete(past.funcs, name)
		delete(b.left, name)
		delete(b.told, name)
	}
	b.past = &past
}

// withFile are files and one more. The same build may be there twice, where it was deployed anew: who is told of
// files takes these for one.
func withFile(files []File, f File) []File {
	i := slices.IndexFunc(files, func(g File) bool { return g.Path == f.Path && g.BuildID == f.BuildID && g.GoVersion == f.GoVersion })
	if i < 0 {
		return append(files, f)
	}
	files[i].PIDs = slices.Concat(files[i].PIDs, f.PIDs)
	return files
}

// addAccounts is a new account of both.
func addAccounts(a, b *account) *account {
	whole := &account{at: a.at, run: a.run, funcs: make(map[string]*Function, len(a.funcs))}
	if b.at.After(a.at) {
		whole.at = b.at
	}
	whole.run.Skipped = slices.Clip(whole.run.Skipped) // a stays as it is
	whole.run.Add(&b.run.Summary)
	whole.run.Cost += b.run.Cost
	whole.run.CPU += b.run.CPU
	maps.Copy(whole.funcs, a.funcs)
	for name, f := range b.funcs {
		if had := whole.funcs[name]; had != nil {
			f = had.plus(f)
		}
		whole.funcs[name] = f
	}
	return whole
}

// newFunction is what a reading has of a function, as far as it is exported. Names are what the file says.
func newFunction(from *stats.Func) *Function {
	f := &Function{Func: *from}
	f.Name = strings.ToValidUTF8(from.Name, "\uFFFD")
	f.Bounds, f.Whole, f.Waits, f.Amounts, f.Events = nil, nil, nil, nil, nil
	if w, seen := from.Whole, float64(from.Calls); w != nil {
		f.Unseen, f.UnseenLow, f.UnseenHigh = max(w.Calls-seen, 0), max(w.Low-seen, 0), max(w.High-seen, 0)
	}
	if f.Latency = from.Latency; f.Latency != nil && f.Latency.Count() > 0 {
		f.Latency = f.Latency.Since(nil)
		f.Low = f.Latency.Seconds()
		f.High = f.Low
	} else {
		f.Latency = nil
	}
	if from.Bounds != nil {
		f.Low, f.High = from.Bounds.Low.Seconds(), from.Bounds.High.Seconds()
	}
	return f
}

// raise makes nothing less than it was before.
func (f *Function) raise(before *Function) {
	f.Since = before.Since
	counts := before.Func.Counts()
	for i, n := range f.Func.Counts() {
		*n = max(*n, *counts[i])
	}
	f.Low, f.High = max(f.Low, before.Low), max(f.High, before.High)
	f.Unseen, f.UnseenLow, f.UnseenHigh = max(f.Unseen, before.Unseen), max(f.UnseenLow, before.UnseenLow), max(f.UnseenHigh, before.UnseenHigh)
	f.Split.Running = max(f.Split.Running, before.Split.Running)
	f.Split.Runnable = max(f.Split.Runnable, before.Split.Runnable)
	f.Split.Waiting = max(f.Split.Waiting, before.Split.Waiting)
}

// plus is a new Function of both.
func (f *Function) plus(g *Function) *Function {
	s := *f
	if g.Since.Before(f.Since) { // else a counter that goes on would seem to have begun anew
		s.Since = g.Since
	}
	s.Func = f.Func.Since(stats.Func{}) // whose latencies are its own
	s.Add(&g.Func)
	s.Low += g.Low
	s.High += g.High
	s.Unseen += g.Unseen
	s.UnseenLow += g.UnseenLow
	s.UnseenHigh += g.UnseenHigh
	return &s
}

// raise makes no count less than it was before.
func (r *Run) raise(before *Run) {
	r.Hits, r.Delivered, r.Counted = max(r.Hits, before.Hits), max(r.Delivered, before.Delivered), max(r.Counted, before.Counted)
	r.Filtered, r.Lost, r.Unparsed = max(r.Filtered, before.Filtered), max(r.Lost, before.Lost), max(r.Unparsed, before.Unparsed)
	r.Cost, r.CPU = max(r.Cost, before.Cost), max(r.CPU, before.CPU)
}
