package procfs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// tick is the unit of times in /proc/PID/stat. USER_HZ is 100 on x86-64 and arm64, and does not depend on CONFIG_HZ.
const tick = 10 * time.Millisecond

// Stat has some fields of /proc/PID/stat.
type Stat struct {
	// State is one letter, "Z" for a zombie.
	State           string
	Parent, Threads int
	// Ending: the first thread is ending or has ended.
	Ending bool
	// CPU is the CPU time of all threads, rounded to ticks of 10 ms.
	CPU time.Duration
	// Started is the start time in ticks after boot. It distinguishes processes that have had the same number.
	Started uint64
}

// ReadStat reads /proc/PID/stat.
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

// parseStat parses a line "PID (NAME) STATE PPID ..." (proc_pid_stat(5)). NAME may contain any character, including
// blanks and parentheses.
func parseStat(line string) (stat Stat, err error) {
	// fields[0] is field 3 of the manual page.
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

// Alive reports whether the process lives. A zombie lives if only its first thread has ended. That thread may have
// ended for good, or because another thread is about to execute a program in its place.
func (s Stat) Alive() bool {
	ended := s.State == "Z" || s.State == "X"
	return !ended || s.Threads > 1
}

// LiveStat returns the Stat of a process. ok is false if the process does not live, see [Stat.Alive].
func LiveStat(pid int) (stat Stat, ok bool) {
	stat, err := ReadStat(pid)
	return stat, err == nil && stat.Alive()
}

// Alive reports whether a process lives, see [Stat.Alive].
func Alive(pid int) bool {
	_, alive := LiveStat(pid)
	return alive
}

// Ending reports whether a process has ended, or its first thread is ending. Then files like /proc/PID/maps may
// be empty, although other threads still run.
func Ending(pid int) bool {
	stat, err := ReadStat(pid)
	return err != nil || stat.Ending || !stat.Alive()
}

// ThreadGroup returns the process of a thread. It returns 0 if the thread has ended or may not be read, and in other
// pid namespaces than the initial one.
func ThreadGroup(tid int) int {
	if ForeignNumbers() {
		return 0
	}
	text, _ := status(tid, "Tgid") // "" after an error, for which ThreadGroup returns 0
	pid, _ := strconv.Atoi(text)
	return pid
}

// Monotonic returns the time of CLOCK_MONOTONIC in nanoseconds, as a process reads it. It returns 0 if the process has a
// clock of its own, in another time namespace.
func Monotonic(pid int) int64 {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil || Namespace(pid, "time") != Namespace(Self, "time") {
		return 0
	}
	return now.Nano()
}

// NamespacePIDs returns the numbers of a process in all pid namespaces, from this process's down to its own. It returns
// none before Linux 4.1 ("NSpid: 2345 17", proc_pid_status(5)).
func NamespacePIDs(pid int) (numbers []int, err error) {
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

// status returns the value of the line "KEY:	VALUE" of /proc/PID/status, or "".
func status(pid int, key string) (string, error) {
	b, err := os.ReadFile(folder(pid) + "/status")
	return statusLine(string(b), key), err
}

func statusLine(status, key string) string {
	_, after, _ := strings.Cut("\n"+status, "\n"+key+":")
	value, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(value)
}
