package parse

import (
	"context"
	"slices"
	"sort"
)

// merge puts events of all buffers in order of time: hits of probes, as text or from the pages of
// each CPU, and events of the kernel itself, which have buffers of their own.
//
// Pages come in passes over all CPUs. An event that was recorded before a pass began is
// found by it, unless there is more to read on its CPU than the pass takes. So after a
// pass it is certain that nothing more will come of before
//
//   - the latest event that had been found anywhere when the pass began, from CPUs that were
//     read until they were empty: it had been recorded by then;
//   - the last event that was read, from a CPU that may have more.
//
// Text is as one more CPU: it comes in order, so what was read last is how far it is certain.
// The least of these over all CPUs is how far events can be let go. What is held back is
// what the fullest CPU is behind: no more than the ring buffers hold.
type merge struct {
	queues []*queue
	ready  []*queue // in order of their next events, while letting go
	free   [][]byte
	// latest is the time of the latest event found, bound what it was when the present
	// pass began.
	latest, bound uint64
}

// side is what is read in one pass: hits, or events of the kernel itself. Of events of the same
// time the hits come first.
type side struct {
	merge      *merge
	source     Pages // nil for text
	formats    *rawFormats
	cpus       []*queue // nil for one not heard of
	unreadable uint64
}

// queue is what is waiting of one CPU, or of text.
type queue struct {
	*side
	pages [][]byte // pages[head] is being read
	list  []Event  // of text, from head on
	head  int
	page  rawPage
	// newest is the page that was read last, as long as nobody has looked when it ends.
	newest rawPage
	ev     Event  // the next of the queue
	has    bool   // there is one
	until  uint64 // nothing more will come of before
}

// queue adds one.
func (s *side) queue() *queue {
	q := &queue{side: s}
	s.merge.queues = append(s.merge.queues, q)
	return q
}

// pass reads all CPUs.
func (s *side) pass(ctx context.Context) (n int, err error) {
	s.merge.look()
	s.merge.bound = s.merge.latest
	return s.source.ReadPages(ctx, s.add)
}

// add takes a page, of which it makes a copy; none says that the CPU's buffer is empty.
func (s *side) add(cpu int, page []byte) {
	for len(s.cpus) <= cpu {
		s.cpus = append(s.cpus, nil)
	}
	q, m := s.cpus[cpu], s.merge
	if q == nil {
		q = s.queue()
		s.cpus[cpu] = q
	}
	if len(page) == 0 {
		q.empty()
		return
	}
	var cp []byte
	if last := len(m.free) - 1; last >= 0 {
		cp, m.free = m.free[last][:0], m.free[:last]
	}
	cp = append(cp, page...)
	next := s.formats.page(cpu, cp)
	if next.time < q.newest.time { // the clock has begun anew, as it may when a machine wakes up
		q.look()
	}
	q.found(next.time)
	q.newest = next
	q.pages = append(q.pages, cp)
	if len(q.pages) == 1 {
		q.page = next
		q.next()
	}
}

// look finds when the newest page ends, for which all of it is read: when another has begun it is
// known well enough.
func (q *queue) look() {
	q.found(q.newest.last())
	q.newest = rawPage{}
}

func (m *merge) look() {
	for _, q := range m.queues {
		q.look()
	}
}

// push takes an event of text, of which it makes a copy.
func (q *queue) push(ev *Event) {
	q.found(ev.Time)
	cp := *ev
	cp.Args = slices.Clone(ev.Args)
	if 2*q.head >= len(q.list) {
		q.list, q.head = q.list[:copy(q.list, q.list[q.head:])], 0
	}
	if q.list = append(q.list, cp); !q.has {
		q.next()
	}
}

// found notes the time of an event, empty that there is no more for the moment.
func (q *queue) found(time uint64) {
	q.until, q.merge.latest = max(q.until, time), max(q.merge.latest, time)
}

func (q *queue) empty() { q.until = max(q.until, q.merge.bound) }

// certain is how far events can be let go.
func (m *merge) certain() uint64 {
	m.look()
	time := m.latest
	for _, q := range m.queues {
		time = min(time, q.until)
	}
	return time
}

// settled: no hit is held back.
func (m *merge) settled() bool {
	return !slices.ContainsFunc(m.queues, func(q *queue) bool { return q.has && !q.ev.Kernel })
}

// release lets go the events up to a time.
func (m *merge) release(until uint64, take func(*Event)) {
	m.ready = m.ready[:0]
	for _, q := range m.queues {
		if q.has {
			m.ready = append(m.ready, q)
		}
	}
	slices.SortFunc(m.ready, func(a, b *queue) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	for ready := m.ready; len(ready) > 0; {
		q, others := ready[0], ready[1:]
		for q.has && q.ev.Time <= until && (len(others) == 0 || !others[0].before(q)) {
			take(&q.ev)
			q.next()
		}
		if !q.has || q.ev.Time > until {
			ready = others
			continue
		}
		place := sort.Search(len(others), func(i int) bool { return !others[i].before(q) })
		copy(ready, others[:place])
		ready[place] = q
	}
}

// before tells whether the next event of a queue comes before that of another.
func (q *queue) before(other *queue) bool {
	return q.ev.Time < other.ev.Time || q.ev.Time == other.ev.Time && !q.ev.Kernel && other.ev.Kernel
}

// next goes to the next event of a queue.
func (q *queue) next() {
	if q.formats == nil { // text
		if q.has = q.head < len(q.list); q.has {
			q.ev = q.list[q.head]
			q.head++
		}
		return
	}
	for q.head < len(q.pages) {
		for ok, more := q.page.next(&q.ev); more; ok, more = q.page.next(&q.ev) {
			if ok {
				q.has = true
				return
			}
			q.unreadable++
		}
		q.look() // its memory may be used for another
		q.merge.free = append(q.merge.free, q.pages[q.head])
		if q.head++; q.head < len(q.pages) {
			q.page = q.formats.page(q.page.cpu, q.pages[q.head])
		}
		if 2*q.head >= len(q.pages) {
			q.pages = q.pages[:copy(q.pages, q.pages[q.head:])]
			q.head = 0
		}
	}
	q.has = false
}
