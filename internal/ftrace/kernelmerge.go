package ftrace

// kernelMerge puts events of the kernel itself, which come from buffers of their own, among
// hits of probes in order of time.
//
// Either side is certain up to some time: nothing of before will come any more. Text comes
// in order, so what was read last is how far it is certain; of pages [rawMerge] knows. A
// side that has nothing to read is certain up to the latest event that the other had given
// before: its buffers were looked at after that had been recorded. What both are certain of
// can be let go.
type kernelMerge struct {
	formats *kernelFormats
	pages   rawMerge
	hits    eventQueue
	events  eventQueue
	// latest is the time of the latest event of both sides, until the pass before.
	latest uint64
	// hitsTo and eventsTo are how far the sides are certain.
	hitsTo, eventsTo uint64
	spare            []Event
}

// eventQueue is a queue that copies what is put into it.
type eventQueue struct {
	list []Event
	head int
}

func (q *eventQueue) empty() bool { return q.head == len(q.list) }

// push takes an event; spare are ones whose memory can be used again.
func (q *eventQueue) push(ev *Event, spare *[]Event) {
	var cp Event
	if last := len(*spare) - 1; last >= 0 {
		cp, *spare = (*spare)[last], (*spare)[:last]
	}
	args, data := append(cp.Args[:0], ev.Args...), append(cp.data[:0], ev.data...)
	cp = *ev
	cp.Args, cp.data = args, data
	if q.head > 1000 && 2*q.head > len(q.list) {
		n := copy(q.list, q.list[q.head:])
		clear(q.list[n:])
		q.list, q.head = q.list[:n], 0
	}
	q.list = append(q.list, cp)
}

// pop hands over the first event, which stays as it is until emit returns.
func (q *eventQueue) pop(emit func(*Event), spare *[]Event) {
	ev := q.list[q.head]
	q.list[q.head] = Event{}
	if q.head++; q.head == len(q.list) {
		q.list, q.head = q.list[:0], 0
	}
	emit(&ev)
	*spare = append(*spare, ev)
}

// hit takes the next hit of a probe.
func (m *kernelMerge) hit(ev *Event) {
	m.hitsTo = max(m.hitsTo, ev.Time)
	m.hits.push(ev, &m.spare)
}

// event takes the next event of the kernel itself.
func (m *kernelMerge) event(ev *Event) { m.events.push(ev, &m.spare) }

// hitsEmpty says that there was no hit to be read.
func (m *kernelMerge) hitsEmpty() { m.hitsTo = max(m.hitsTo, m.latest) }

// begin is called before a pass over the pages of kernel events.
func (m *kernelMerge) begin() { m.pages.bound = max(m.pages.bound, m.hitsTo, m.latest) }

// end is called after it.
func (m *kernelMerge) end() {
	m.pages.pass(m.event)
	m.eventsTo = max(m.eventsTo, m.pages.certain)
	m.latest = max(m.latest, m.hitsTo, m.pages.latest)
}

// release lets go what both sides are certain of, hits before events of the same time.
func (m *kernelMerge) release(hit, event func(*Event)) {
	m.until(min(m.hitsTo, m.eventsTo), hit, event)
}

func (m *kernelMerge) until(time uint64, hit, event func(*Event)) {
	for {
		hasHit := !m.hits.empty() && m.hits.list[m.hits.head].Time <= time
		hasEvent := !m.events.empty() && m.events.list[m.events.head].Time <= time
		switch {
		case hasHit && (!hasEvent || m.hits.list[m.hits.head].Time <= m.events.list[m.events.head].Time):
			m.hits.pop(hit, &m.spare)
		case hasEvent:
			m.events.pop(event, &m.spare)
		default:
			return
		}
	}
}

// flush lets everything go.
func (m *kernelMerge) flush(hit, event func(*Event)) {
	m.pages.flush(m.event)
	m.until(^uint64(0), hit, event)
}
