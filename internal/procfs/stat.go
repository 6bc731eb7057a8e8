package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Tick is the unit of times in /proc/PID/stat: USER_HZ is 100 on x86-64 and arm64, whatever the
// kernel's own clock.
const Tick = 10 * time.Millisecond

// Stat is what /proc/PID/stat tells.
type Stat struct {
	// State is a letter, "Z" for a zombie.
	State           string
	Parent, Threads int
	// Ending is whether the first thread has begun to end, or has ended.
	Ending bool
	// CPU is the time that all threads have used, in steps of a [Tick].
	CPU time.Duration
	// Started is when, in ticks after boot: it tells processes of one number apart.
	Started uint64
}

// ReadStat reads the stat of a process.
func ReadStat(pid int) (Stat, error) {
	path := folder(pid) + "/stat"
	b, err := os.ReadFile(path)
	if err != nil {
		return Stat{}, err
	}
	stat, err := parseStat(string(b))
	if err != nil {
		return Stat{}, fmt.Errorf("read %s: %w", path, err)
	}
	return stat, nil
}

// exiting is PF_EXITING (include/linux/sched.h, Linux 3.10 to 6.12).
const exiting = 0x4

// parseStat reads a line "PID (NAME) STATE PPID ..." (proc_pid_stat(5)). NAME may hold
// anything, blanks and parentheses, too.
func parseStat(line string) (stat Stat, err error) {
	// fields[0] is the third field, as the manual counts them.
	fields := strings.Fields(line[strings.LastIndexByte(line, ')')+1:])
	const first, last = 3, 22
	if len(fields) <= last-first {
		return Stat{}, fmt.Errorf("parse stat: %d fields", len(fields)+first-1)
	}
	number := func(field int) (n uint64) {
		n, e := strconv.ParseUint(fields[field-first], 10, 64)
		if e != nil && err == nil {
			err = fmt.Errorf("parse field %d of stat: %w", field, e)
		}
		return n
	}
	stat = Stat{
		State:   fields[0],
		Parent:  int(number(4)),
		Ending:  number(9)&exiting != 0,
		CPU:     time.Duration(number(14)+number(15)) * Tick, // utime, stime
		Threads: int(number(20)),
		Started: number(22),
	}
	return stat, err
}

// Alive tells whether the process lives. A zombie does not, unless it is but the first thread
// that has ended, for good or because another is about to execute a program in its place.
func (s Stat) Alive() bool {
	ended := s.State == "Z" || s.State == "X"
	return !ended || s.Threads > 1
}

// Living is the stat of a process that lives, see [Stat.Alive].
func Living(pid int) (stat Stat, ok bool) {
	stat, err := ReadStat(pid)
	return stat, err == nil && stat.Alive()
}

// Alive tells whether a process lives, see [Stat.Alive].
func Alive(pid int) bool {
	_, alive := Living(pid)
	return alive
}

// Ending tells whether a process has ended, or its first thread has begun to: what /proc/PID tells may no longer be the process's.
func Ending(pid int) bool {
	stat, err := ReadStat(pid)
	return err != nil || stat.Ending || !stat.Alive()
}

// ThreadGroup is the process of a thread: the number of its first thread. It is 0 if the thread
// is gone, or can't be asked for.
func ThreadGroup(tid int) int {
	if ForeignNumbers() {
		return 0
	}
	text, _ := status(tid, "Tgid") // without, there is no number
	pid, _ := strconv.Atoi(text)
	return pid
}

