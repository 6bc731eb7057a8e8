package parse

import (
	"context"
	"slices"
	"sort"
)

// merge sorts the events of all buffers by time: hits, as text or from the pages of each CPU, and kernel events,
// which have their own buffers.
//
// Pages are read in passes over all CPUs. A pass finds every event that was recorded before it began, unless a CPU's
// buffer holds more than a pass reads. So after a pass, a CPU can yield no more events that are older than
//
//   - the newest event that had been found on any CPU when the pass began, if the pass emptied the CPU's buffer;
//   - the begin of the last page read from the CPU, if its buffer may hold more.
//
// Text counts as one more CPU, see [queue.push]. The minimum of these times over all CPUs is the time up to which merge can
// release events. It holds back at most what the ring buffers hold.
type merge struct {
	queues []*queue
	ready  []*queue // used by release: the queues in the order of their next events
	free   [][]byte // memory of released pages, which add uses again
	// latest is the time of the newest event found. bound is the value of latest when the present pass began.
	latest, bound uint64
}

// side is the input of one pass: hits or kernel events. Of events with the same time the hits come first.
type side struct {
	merge      *merge
	source     Pages // nil for text
	formats    *formats
	cpus       []*queue // by CPU; nil for a CPU without a page so far
	unreadable uint64
}

// queue holds the events of one CPU, or of the text, that are not released yet.
type queue struct {
	*side
	pages [][]byte // page reads from pages[head]
	page  rawPage
	// list are the events of text from head on, the oldest first. No more event will come before list[certain].
	list    []*Event
	certain int
	spare   []*Event // memory for events of text
	head    int
	ev      *Event // the next event, if has is true
	has     bool   // false if the queue is empty
	until   uint64 // no event older than this will be added
}

// queue adds an empty queue.
func (s *side) queue() *queue {
	q := &queue{side: s, ev: new(Event)}
	s.merge.queues = append(s.merge.queues, q)
	return q
}

// pass reads the pages of all CPUs once.
func (s *side) pass(ctx context.Context) (n int, err error) {
	s.merge.bound = s.merge.latest
	return s.source.ReadPages(ctx, s.add)
}

// add adds a copy of a page. An empty page means that the CPU's buffer is empty.
func (s *side) add(cpu int, page []byte) {
	for len(s.cpus) <= cpu {
		s.cpus = append(s.cpus, nil)
	}
	q, m := s.cpus[cpu], s.merge
	if q == nil {
		q = s.queue()
		s.cpus[cpu] = q
	}
	next := s.formats.page(cpu, page)
	if q.head < len(q.pages) {
		// To find the time of a page's last record, last reads the whole page. If another page follows, the time at which it
		// begins is close enough, unless the clock was reset, as may happen when a machine wakes up.
		if newest := s.formats.page(cpu, q.pages[len(q.pages)-1]); len(page) == 0 || next.time < newest.time {
			q.found(newest.last())
		}
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
	q.found(next.time)
	q.pages = append(q.pages, cp)
	if len(q.pages) == 1 {
		q.page = s.formats.page(cpu, cp)
		q.next()
	}
}

// room returns the event that the next line fills and push adds.
func (q *queue) room() *Event {
	if len(q.spare) == 0 {
		q.spare = append(q.spare, new(Event))
	}
	return q.spare[len(q.spare)-1]
}

// push adds an event of text, which room has returned.
//
// To print a line, trace_pipe searches one CPU after the other for the oldest event. A goroutine may cause an event on a CPU
// that the search has passed, move to another CPU, and cause its next event before the search reaches the other CPU. Then
// the later event is printed first. But the earlier event was recorded before the next search began, and that search picks
// the oldest. So no older event can follow once a later search has printed a younger event, or has found no event.
func (q *queue) push(ev *Event) {
	q.spare = q.spare[:len(q.spare)-1]
	at := len(q.list)
	for at > q.certain && q.list[at-1].Time > ev.Time {
		at--
	}
	q.list = slices.Insert(q.list, at, ev)
	q.settle(at)
}

// settle notes that no event will come before the first n of list.
func (q *queue) settle(n int) {
	if q.certain = n; n > 0 {
		q.found(q.list[n-1].Time)
	}
	if !q.has {
		q.next()
	}
}

// found raises until and latest to the time of an event that was read.
func (q *queue) found(time uint64) {
	q.until, q.merge.latest = max(q.until, time), max(q.merge.latest, time)
}

// empty raises until to bound, because the pass has emptied the CPU's buffer, or found no more text.
func (q *queue) empty() {
	q.settle(len(q.list))
	q.until = max(q.until, q.merge.bound)
}

// certain returns the time up to which events can be released.
func (m *merge) certain() uint64 {
	time := m.latest
	for _, q := range m.queues {
		time = min(time, q.until)
	}
	return time
}

// release calls take with the events up to the time until, in order, and removes them.
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
			take(q.ev)
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

// before reports whether the next event of q comes before the next event of other.
func (q *queue) before(other *queue) bool {
	return q.ev.Time < other.ev.Time || q.ev.Time == other.ev.Time && !q.ev.Kernel && other.ev.Kernel
}

// next moves to the next event of the queue.
func (q *queue) next() {
	if q.formats == nil { // text
		if q.has {
			q.spare = append(q.spare, q.ev)
			q.head++
		}
		if 2*q.head >= len(q.list) {
			q.list = q.list[:copy(q.list, q.list[q.head:])]
			q.certain, q.head = q.certain-q.head, 0
		}
		if q.has = q.head < q.certain; q.has {
			q.ev = q.list[q.head]
		}
		return
	}
	for q.head < len(q.pages) {
		for ok, more := q.page.next(q.ev); more; ok, more = q.page.next(q.ev) {
			if ok {
				q.has = true
				return
			}
			q.unreadable++
		}
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
