package metrics

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
)

// Aggregator adds up the counts of the files of a program, which may be probed one after the other or at the same time.
// Each probed file is a [Source]. Several goroutines may call methods of an Aggregator and of different Sources at the
// same time.
type Aggregator struct {
	now    func() time.Time
	mu     sync.Mutex
	about  About
	from   time.Time
	past   *account // sum of all closed sources, and the counters that belong to no source: Plans, Failed and OwnCPU
	open   []*Source
	starts map[string]time.Time // start times in the last snapshot: of functions, and of the run ("")
	absent map[string]time.Time // since when a function has been in no probed file
}

// NewAggregator returns an empty Aggregator for a run that began at from.
func NewAggregator(about About, from time.Time) *Aggregator {
	return &Aggregator{
		now: time.Now, about: about, from: from, past: &account{at: from},
		starts: make(map[string]time.Time), absent: make(map[string]time.Time),
	}
}

// Source holds the counts of one file.
type Source struct {
	all       *Aggregator
	file      File
	functions []string // functions that are selected in this file
	last      *account // the last reading; immutable
}

// account holds the counts up to the time at.
type account struct {
	at    time.Time
	run   Run
	funcs map[string]*Function
}

// Open returns a Source for a file that is going to be probed, and counts a plan.
func (a *Aggregator) Open() *Source {
	a.mu.Lock()
	defer a.mu.Unlock()
	source := &Source{all: a, last: &account{}}
	a.open = append(a.open, source)
	a.past.run.Plans++
	return source
}

// Failed counts a file that could not be probed.
func (a *Aggregator) Failed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.past.run.Failed++
}