// Numbers are those that a process has from our pid namespace down to its own, none before
// Linux 4.1 ("NSpid: 2345 17", proc_pid_status(5)).
func Numbers(pid int) (numbers []int, err error) {
	text, err := status(pid, "NSpid")
	for number := range strings.FieldsSeq(text) {
		n, err := strconv.Atoi(number)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, err
}

// status is the value of a line of /proc/PID/status.
func status(pid int, key string) (string, error) {
	b, err := os.ReadFile(folder(pid) + "/status")
	return statusLine(string(b), key), err
}

// statusLine is the value of a line "KEY:	VALUE" of /proc/PID/status, "" if there is none.
func statusLine(status, key string) string {
	_, after, _ := strings.Cut("\n"+status, "\n"+key+":")
	value, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(value)
}

// Runners are some processes, or those that execute a file, which come and go.
type Runners struct {
	find  func() []int // nil of some processes
	pids  []int
	until time.Time // when they are to be found again
}

// NewRunners returns some processes, or all that execute a file.
func NewRunners(pids []int, binary string) *Runners {
	r := &Runners{pids: pids}
	if len(pids) == 0 {
		r.find = func() []int { return Running(binary) }
	}
	return r
}

// now are the processes, found again.
func (r *Runners) now() []int {
	r.until = time.Time{}
	return r.recent()
}

// To find processes takes a hundredth of the time, unless it takes so long that who comes would not be known in time.
const (
	findShare = 0.01
	findAgain = 500 * time.Millisecond
)

// recent are the processes, found again if that is due.
func (r *Runners) recent() []int {
	if before := time.Now(); r.find != nil && !before.Before(r.until) {
		r.pids = r.find()
		took := time.Since(before)
		r.until = before.Add(min(time.Duration(float64(took)/findShare), findAgain))
	}
	return r.pids
}

// BusyTimes follow the CPU time of processes, and how long their threads wait for a CPU.
type BusyTimes struct {
	of    *Runners
	last  map[int]time.Duration
	first map[int]waited // by the thread's number
}

// NewBusyTimes follows processes.
func NewBusyTimes(of *Runners) *BusyTimes {
	b := &BusyTimes{of: of}
	b.Since()
	b.first = b.threads()
	return b
}

// Since is the CPU time that the processes have used since it was asked last, up to a Tick
// less for each of them. processes is how many were found: none may execute a library.
func (b *BusyTimes) Since() (used time.Duration, processes int) {
	now := make(map[int]time.Duration)
	for _, pid := range b.of.now() {
		if stat, err := ReadStat(pid); err == nil { // else it has just ended
			now[pid] = stat.CPU
			used += stat.CPU - b.last[pid]
		}
	}
	b.last = now
	return used, len(now)
}

// waited is how long a thread has run, and how long it could have, but had no CPU.
type waited struct{ ran, waited uint64 }

// Waited is the share of the time since the beginning that threads could have run in and
// waited for a CPU, 0 if that is not known.
func (b *BusyTimes) Waited() float64 {
	var sum waited
	for thread, now := range b.threads() {
		sum.ran += now.ran - b.first[thread].ran
		sum.waited += now.waited - b.first[thread].waited
	}
	return float64(sum.waited) / float64(max(sum.ran+sum.waited, 1))
}

// ThreadTime is the CPU time that the thread has used which asks, 0 if that is not known.
func ThreadTime() time.Duration {
	var ran int64
	text, _ := os.ReadFile("/proc/thread-self/schedstat")
	_, _ = fmt.Sscan(string(text), &ran)
	return time.Duration(ran)
}

// threads reads /proc/PID/task/TID/schedstat (Documentation/scheduler/sched-stats.rst), which
// kernels without CONFIG_SCHED_INFO don't have.
func (b *BusyTimes) threads() map[int]waited {
	threads := make(map[int]waited)
	for _, pid := range b.of.recent() {
		tids, _ := Threads(pid) // none of one that has just ended
		for _, tid := range tids {
			text, _ := os.ReadFile(fmt.Sprintf("%s/task/%d/schedstat", folder(pid), tid))
			ran, rest, _ := strings.Cut(string(text), " ")
			lacked, _, _ := strings.Cut(rest, " ")
			r, rerr := strconv.ParseUint(ran, 10, 64)
			if w, werr := strconv.ParseUint(lacked, 10, 64); rerr == nil && werr == nil {
				threads[tid] = waited{r, w}
			}
		}
	}
	return threads
}
