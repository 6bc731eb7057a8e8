// Package metrics exports counts and latencies of functions for `ftgo export`, which runs for weeks.
//
// An [Aggregator] adds up the counts of all files of a program, and returns them as a [Snapshot]. [Serve] answers
// Prometheus with the latest snapshot: as OpenMetrics, as text or, with native histograms, as protocol buffers. An
// [Exporter] sends snapshots, and calls as spans, to an OpenTelemetry collector by OTLP over HTTP. It queues them and
// sends them in the background, so that its callers never wait for the network. No other package imports the libraries
// of Prometheus and OpenTelemetry.
package metrics

import (
	"cmp"
	"math"
	"slices"
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
	past   *Snapshot // sum of all closed sources, and the counters that belong to no source: Plans and Failed
	open   []*Source
	first  map[string]time.Time // when a function was first probed, in the system's time of then
	closed map[string]time.Time // when a source with a function was last closed
}

// NewAggregator returns an empty Aggregator for a run that began at from.
func NewAggregator(about About, from time.Time) *Aggregator {
	return &Aggregator{
		now: time.Now, about: about, from: from, past: &Snapshot{At: from, Functions: make(map[string]*stats.Func)},
		first: make(map[string]time.Time), closed: make(map[string]time.Time),
	}
}

// Source holds the counts of one file.
type Source struct {
	all  *Aggregator
	file File
	last *Snapshot // the last reading; immutable
}

// Open returns a Source for a file that is going to be probed, and counts a plan.
func (a *Aggregator) Open() *Source {
	a.mu.Lock()
	defer a.mu.Unlock()
	source := &Source{all: a, last: &Snapshot{}}
	a.open = append(a.open, source)
	a.past.Run.Plans++
	return source
}

// Failed counts a file that could not be probed.
func (a *Aggregator) Failed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.past.Run.Failed++
}

// Update replaces the counts of a source by the counts from Open to the time at; programCPU is the CPU time that the
// program has used in that time. No counter decreases: a count that is less than the previous one keeps its previous
// value. That happens, for example, if the return of a call arrives after the call was counted as unwound.
func (s *Source) Update(at time.Time, funcs []stats.Func, summary *stats.Summary, programCPU time.Duration) {
	next := &Snapshot{At: at, Functions: make(map[string]*stats.Func, len(funcs)), Run: Run{Summary: *summary, CPU: programCPU}}
	if summary.Probing != nil {
		next.Run.Cost = time.Duration(summary.Probing.NS)
	}
	before := s.last
	next.Run.raise(&before.Run)
	for i := range funcs {
		f := exported(&funcs[i])
		if other := next.Functions[f.Name]; other != nil { // some symbols share a name
			f = plus(other, f)
		}
		next.Functions[f.Name] = f
	}
	s.all.mu.Lock()
	defer s.all.mu.Unlock()
	since := at.Add(-time.Duration(summary.Seconds * float64(time.Second))).Round(0)
	for name, f := range next.Functions {
		if had := before.Functions[name]; had != nil {
			raise(f, had)
		}
		if first, ok := s.all.first[name]; !ok || since.Before(first) {
			s.all.first[name] = since
		}
	}
	s.last = next
}

// Describe sets the file of a source, except its PIDs.
func (s *Source) Describe(f File) {
	a := s.all
	a.mu.Lock()
	defer a.mu.Unlock()
	f.PIDs = s.file.PIDs
	s.file = f
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
	a.past.add(s.last)
	a.past.Run.Probes, a.past.Run.Skipped, a.past.Run.Budget = 0, nil, 0
	for name := range s.last.Functions {
		a.closed[name] = a.now()
	}
}

// Snapshot returns the sum of all counts. At and Created are by the system clock as it is now. The start times never
// change, even if the clock is set, because a counter whose start time changes seems to have been reset.
func (a *Aggregator) Snapshot() *Snapshot {
	now := a.now()
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &Snapshot{Functions: make(map[string]*stats.Func), Since: make(map[string]time.Time), Probed: make(map[string]bool)}
	s.add(a.past)
	for _, source := range a.open {
		if source.last.Functions == nil {
			continue // its probes are not armed yet
		}
		s.add(source.last)
		s.Run.Files = withFile(s.Run.Files, source.file)
		for name := range source.last.Functions {
			s.Probed[name] = true
		}
	}
	s.From, s.At, s.Created, s.About = a.from, now.Add(s.At.Sub(now)), now, a.about
	for name := range s.Functions {
		if !s.Probed[name] && now.Sub(a.closed[name]) > expiry {
			delete(s.Functions, name)
			delete(a.past.Functions, name)
			delete(a.first, name)
			delete(a.closed, name)
			continue
		}
		s.Since[name] = a.first[name]
	}
	return s
}

// expiry is how long snapshots include a function that is in no probed file. Without this limit the number of functions
// would grow with each build that renames some. The counters of a function that comes back later start at 0.
const expiry = time.Hour

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

// add adds the counts of another snapshot, which it leaves unchanged.
func (s *Snapshot) add(other *Snapshot) {
	if other.At.After(s.At) {
		s.At = other.At
	}
	r, more := &s.Run, &other.Run
	r.Add(&more.Summary)
	r.Plans, r.Failed, r.Cost, r.CPU = r.Plans+more.Plans, r.Failed+more.Failed, r.Cost+more.Cost, r.CPU+more.CPU
	for name, f := range other.Functions {
		if had := s.Functions[name]; had != nil {
			f = plus(had, f)
		}
		s.Functions[name] = f
	}
}

