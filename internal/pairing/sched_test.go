package pairing

import (
	"fmt"
	"strings"
	"testing"
)

// schedScript runs words through a scheduler, and returns what calls saw between
// the first word "c:G:T" and each later one of the same G, as RUNNING/RUNNABLE/WAITING, and G's waits
// that have ended, as (LENGTH). A number is time that goes by; the others are
//
//	c:G:T    a call begins or ends on goroutine G, or, for G 0, on thread T alone
//	OLD>NEW:G:T  a change of status, made on thread T: r runnable, x running, y system call,
//	         w waiting, c stack copied, d dead; in capitals with the bit _Gscan
//	p:G:T, o:G:T  parked for the garbage collector; T goes on with coroutine G
//	-:T, ~:T, +:T, !:T  thread T loses its CPU, falls asleep, gets a CPU, is woken
func schedScript(t *testing.T, s scheduler, p *process, text string) string {
	t.Helper()
	statuses := map[byte]uint64{'r': StatusRunnable, 'x': StatusRunning, 'y': StatusSyscall, 'w': StatusWaiting, 'c': StatusCopystack, 'd': StatusDead}
	status := func(letter byte) uint64 {
		if n, ok := statuses[letter]; ok {
			return n | 7<<32 // the upper half of the register is not defined
		}
		return statuses[letter+'a'-'A'] | StatusScan
	}
	now, of, began := uint64(100), uint64(0), false
	var first Split
	var seen []string
	for word := range strings.FieldsSeq(text) {
		op, rest, ok := strings.Cut(word, ":")
		if !ok {
			var d uint64
			fmt.Sscan(word, &d)
			now += d
			continue
		}
		var g uint64
		var tid int
		var ended wait
		if _, err := fmt.Sscanf(rest, "%d:%d", &g, &tid); err != nil {
			fmt.Sscan(rest, &tid)
		}
		switch op {
		case "c":
			var on *schedG
			if g != 0 {
				on = p.goroutine(now, g)
			}
			sums := s.call(now, 1, tid, on)
			if !began {
				first, began, of = sums, true, g
			} else if g == of {
				var d Split
				d.add(sums, first)
				seen = append(seen, fmt.Sprintf("%d/%d/%d", d[Running], d[Runnable], d[Waiting]))
			}
		case "p":
			s.park(now, tid, p.goroutine(now, g))
		case "o":
			ended = s.swap(now, tid, p.goroutine(now, g), 0)
		case "-":
			ended = s.change(now, tid, Runnable)
		case "~":
			s.change(now, tid, Waiting)
		case "+":
			ended = s.change(now, tid, Running)
		case "!":
			ended = s.wake(now, tid)
		default:
			ended = s.status(now, tid, p.goroutine(now, g), status(op[0]), status(op[2]), 0)
		}
		if ended.g != nil && ended.g.id == of {
			seen = append(seen, fmt.Sprintf("(%d)", ended.until-ended.from))
		}
	}
	return strings.Join(seen, " ")
}

func TestScheduler(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"runs", "c:1:1 5 c:1:1 7 c:1:1", "5/0/0 12/0/0"},
		{"its thread loses the CPU", "c:1:1 5 -:1 10 +:1 2 c:1:1", "7/10/0"},
		{"its thread sleeps, in a system call or for a page", "c:1:1 5 ~:1 10 +:1 2 c:1:1", "(10) 7/0/10"},
		{"its thread is woken, and waits for a CPU", "c:1:1 5 ~:1 10 !:1 3 +:1 2 c:1:1", "(10) 7/3/10"},
		{"a thread that is not asleep is woken", "c:1:1 5 !:1 1 -:1 10 !:1 3 +:1 2 c:1:1", "8/13/0"},
		{"waits for a channel, goes on elsewhere", "c:1:1 5 x>w:1:1 10 w>r:1:2 3 r>x:1:2 2 c:1:2", "(10) 7/3/10"},
		{"what its thread does without it", "c:1:1 5 x>w:1:1 ~:1 10 -:2 w>r:1:3 3 +:1 r>x:1:1 2 c:1:1", "(10) 7/3/10"},
		{"gives way", "c:1:1 5 x>r:1:1 3 r>x:2:1 10 x>w:2:1 4 r>x:1:1 2 c:1:1", "7/17/0"},
		{"a thread is never on two goroutines", "c:1:1 5 c:2:1 7 c:1:1", "5/0/7"},
		{"system call on its thread", "c:1:1 1 x>y:1:1 2 ~:1 10 !:1 +:1 3 y>x:1:1 4 c:1:1", "(10) 10/0/10"},
		{"system call, and the P is gone", "c:1:1 1 x>y:1:1 ~:1 10 +:1 y>r:1:1 5 r>x:1:2 4 c:1:2", "(10) 5/5/10"},
		{"preempted", "c:1:1 5 X>r:1:1 10 r>x:1:2 1 c:1:2", "6/10/0"},
		{"stopped for the garbage collector", "c:1:1 5 p:1:1 2 w>r:1:2 3 r>x:1:2 1 c:1:2", "(2) 6/3/2"},
		{"busy on the thread's own stack", "c:1:1 5 x>w:1:1 10 w>x:1:1 2 c:1:1", "17/0/0"},
		{"busy there, and its thread sleeps", "c:1:1 5 x>w:1:1 10 ~:1 20 +:1 3 w>x:1:1 2 c:1:1", "20/0/20"},
		{"busy there, seen by another's status", "c:1:1 5 x>w:1:1 1 w>r:2:1 9 w>x:1:1 2 c:1:1", "17/0/0"},
		{"does not wait after all", "c:1:1 5 x>w:1:1 1 w>r:1:1 1 r>x:1:1 2 c:1:1", "(1) 7/1/1"},
		{"its stack is copied", "c:1:1 5 x>c:1:1 3 c>x:1:1 2 c:1:1", "10/0/0"},
		{"coroutine", "c:1:1 5 o:2:1 10 o:1:1 2 c:1:1", "(10) 7/0/10"},
		{"coroutine, by statuses", "c:1:1 5 x>w:1:1 w>r:2:1 r>x:2:1 o:2:1 10 x>w:2:1 w>r:1:1 r>x:1:1 o:1:1 2 c:1:1", "(10) 7/0/10"},
		{"coroutine that ends", "c:1:1 5 o:2:1 10 x>d:2:1 o:1:1 2 c:1:1", "(10) 7/0/10"},
		{"coroutines on two threads", "c:1:1 5 o:2:1 3 c:3:2 10 o:1:2 2 c:1:2", "(13) 7/0/13"},
		{"threads without goroutines", "c:0:1 5 -:1 10 +:1 ~:1 20 !:1 3 +:1 1 c:0:1", "6/13/20"},
		{"a goroutine's change on it", "c:0:1 5 x>w:1:1 10 r>x:2:1 3 c:0:1", "18/0/0"},
		{"the end of its wait was lost", "c:1:1 5 x>w:1:1 10 c:1:2 2 c:1:2", "5/0/10 7/0/10"},
		{"it had gone on, which was lost", "c:1:1 5 x>w:1:1 10 x>w:1:1 3 w>r:1:2 r>x:1:2 2 c:1:2", "(3) 7/0/13"},
		{"that its thread has a CPU again was lost", "c:1:1 5 ~:1 10 c:1:1 2 c:1:1", "5/0/10 7/0/10"},
		{"events of unknown ones", "-:1 +:1 !:1 ~:7 c:1:1 ~:7 5 +:7 c:1:1", "5/0/0"},
		{"a goroutine begins anew", "x>d:1:1 9 d>r:1:2 3 r>x:1:2 c:1:2 5 c:1:2", "5/0/0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := schedScript(t, scheduler{}, newProcess(1), c.text); got != c.want {
				t.Errorf("%s\n%s, want %s", c.text, got, c.want)
			}
		})
	}
}