// Update replaces the counts of a source by the counts from Open to the time at; programCPU is the CPU time that the
// program has used in that time. No counter decreases: a count that is less than the previous one keeps its previous
// value. That happens, for example, if the return of a call arrives after the call was counted as unwound.
func (s *Source) Update(at time.Time, funcs []stats.Func, summary *stats.Summary, programCPU time.Duration) {
	next := &account{at: at, funcs: make(map[string]*Function, len(funcs)), run: Run{Summary: *summary, CPU: programCPU}}
	next.run.OwnCPU = 0 // SetOwnCPU counts it, for all sources
	if summary.Probing != nil {
		next.run.Cost = time.Duration(summary.Probing.NS)
	}
	before := s.last
	next.run.raise(&before.run)
	for i := range funcs {
		f := newFunction(&funcs[i])
		f.Since = at.Add(-time.Duration(summary.Seconds * float64(time.Second)))
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
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.last = next
}

// Describe sets the file of a source, except its PIDs, and the functions that are going to be probed.
func (s *Source) Describe(f File, functions []string) {
	a := s.all
	a.mu.Lock()
	defer a.mu.Unlock()
	f.PIDs = s.file.PIDs
	s.file, s.functions = f, functions
}

// SetPIDs sets the processes that run the file.
func (s *Source) SetPIDs(pids []int) {
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	s.file.PIDs = pids
}

// Close removes a source whose file is no longer probed. Its counts stay in later snapshots.
func (s *Source) Close() {
	a := s.all
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = slices.DeleteFunc(a.open, func(other *Source) bool { return other == s })
	a.past = addAccounts(a.past, s.last)
	a.past.run.Probes, a.past.run.Skipped, a.past.run.Budget = 0, nil, 0
}

// SetOwnCPU sets the CPU time that ftgo has used since it started.
func (a *Aggregator) SetOwnCPU(own time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.past.run.OwnCPU = max(a.past.run.OwnCPU, own)
}

// leastSet is the smallest change of the system clock that [Aggregator.startTime] heeds. [time.Now] reads the wall clock and the
// monotonic clock one after the other, so small differences mean nothing.
const leastSet = 10 * time.Millisecond

// startTime returns the start time t of a counter by the system clock as it is now. If the clock was set back, t itself
// might be after now. If the clock was set ahead, startTime returns the same time as before, because a counter whose
// start time increases seems to have been reset.
func (a *Aggregator) startTime(name string, t, now time.Time) time.Time {
	t = now.Round(0).Add(t.Sub(now))
	if before, ok := a.starts[name]; ok && t.Sub(before) > -leastSet {
		return before
	}
	a.starts[name] = t
	return t
}

// Snapshot returns the sum of all counts. Its times are by the system clock as it is now.
func (a *Aggregator) Snapshot() *Snapshot {
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	total, probed := a.past, make(map[string]bool)
	var files []File
	for _, source := range a.open {
		if source.last.funcs == nil {
			continue // its probes are not armed yet
		}
		total = addAccounts(total, source.last)
		files = withFile(files, source.file)
		for name := range source.last.funcs {
			probed[name] = true
		}
	}
	run := total.run
	run.Files = files
	s := &Snapshot{From: a.startTime("", a.from, now), At: now.Add(total.at.Sub(now)), Created: now, About: a.about, Run: run}
	for _, f := range total.funcs {
		if a.expired(f.Name, probed[f.Name], now) {
			delete(a.past.funcs, f.Name)
			delete(a.absent, f.Name)
			delete(a.starts, f.Name)
			continue
		}
		whole := *f
		whole.Since = a.startTime(f.Name, f.Since, now)
		whole.Probed = probed[f.Name]
		s.Functions = append(s.Functions, whole)
	}
	slices.SortFunc(s.Functions, func(f, g Function) int { return strings.Compare(f.Name, g.Name) })
	return s
}

// expiry is how long snapshots include a function that is in no probed file. Without this limit the number of functions
// would grow with each build that renames some. The counters of a function that comes back later start at 0.
const expiry = time.Hour

// expired reports whether a function has been in no probed file for longer than expiry.
func (a *Aggregator) expired(name string, probed bool, now time.Time) bool {
	since, absent := a.absent[name]
	switch {
	case probed:
		delete(a.absent, name)
	case !absent:
		a.absent[name] = now
	}
	return !probed && absent && now.Sub(since) > expiry
}

// withFile appends a file. If the same build is there already, because it was deployed again to the same path, withFile
// adds the processes to that entry instead: both would have the same labels.
func withFile(files []File, f File) []File {
	i := slices.IndexFunc(files, func(g File) bool { return g.Path == f.Path && g.BuildID == f.BuildID && g.GoVersion == f.GoVersion })
	if i < 0 {
		return append(files, f)
	}
	files[i].PIDs = slices.Concat(files[i].PIDs, f.PIDs)
	return files
}

// addAccounts returns the sum of two accounts, which it leaves unchanged.
func addAccounts(a, b *account) *account {
	whole := &account{at: a.at, run: a.run, funcs: make(map[string]*Function, len(a.funcs))}
	if b.at.After(a.at) {
		whole.at = b.at
	}
	whole.run.Skipped = slices.Clip(whole.run.Skipped) // so that Add does not append to the array of a
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

// newFunction returns the exported numbers of a function. It replaces invalid UTF-8 in the name, which comes from the
// file's symbol table and may be any bytes.
func newFunction(from *stats.Func) *Function {
	f := &Function{Func: *from}
	f.Name = strings.ToValidUTF8(from.Name, "\uFFFD")
	f.Bounds, f.Estimate, f.Waits, f.Amounts, f.Events = nil, nil, nil, nil, nil
	if w, seen := from.Estimate, float64(from.Calls); w != nil {
		f.Unseen = stats.Estimate{Calls: max(w.Calls-seen, 0), Low: max(w.Low-seen, 0), High: max(w.High-seen, 0)}
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

// raise sets each counter to at least its value in before, and Since to its value in before.
func (f *Function) raise(before *Function) {
	f.Since = before.Since
	counts := before.Func.Counts()
	for i, n := range f.Func.Counts() {
		*n = max(*n, *counts[i])
	}
	f.Low, f.High = max(f.Low, before.Low), max(f.High, before.High)
	u, v := &f.Unseen, &before.Unseen
	*u = stats.Estimate{Calls: max(u.Calls, v.Calls), Low: max(u.Low, v.Low), High: max(u.High, v.High)}
	p, q := &f.Split, &before.Split
	*p = stats.Split{Running: max(p.Running, q.Running), Runnable: max(p.Runnable, q.Runnable), Waiting: max(p.Waiting, q.Waiting)}
}

// plus returns the sum of two functions, which it leaves unchanged.
func (f *Function) plus(g *Function) *Function {
	s := *f
	if g.Since.Before(f.Since) { // a later start time would look like a reset of the counters
		s.Since = g.Since
	}
	s.Func = f.Func.Since(stats.Func{}) // a copy with its own histogram
	s.Add(&g.Func)
	s.Low, s.High = f.Low+g.Low, f.High+g.High
	u, v := f.Unseen, g.Unseen
	s.Unseen = stats.Estimate{Calls: u.Calls + v.Calls, Low: u.Low + v.Low, High: u.High + v.High}
	return &s
}

// raise sets each counter to at least its value in before.
func (r *Run) raise(before *Run) {
	r.Hits, r.Delivered, r.Counted = max(r.Hits, before.Hits), max(r.Delivered, before.Delivered), max(r.Counted, before.Counted)
	r.Filtered, r.Lost, r.Unparsed = max(r.Filtered, before.Filtered), max(r.Lost, before.Lost), max(r.Unparsed, before.Unparsed)
	r.Cost, r.CPU = max(r.Cost, before.Cost), max(r.CPU, before.CPU)
}
