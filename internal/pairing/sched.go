package pairing

import "github.com/ftgo/ftgo/parse"

// Split divides a stretch of time by what a goroutine, or a thread without one, was doing.
// It is in units of the trace clock.
type Split [3]uint64

// Activity is what something is doing: an index in a [Split].
type Activity uint8

const (
	// Running: it has a CPU.
	Running Activity = iota
	// Runnable: it can go on. Either the goroutine has no thread, or its thread no CPU.
	Runnable
	// Waiting: it waits for something, in Go's runtime or in the kernel.
	Waiting
)

// add adds what is in a but not in b.
func (s *Split) add(a, b Split) {
	for i := range s {
		s[i] += a[i] - b[i]
	}
}

// of makes the parts add up to total, should events have been lost.
func (s Split) of(total uint64) Split {
	s[Runnable] = min(s[Runnable], total)
	s[Waiting] = min(s[Waiting], total-s[Runnable])
	s[Running] = total - s[Runnable] - s[Waiting]
	return s
}

// clocked is something of which the time is split.
type clocked struct {
	sums  Split
	since uint64 // up to when there are sums
	does  Activity
	began uint64 // when it began to do that, 0 if that was not seen
}

// turn is what it does from now on.
func (c *clocked) turn(now uint64, does Activity) {
	if c.does != does {
		c.does, c.began = does, now
	}
}

// advance adds up to a time. What comes late, by less than it takes two CPUs to notice each
// other, is taken for simultaneous.
func (c *clocked) advance(now uint64) {
	if now <= c.since {
		return
	}
	c.sums[c.does] += now - c.since
	c.since = now
}

// thread is what is known of a thread. The kernel says whether it has a CPU.
//
// A thread goes on with another goroutine only in runtime.execute, and leaves one only for
// runtime.schedule (or, for a coroutine, in coroswitch_m): where these have runtime probes in
// the plan, what a thread runs is known at all times between, from the first hit on
// it. Runtime code that runs on the thread's own stack meanwhile, as in a system call of
// the goroutine, is the goroutine's.
type thread struct {
	clocked
	pid  int     // of its process
	runs *schedG // nil for none
	// on is the stack of the goroutine, or of the thread where there are none; nil if unknown.
	on *stack
	// system is the thread's own stack in a Go program, if a call on it was seen since the
	// goroutine began to run: it lies on top of the goroutine's.
	system *stack
	// assembly is the stack on which an assembly function was entered that the thread is inside of: such code may use
	// the register of g for itself.
	assembly *stack
}

// schedG is a goroutine. As long as it is on a thread, the thread's time is its own.
type schedG struct {
	clocked
	of       *process
	id, goid uint64  // id is the address of g, goid is 0 as long as it is not known
	reason   int     // why it waits, if it does and is on no thread
	on       *thread // nil if it is on none
	// Of its stack, if it may be about to wait: see Call.
	sp, stackHi, bias uint64
	stack             []uint64
	// at are the thread's sums up to which they are in the goroutine's.
	at Split
	// before is what it was when it began to wait, on a thread: see scheduler.status.
	before *schedG
}

func (g *schedG) advance(now uint64) {
	if g.on == nil {
		g.clocked.advance(now)
		return
	}
	g.on.advance(now)
	g.sums.add(g.on.sums, g.at)
	g.at, g.since = g.on.sums, max(g.since, now)
}

// leave ends its stay on a thread.
func (g *schedG) leave(now uint64, does Activity) {
	g.advance(now)
	if g.on != nil && g.on.runs == g {
		g.on.runs = nil
	}
	g.on = nil
	g.turn(now, does)
}

// mount puts it on a thread that has a CPU.
func (g *schedG) mount(now uint64, t *thread) {
	if g.on == t {
		return
	}
	if t.runs != nil {
		t.runs.leave(now, Waiting) // unseen
	}
	g.leave(now, Running)
	t.advance(now)
	g.on, g.at, t.runs = t, t.sums, g
}

// scheduler follows the threads that a probe was hit on, by number, and their goroutines, as events in
// order of time tell of them.
//
// What is missing, or was before the first event, is mended by the next hit of a probe: it
// shows that its goroutine is on its thread, and that this has a CPU.
type scheduler map[int]*thread

// goroutine is one that is on a thread, or may have been, by the address of g.
func (p *process) goroutine(now, id uint64) *schedG {
	g := p.gs[id]
	if g == nil {
		g = &schedG{clocked: clocked{since: now, does: Waiting}, of: p, id: id}
		p.gs[id] = g
	}
	return g
}

// thread is one of a process. Of an earlier one that had its number nothing else holds than when it had a CPU.
func (s scheduler) thread(now uint64, pid, tid int) *thread {
	t := s[tid]
	if t == nil {
		t = &thread{clocked: clocked{since: now}}
		s[tid] = t
	}
	if t.pid != pid {
		t.pid, t.on, t.system, t.assembly = pid, nil, nil, nil
	}
	return t
}

