package pairing

import "github.com/ftgo/ftgo/parse"

// Split is a duration, divided by the activity of a goroutine, or of a thread without a goroutine, in units of the
// trace clock.
type Split [3]uint64

// Activity is the state of a goroutine or thread. It is an index of a [Split].
type Activity uint8

const (
	// Running: on a CPU.
	Running Activity = iota
	// Runnable: waiting only for a CPU, or for a thread to run the goroutine.
	Runnable
	// Waiting: waiting for something else, in Go's runtime or in the kernel.
	Waiting
)

// add adds the difference a-b to s.
func (s *Split) add(a, b Split) {
	for i := range s {
		s[i] += a[i] - b[i]
	}
}

// withSum returns s, changed so that its sum is total. The sum of s differs from total if events were lost.
func (s Split) withSum(total uint64) Split {
	s[Runnable] = min(s[Runnable], total)
	s[Waiting] = min(s[Waiting], total-s[Runnable])
	s[Running] = total - s[Runnable] - s[Waiting]
	return s
}

// timeAccount sums up the time of a goroutine or thread by activity.
type timeAccount struct {
	sums     Split
	since    uint64 // the time up to which sums are complete
	activity Activity
	began    uint64 // begin of the activity, 0 if it was not seen
}

// turn changes the activity.
func (c *timeAccount) turn(now uint64, activity Activity) {
	if c.activity != activity {
		c.activity, c.began = activity, now
	}
}

// advance completes the sums up to a time. It ignores a time before since: events of two CPUs may come out of order by
// a small difference.
func (c *timeAccount) advance(now uint64) {
	if now <= c.since {
		return
	}
	c.sums[c.activity] += now - c.since
	c.since = now
}

// thread is the state of a thread. Kernel events change its activity, and a hit of a probe shows that it is running.
//
// A thread begins to run a goroutine only in runtime.execute, and leaves it only for runtime.schedule (or, for a
// coroutine, in coroswitch_m). If the plan has runtime probes there, it is known which goroutine a thread runs at any
// time after the first hit on it. Runtime code on the thread's system stack in between, for example in a system call,
// belongs to that goroutine.
type thread struct {
	timeAccount
	pid     int     // of its process
	running *schedG // the goroutine that it runs, nil if it runs none or if that is unknown
	stack   *stack  // of the goroutine, or of the thread if the program has no goroutines; nil if unknown
	// system is the system stack of a thread of a Go program, if a call on it was seen since the goroutine began to
	// run. Its calls are nested in the calls on stack.
	system *stack
	// assembly is the stack on which the last call of an assembly function began. Such a function may use the register
	// of g for other values.
	assembly *stack
}

// schedG is the state of a goroutine. While it is on a thread, it is charged for the time of the thread.
type schedG struct {
	timeAccount
	process  *process
	id, goid uint64  // id is the address of g; goid is 0 if it is not known yet
	reason   int     // index in Plan.Reasons, if it waits and is not on a thread
	thread   *thread // the thread that runs it, nil for none
	// The stack of the last Waiter event, at which the goroutine was about to wait, with fields as in Call. stack is
	// empty after the wait.
	sp, stackHi, bias uint64
	stack             []uint64
	charged           Split   // the part of thread.sums that is in sums or was before the goroutine got on the thread
	before            *schedG // a copy from before the goroutine's own thread made it wait, or nil: see scheduler.status
}

func (g *schedG) advance(now uint64) {
	if g.thread == nil {
		g.timeAccount.advance(now)
		return
	}
	g.thread.advance(now)
	g.sums.add(g.thread.sums, g.charged)
	g.charged, g.since = g.thread.sums, max(g.since, now)
}

// leave takes the goroutine off its thread, if it is on one, and changes its activity.
func (g *schedG) leave(now uint64, activity Activity) {
	g.advance(now)
	if g.thread != nil && g.thread.running == g {
		g.thread.running = nil
	}
	g.thread = nil
	g.turn(now, activity)
}

// mount puts the goroutine on a running thread.
func (g *schedG) mount(now uint64, t *thread) {
	if g.thread == t {
		return
	}
	if t.running != nil {
		t.running.leave(now, Waiting) // the event at which it left the thread was not seen
	}
	g.leave(now, Running)
	t.advance(now)
	g.thread, g.charged, t.running = t, t.sums, g
}

// scheduler holds the threads on which a probe was hit, by thread ID. The events that change them come in order of
// time.
//
// Missing events, and events before the first one, do no lasting harm: each hit of a probe shows that its thread is
// running its goroutine, and corrects the state.
type scheduler map[int]*thread

// goroutine returns the goroutine whose g is at the address id. It adds the goroutine if it is new.
func (p *process) goroutine(now, id uint64) *schedG {
	g := p.gs[id]
	if g == nil {
		g = &schedG{timeAccount: timeAccount{since: now, activity: Waiting}, process: p, id: id}
		p.gs[id] = g
	}
	return g
}

// thread returns a thread of a process, which it adds if needed. If the thread ID belonged to another process before,
// only the time account stays.
func (s scheduler) thread(now uint64, pid, tid int) *thread {
	t := s[tid]
	if t == nil {
		t = &thread{timeAccount: timeAccount{since: now}}
		s[tid] = t
	}
	if t.pid != pid {
		t.pid, t.stack, t.system, t.assembly = pid, nil, nil, nil
	}
	return t
}