// plus returns the sum of two functions, which it leaves unchanged.
func plus(f, g *stats.Func) *stats.Func {
	sum := f.Since(stats.Func{}) // a copy with its own histogram
	sum.Add(g)
	return &sum
}

// exported returns a copy of the numbers of a function that are exported; see [Snapshot.Functions]. It replaces invalid
// UTF-8 in the name, which comes from the file's symbol table and may be any bytes.
func exported(from *stats.Func) *stats.Func {
	f := *from
	f.Name, f.Latency, f.Bounds, f.Waits, f.Amounts, f.Events = valid(from.Name), nil, nil, nil, nil, nil
	if e := from.Estimate; e != nil {
		// The estimates are whole numbers, so that rounding of sums can't make a counter decrease.
		whole := func(n float64) float64 { return math.Round(max(n, float64(from.Calls))) }
		f.Estimate = &stats.Estimate{Calls: whole(e.Calls), Low: whole(e.Low), High: whole(e.High)}
	}
	if h := from.Latency; h != nil && h.Count() > 0 {
		b := cmp.Or(from.Bounds, &stats.Bounds{Low: *h, High: *h})
		f.Latency, f.Bounds = h.Since(nil), &stats.Bounds{Low: b.Low.Totals(), High: b.High.Totals()}
	}
	return &f
}

// unseen returns the estimated number of calls that happened while the budget had removed the probes.
func unseen(f *stats.Func) stats.Estimate {
	if f.Estimate == nil {
		return stats.Estimate{}
	}
	e, seen := f.Estimate, float64(f.Calls)
	return stats.Estimate{Calls: e.Calls - seen, Low: e.Low - seen, High: e.High - seen}
}

// raise sets each counter of a function to at least its value in before.
func raise(f, before *stats.Func) {
	u, v := unseen(f), unseen(before)
	counts := before.Counts()
	for i, n := range f.Counts() {
		*n = max(*n, *counts[i])
	}
	if seen := float64(f.Calls); f.Estimate != nil || before.Estimate != nil {
		f.Estimate = &stats.Estimate{Calls: seen + max(u.Calls, v.Calls), Low: seen + max(u.Low, v.Low), High: seen + max(u.High, v.High)}
	}
	if a, b := f.Bounds, before.Bounds; a != nil && b != nil {
		if a.Low.Seconds() < b.Low.Seconds() {
			a.Low = b.Low
		}
		if a.High.Seconds() < b.High.Seconds() {
			a.High = b.High
		}
	}
	for i, ns := range f.Split.Parts() {
		*ns = max(*ns, *before.Split.Parts()[i])
	}
}

// raise sets each counter to at least its value in before.
func (r *Run) raise(before *Run) {
	counts := before.Counts()
	for i, n := range r.Counts() {
		*n = max(*n, *counts[i])
	}
	r.Cost, r.CPU = max(r.Cost, before.Cost), max(r.CPU, before.CPU)
}

// Snapshot holds all counts of a run at one moment. Nothing changes a Snapshot after [Aggregator.Snapshot] returned it.
// No counter is less than in an earlier Snapshot. Functions that have been in no probed file for an hour are left out.
type Snapshot struct {
	From, At time.Time // the counted calls happened between From and At, the time of the last reading
	Created  time.Time // when Snapshot was called; while no file is probed, At stays at the last reading
	About    About
	// Functions are the functions by name, added up over all files that have contained them. Their Latency is corrected by
	// the estimated cost of probes. The true sum of the latencies is between the sums of Bounds, which has only these sums.
	// Lost counts only calls in files that are no longer probed.
	Functions map[string]*stats.Func
	Since     map[string]time.Time // when a function was first probed
	Probed    map[string]bool      // whether a file that contains a function is probed now
	Run       Run
	// Sent counts the items sent by OTLP, per kind of item: "span" or "data point". The caller of [Aggregator.Snapshot] sets it.
	Sent map[string]Sending
}

// Sending counts items that were put into the queue of a sender: each is sent, queued or failed.
type Sending struct {
	Sent, Queued uint64
	// Failed counts items that will never arrive, by reason: "queue_full", "shutdown", "rejected" if the collector
	// accepted only the rest of the message, the HTTP status if it refused the whole message, or "_OTHER" if the
	// message could not be encoded.
	Failed map[string]uint64
}

// About describes the run and never changes.
type About struct {
	Release string // version of ftgo
	Host    string // host name
	Kernel  string // kernel release
	Service string // name of the program: the base name of BINARY, or the argument of -p
}

// File is a probed file of the program.
type File struct {
	Path, BuildID, GoVersion string
	PIDs                     []int // processes that run the file
}

// Run holds the numbers of the whole run. It includes the counters, but not the gauges, of files that are no longer
// probed.
type Run struct {
	stats.Summary // the caller of [Aggregator.Snapshot] sets OwnCPU to the total since ftgo started
	Files         []File
	Plans, Failed uint64 // how often a file was opened to be probed, and how often probing it failed
	// Cost is the CPU time that probes took of the program, if known. CPU is the program's CPU time, including Cost.
	Cost, CPU time.Duration
}