// hit is a hit of any probe: the thread has a CPU.
func (s scheduler) hit(now uint64, pid, tid int) *thread {
	t := s.thread(now, pid, tid)
	if t.does != Running {
		t.advance(now)
		t.turn(now, Running)
	}
	return t
}

// call is where a call of a process begins or ends, on a goroutine or, if that is nil, on a thread.
// It returns the sums up to then.
func (s scheduler) call(now uint64, pid, tid int, g *schedG) Split {
	t := s.hit(now, pid, tid)
	if g == nil {
		t.advance(now)
		return t.sums
	}
	g.mount(now, t)
	g.advance(now)
	return g.sums
}

// Statuses of goroutines (runtime/runtime2.go, Go 1.17 to 1.27); some never show in
// casgstatus.
const (
	statusRunnable  = 1
	statusRunning   = 2
	statusSyscall   = 3
	statusWaiting   = 4
	statusDead      = 6
	statusCopystack = 8
	statusPreempted = 9
	statusLeaked    = 10
	statusDeadExtra = 11
	statusScan      = 0x1000
)

// status is a change of a goroutine's status, made on a thread that need not be its own. It
// returns the wait that it ends, which was for the reason given.
func (s scheduler) status(now uint64, tid int, g *schedG, old, status uint64, reason int) (ended wait) {
	t := s.hit(now, g.of.pid, tid)
	old, status = uint64(uint32(old))&^statusScan, uint64(uint32(status))&^statusScan
	before := g.before
	g.before = nil
	switch status {
	case statusDead, statusDeadExtra:
		g.leave(now, Waiting)
		delete(g.of.gs, g.id)
	case statusRunning, statusSyscall, statusCopystack:
		if old == statusWaiting && before != nil && before.on == t && (t.runs == nil || t.runs == g) {
			// It had only called itself waiting, to have its stack scanned while it is busy
			// on the thread's: no goroutine that has waited goes on without having been
			// runnable.
			*g = *before
			t.runs = g
			return ended
		}
		ended = g.waited(now, reason)
		g.mount(now, t)
	case statusRunnable:
		ended = g.waited(now, reason)
		g.leave(now, Runnable)
	case statusWaiting, statusPreempted, statusLeaked:
		g.reason = reason
		if g.on == t {
			was := *g
			was.before = nil
			before = &was
		}
		g.leave(now, Waiting)
		if g.before = before; old == statusRunning {
			g.began = now // that it had gone on since it waited before may be lost
		}
	}
	return ended
}

// park stops a goroutine for the garbage collector.
func (s scheduler) park(now uint64, tid int, g *schedG) {
	s.hit(now, g.of.pid, tid)
	g.leave(now, Waiting)
}

// swap makes a thread leave one coroutine for another. It returns the wait that this ends.
func (s scheduler) swap(now uint64, tid int, next *schedG, reason int) (ended wait) {
	t := s.hit(now, next.of.pid, tid)
	if t.runs != nil && t.runs != next {
		t.runs.leave(now, Waiting)
	}
	next.before = nil
	ended = next.waited(now, reason)
	next.mount(now, t)
	return ended
}

// change is what a thread does from now on, as the kernel tells. It returns the wait of its
// goroutine that this ends.
func (s scheduler) change(now uint64, tid int, does Activity) (ended wait) {
	if t := s[tid]; t != nil {
		if t.does == Waiting && does != Waiting && t.runs != nil {
			ended = wait{g: t.runs, from: t.began, until: now}
		}
		t.advance(now)
		t.turn(now, does)
	}
	return ended
}

// SchedEvents are the kernel events that tell of threads what Plan.Sched tells of goroutines.
// Where a source has them not, threads are taken to have a CPU all the time.
var SchedEvents = []string{"sched:sched_switch", "sched:sched_waking"}

// asleep are the states of a thread that needs to be woken, S to P (TASK_REPORT of
// include/linux/sched.h). Runnable is 0, and a bit above them that says preempted
// (__trace_sched_switch_state in include/trace/events/sched.h, TASK_STATE_MAX before 4.14).
const asleep = 0x7f

// kernel takes an event of a SchedEvents' name, and returns the wait that it ends. What the kernel
// describes otherwise tells nothing.
func (s scheduler) kernel(name string, ev *parse.Event) (ended wait) {
	switch name {
	case SchedEvents[0]:
		prev, hasPrev := ev.Number("prev_pid")
		state, hasState := ev.Number("prev_state")
		next, hasNext := ev.Number("next_pid")
		if hasPrev && hasState && hasNext {
			does := Runnable
			if state&asleep != 0 {
				does = Waiting
			}
			s.change(ev.Time, int(prev), does)
			ended = s.change(ev.Time, int(next), Running)
		}
	case SchedEvents[1]:
		if woken, ok := ev.Number("pid"); ok {
			ended = s.wake(ev.Time, int(woken))
		}
	}
	return ended
}

// wake is a thread that is to get a CPU.
func (s scheduler) wake(now uint64, tid int) (ended wait) {
	if t := s[tid]; t != nil && t.does == Waiting {
		ended = s.change(now, tid, Runnable)
	}
	return ended
}