func TestSchedulerForgets(t *testing.T) {
	s, p := scheduler{}, newProcess(1)
	schedScript(t, s, p, "c:1:1 x>d:1:1 c:2:1 p:2:1 y>d:2:2")
	if len(p.gs) != 0 || s[1].running != nil {
		t.Errorf("%d goroutines, %v", len(p.gs), s[1].running)
	}
}

func TestSplitOf(t *testing.T) {
	for _, c := range []struct {
		in    Split
		total uint64
		want  Split
	}{
		{Split{5, 3, 2}, 10, Split{5, 3, 2}},
		{Split{5, 3, 2}, 11, Split{6, 3, 2}},
		{Split{5, 3, 2}, 4, Split{0, 3, 1}},
		{Split{5, 3, 2}, 0, Split{}},
	} {
		if got := c.in.withSum(c.total); got != c.want {
			t.Errorf("%v of %d: %v, want %v", c.in, c.total, got, c.want)
		}
	}
}

// FuzzScheduler checks, for any events in order of time, that the parts of the Split of a goroutine or thread add up to
// the time since it was first seen, and that its ended waits are at most its waiting time.
func FuzzScheduler(f *testing.F) {
	f.Add([]byte("\x00\x11\x05\x21\x05\x11\x05\x00"))
	f.Add([]byte("\x07\x0b\x05\x50\x05\x81\x05\xb0\x05\xc3"))
	f.Fuzz(func(t *testing.T, script []byte) {
		s, p := scheduler{}, newProcess(1)
		seen := make(map[any]uint64) // time of the first event
		waited := make(map[uint64]uint64)
		statuses := []uint64{StatusRunnable, StatusRunning, StatusSyscall, StatusWaiting, StatusCopystack, StatusPreempted, StatusDead, 0}
		now := uint64(1)
		for i := 0; i+1 < len(script); i += 2 {
			now += uint64(script[i] >> 4)
			tid, id := int(script[i]&3), uint64(script[i]>>2)&3
			arg := script[i+1]
			var ended wait
			switch arg & 7 {
			case 0, 1:
				who, g := any(tid), (*schedG)(nil)
				if id != 0 {
					who, g = id, p.goroutine(now, id)
				}
				sums := s.call(now, 1, tid, g)
				total := sums[Running] + sums[Runnable] + sums[Waiting]
				if at, ok := seen[who]; ok && at+total != now {
					t.Fatalf("%v: %+v from %d to %d", who, sums, at, now)
				}
				if seen[who] = now - total; id != 0 && sums[Waiting] < waited[id] {
					t.Fatalf("%v: %+v, and waits of %d", who, sums, waited[id])
				}
			case 2, 3:
				status := statuses[arg>>3&7]
				ended = s.status(now, tid, p.goroutine(now, id), statuses[arg>>6]|StatusScan, status, 0)
				if status == StatusDead {
					delete(seen, id)
					delete(waited, id)
				}
			case 4:
				s.park(now, tid, p.goroutine(now, id))
			case 5:
				ended = s.swap(now, tid, p.goroutine(now, id), 0)
			case 6:
				ended = s.change(now, tid, Runnable+Activity(arg>>3&1))
			default:
				ended = s.change(now, tid, Running)
				s.wake(now, tid^1)
			}
			if ended.g != nil {
				waited[ended.g.id] += ended.until - ended.from
			}
		}
	})
}
