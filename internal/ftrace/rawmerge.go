package ftrace

// rawMerge puts the events of all CPUs in order of time.
//
// Pages come in passes over all CPUs. An event that was recorded before a pass began is
// found by it, unless there is more to read on its CPU than the pass takes. So after a
// pass it is certain that nothing more will come of before
//
//   - the latest event that the pass before had found anywhere, from CPUs that were read
//     until they were empty: it had been recorded when this pass began;
//   - the last event that was read, from a CPU that may have more.
//
// The least of these over all CPUs is how far events can be let go. What is held back is
// what the fullest CPU is behind: no more than the ring buffers hold.
type rawMerge struct {
	formats *rawFormats
	cpus    []*rawQueue // by CPU; nil for one not heard of
	ready   []*rawQueue // a heap by the time of their next event, while letting go
	free    [][]byte
	// latest is the time of the latest event found, bound what it was when the present
	// pass began.
	latest, bound uint64
	// certain is how far events have been let go.
	certain    uint64
	unreadable uint64
}

// rawQueue is what is waiting of one CPU.
type rawQueue struct {
	pages [][]byte // pages[head] is being read
	head  int
	page  rawPage
	ev    Event  // the next of the queue
	has   bool   // there is one
	last  uint64 // time of the last event found
	empty bool   // the CPU's buffer was, in this pass
}

// add takes a page, of which it makes a copy; none says that the CPU's buffer is empty.
func (m *rawMerge) add(cpu int, page []byte) {
	for len(m.cpus) <= cpu {
		m.cpus = append(m.cpus, nil)
	}
	q := m.cpus[cpu]
	if q == nil {
		q = &rawQueue{}
		m.cpus[cpu] = q
	}
	if len(page) == 0 {
		q.empty = true
		return
	}
	var cp []byte
	if last := len(m.free) - 1; last >= 0 {
		cp, m.free = m.free[last][:0], m.free[:last]
	}
	cp = append(cp, page...)
	q.last = max(q.last, m.formats.page(cpu, cp).last())
	m.latest = max(m.latest, q.last)
	q.pages = append(q.pages, cp)
	if len(q.pages) == 1 {
		q.page = m.formats.page(cpu, cp)
		m.next(cpu, q)
	}
}

// pass ends a pass over all CPUs, and lets go what has become certain.
func (m *rawMerge) pass(emit func(*Event)) {
	certain := max(m.latest, m.bound)
	for _, q := range m.cpus {
		if q == nil {
			continue
		}
		until := q.last
		if q.empty {
			until = max(until, m.bound)
		}
		certain = min(certain, until)
		q.empty = false
	}
	m.bound, m.certain = m.latest, certain
	m.release(certain, emit)
}

// flush lets everything go: there will be no more.
func (m *rawMerge) flush(emit func(*Event)) { m.release(^uint64(0), emit) }

// settled: no event is held back.
func (m *rawMerge) settled() bool {
	for _, q := range m.cpus {
		if q != nil && q.has {
			return false
		}
	}
	return true
}

// release lets go the events up to a time.
func (m *rawMerge) release(until uint64, emit func(*Event)) {
	m.ready = m.ready[:0]
	for _, q := range m.cpus {
		if q != nil && q.has {
			m.ready = append(m.ready, q)
		}
	}
	for i := len(m.ready)/2 - 1; i >= 0; i-- {
		m.down(i)
	}
	for len(m.ready) > 0 {
		q := m.ready[0]
		next := until
		for _, other := range m.ready[1:min(3, len(m.ready))] {
			next = min(next, other.ev.Time)
		}
		for q.has && q.ev.Time <= next {
			cpu := q.ev.CPU
			emit(&q.ev)
			m.next(cpu, q)
		}
		if !q.has || q.ev.Time > until {
			last := len(m.ready) - 1
			m.ready[0] = m.ready[last]
			m.ready = m.ready[:last]
		}
		m.down(0)
	}
}

// down moves an element of the heap to where it belongs below.
func (m *rawMerge) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(m.ready); child++ {
			if m.ready[child].ev.Time < m.ready[least].ev.Time {
				least = child
			}
		}
		if least == i {
			return
		}
		m.ready[i], m.ready[least] = m.ready[least], m.ready[i]
		i = least
	}
}

// next goes to the next event of a queue.
func (m *rawMerge) next(cpu int, q *rawQueue) {
	for q.head < len(q.pages) {
		for ok, more := q.page.next(&q.ev); more; ok, more = q.page.next(&q.ev) {
			if ok {
				q.has = true
				return
			}
			m.unreadable++
		}
		m.free = append(m.free, q.pages[q.head])
		if q.head++; q.head < len(q.pages) {
			q.page = m.formats.page(cpu, q.pages[q.head])
		}
		if 2*q.head >= len(q.pages) {
			q.pages = q.pages[:copy(q.pages, q.pages[q.head:])]
			q.head = 0
		}
	}
	q.has = false
}
