package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of times in /proc/PID/stat: USER_HZ is 100 on x86-64 and arm64, whatever the
// kernel's own clock.
const tick = 10 * time.Millisecond

// Stat has fields of /proc/PID/stat.
type Stat struct {
	// State is a letter, "Z" for a zombie.
	State           string
	Parent, Threads int
	// Ending: the first thread has begun to end, or has ended.
	Ending bool
	// CPU is the time that all threads have used, in ticks of 10 ms.
	CPU time.Duration
	// Started is the start time in ticks after boot. It distinguishes processes of one number.
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
		CPU:     time.Duration(number(14)+number(15)) * tick, // utime, stime
		Threads: int(number(20)),
		Started: number(22),
	}
	return stat, err
}

// Alive reports whether the process lives. A zombie does not, unless only its first thread
// has ended, for good or because another thread is about to execute a program in its place.
func (s Stat) Alive() bool {
	ended := s.State == "Z" || s.State == "X"
	return !ended || s.Threads > 1
}

// Living returns the stat of a process that lives, see [Stat.Alive].
func Living(pid int) (stat Stat, ok bool) {
	stat, err := ReadStat(pid)
	return stat, err == nil && stat.Alive()
}

// Alive reports whether a process lives, see [Stat.Alive].
func Alive(pid int) bool {
	_, alive := Living(pid)
	return alive
}

// Ending reports whether a process has ended, or its first thread has begun to end: then /proc/PID may be wrong for the process.
func Ending(pid int) bool {
	stat, err := ReadStat(pid)
	return err != nil || stat.Ending || !stat.Alive()
}

// ThreadGroup returns the process of a thread: the number of its first thread. It returns 0 if the thread
// has ended, or may not be read.
func ThreadGroup(tid int) int {
	if ForeignNumbers() {
		return 0
	}
	text, _ := status(tid, "Tgid") // "" after an error, which is 0
	pid, _ := strconv.Atoi(text)
	return pid
}

// Numbers returns the numbers of a process from our pid namespace down to its own, nothing before
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

// status returns the value of a line of /proc/PID/status.
func status(pid int, key string) (string, error) {
	b, err := os.ReadFile(folder(pid) + "/status")
	return statusLine(string(b), key), err
}

// statusLine returns the value of a line "KEY:	VALUE" of /proc/PID/status, "" without such a line.
func statusLine(status, key string) string {
	_, after, _ := strings.Cut("\n"+status, "\n"+key+":")
	value, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(value)
}