// hit notes that a thread has hit a probe, and so is running.
func (s scheduler) hit(now uint64, pid, tid int) *thread {
	t := s.thread(now, pid, tid)
	if t.activity != Running {
		t.advance(now)
		t.turn(now, Running)
	}
	return t
}

// call notes that a call begins or ends, on a goroutine or, if g is nil, on a thread. It returns the sums of the
// goroutine or thread up to now.
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

// Statuses of goroutines (runtime/runtime2.go, Go 1.17 to 1.27). Some are never set by casgstatus.
const (
	StatusRunnable  = 1
	StatusRunning   = 2
	StatusSyscall   = 3
	StatusWaiting   = 4
	StatusDead      = 6
	StatusCopystack = 8 // runs, and copies its stack
	StatusPreempted = 9
	StatusLeaked    = 10 // waits for an event that can't happen
	StatusDeadExtra = 11
	StatusScan      = 0x1000
)

// status handles a change of a goroutine's status from old to status. tid is the thread that makes the change, which
// need not run the goroutine. If the change ends a wait, status returns the wait, and reason is its reason. If the
// goroutine begins to wait, reason is the reason of the new wait.
func (s scheduler) status(now uint64, tid int, g *schedG, old, status uint64, reason int) (ended wait) {
	t := s.hit(now, g.process.pid, tid)
	old, status = uint64(uint32(old))&^StatusScan, uint64(uint32(status))&^StatusScan
	before := g.before
	g.before = nil
	switch status {
	case StatusDead, StatusDeadExtra:
		g.leave(now, Waiting)
		delete(g.process.gs, g.id)
	case StatusRunning, StatusSyscall, StatusCopystack:
		if old == StatusWaiting && before != nil && before.thread == t && (t.running == nil || t.running == g) {
			// It did not really wait, because then it would have been runnable first. The runtime set StatusWaiting so
			// that the garbage collector could scan its stack while it ran on the system stack.
			*g = *before
			t.running = g
			return ended
		}
		ended = g.waited(now, reason)
		g.mount(now, t)
	case StatusRunnable:
		ended = g.waited(now, reason)
		g.leave(now, Runnable)
	case StatusWaiting, StatusPreempted, StatusLeaked:
		g.reason = reason
		if g.thread == t {
			cp := *g
			cp.before = nil
			before = &cp
		}
		g.leave(now, Waiting)
		if g.before = before; old == StatusRunning {
			g.began = now // if the event that ended the previous wait was lost, began is still the begin of that wait
		}
	}
	return ended
}

// park notes that the garbage collector has stopped a goroutine.
func (s scheduler) park(now uint64, tid int, g *schedG) {
	s.hit(now, g.process.pid, tid)
	g.leave(now, Waiting)
}

// swap notes that a thread switches to the coroutine next. It returns the wait of next that the switch ends.
func (s scheduler) swap(now uint64, tid int, next *schedG, reason int) (ended wait) {
	t := s.hit(now, next.process.pid, tid)
	if t.running != nil && t.running != next {
		t.running.leave(now, Waiting)
	}
	next.before = nil
	ended = next.waited(now, reason)
	next.mount(now, t)
	return ended
}

// change changes the activity of a thread after a kernel event. If the thread waited and now does not, change returns
// the wait, as a wait of the goroutine that the thread runs.
func (s scheduler) change(now uint64, tid int, activity Activity) (ended wait) {
	if t := s[tid]; t != nil {
		if t.activity == Waiting && activity != Waiting && t.running != nil {
			ended = wait{g: t.running, from: t.began, until: now}
		}
		t.advance(now)
		t.turn(now, activity)
	}
	return ended
}

// SchedEvents lists the kernel events that change the activity of threads, for Plan.Sched. If a source lacks them, all
// threads count as running.
var SchedEvents = []string{"sched:sched_switch", "sched:sched_waking"}

// asleep is the mask of the thread states S to P, in which a thread must be woken (TASK_REPORT of
// include/linux/sched.h). A runnable thread has state 0, or a higher bit if it was preempted
// (__trace_sched_switch_state in include/trace/events/sched.h, TASK_STATE_MAX before 4.14).
const asleep = 0x7f

// kernel handles an event named in SchedEvents, and returns the wait that it ends. It ignores an event that lacks a
// field that it needs.
func (s scheduler) kernel(name string, ev *parse.Event) (ended wait) {
	switch name {
	case SchedEvents[0]:
		prev, hasPrev := ev.Number("prev_pid")
		state, hasState := ev.Number("prev_state")
		next, hasNext := ev.Number("next_pid")
		if hasPrev && hasState && hasNext {
			activity := Runnable
			if state&asleep != 0 {
				activity = Waiting
			}
			s.change(ev.Time, int(prev), activity)
			ended = s.change(ev.Time, int(next), Running)
		}
	case SchedEvents[1]:
		if woken, ok := ev.Number("pid"); ok {
			ended = s.wake(ev.Time, int(woken))
		}
	}
	return ended
}

// wake notes that a thread was woken and is runnable.
func (s scheduler) wake(now uint64, tid int) (ended wait) {
	if t := s[tid]; t != nil && t.activity == Waiting {
		ended = s.change(now, tid, Runnable)
	}
	return ended
}
