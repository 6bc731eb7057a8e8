package parse

import (
	"bytes"
	"math"
	"regexp"
)

// maxComm is the column of the '-' between a thread's name and its id. The kernel right-aligns the name, which is
// at most 15 bytes, in 16 columns (trace_print_context: "%16s-%-7d "). A newline in the name moves the '-' to
// the left.
const maxComm = 16

// before parses the columns left of the time at line[at:], from right to left: the flags, unless option irq-info is off, the
// CPU, the TGID, if option record-tgid is on, and the thread id.
func before(line []byte, at int, ev *Event) (ok bool) {
	i := blanksBefore(line, at)
	if i == at {
		return false
	}
	if i > 0 && line[i-1] != ']' {
		// The flags have 4 characters up to 5.10, 5 on 6.1 (trace_print_lat_fmt), and more with the PREEMPT_RT
		// patches.
		for i > 0 && line[i-1] != ' ' {
			i--
		}
		i = blanksBefore(line, i)
	}
	if i == 0 || line[i-1] != ']' {
		return false
	}
	j := digitsBefore(line, i-1)
	if ev.CPU, ok = smallDecimal(line, j); !ok || j == 0 || line[j-1] != '[' {
		return false
	}
	if i = blanksBefore(line, j-1); i == j-1 {
		return false
	}
	if i > 0 && line[i-1] == ')' {
		if ev.PID, i, ok = tgid(line, i-1); !ok {
			return false
		}
		i = blanksBefore(line, i)
	}
	j = digitsBefore(line, i)
	ev.TID, ok = smallDecimal(line, j)
	// A '-' further right is in the text of another event, which imitates an event of ftgo.
	return ok && j > 0 && line[j-1] == '-' && j-1 <= maxComm
}

// clock parses the time at line[i:]: seconds and six digits of microseconds, which it returns as nanoseconds, or one number
// if the clock is a counter.
func clock(line []byte, i int) (t uint64, next int, ok bool) {
	t, i, ok = decimal(line, i)
	if !ok || i == len(line) || line[i] != '.' {
		return t, i, ok
	}
	us, end, ok := decimal(line, i+1)
	return t*1e9 + us*1000, end, ok && end-i == len(".123456") && t <= (math.MaxUint64-us*1000)/1e9
}

// tgid parses the column "(  14713)" whose ')' is line[end]. It returns the process and the start of the column.
// The kernel prints dashes for a process that it doesn't remember; pid is 0 then.
func tgid(line []byte, end int) (pid, start int, ok bool) {
	if start = digitsBefore(line, end); start < end {
		if pid, ok = smallDecimal(line, start); !ok {
			return 0, start, false
		}
		start = blanksBefore(line, start)
	} else {
		for start > 0 && line[start-1] == '-' {
			start--
		}
		if start == end {
			return 0, end, false
		}
	}
	open := start - 1
	return pid, open, open > 0 && line[open] == '(' && line[open-1] == ' '
}

// digitsBefore returns the start of the run of decimal digits that ends at line[i].
func digitsBefore(line []byte, i int) int {
	for i > 0 && line[i-1]-'0' <= 9 {
		i--
	}
	return i
}

// blanksBefore returns the start of the run of blanks that ends at line[i].
func blanksBefore(line []byte, i int) int { return len(bytes.TrimRight(line[:i], " ")) }

// decimal parses the digits at line[i:]; next is the byte after them. ok is false without a digit, or if the number
// overflows.
func decimal(line []byte, i int) (v uint64, next int, ok bool) {
	start := i
	for ; i < len(line); i++ {
		d := line[i] - '0'
		if d > 9 {
			break
		}
		if v >= math.MaxUint64/10 && (v > math.MaxUint64/10 || d > math.MaxUint64%10) {
			return 0, start, false
		}
		v = v*10 + uint64(d)
	}
	return v, i, i > start
}

// hex is decimal for hexadecimal digits. The kernel prints them in lower case.
func hex(line []byte, i int) (v uint64, next int, ok bool) {
	start := i
	for ; i < len(line); i++ {
		d := line[i] - '0'
		if d > 9 {
			if d = line[i] - 'a' + 10; d < 10 || d > 15 {
				break
			}
		}
		if v>>60 != 0 {
			return 0, start, false
		}
		v = v<<4 | uint64(d)
	}
	return v, i, i > start
}

// smallDecimal parses the digits at line[i:] of a number that the kernel stores in an int: an id or a CPU.
func smallDecimal(line []byte, i int) (v int, ok bool) {
	u, _, ok := decimal(line, i)
	return int(u), ok && u <= math.MaxInt32
}

// fault is the text that the kernel prints for a string that it couldn't read (kernel/trace/trace_probe.c,
// print_type_string). It prints 0 for a number that it couldn't read, so value returns 0 for fault as well.
const fault = "(fault)"

// value parses a fetched value: hexadecimal after 0x, decimal with or without a sign, or fault. It appends the value to
// ev.Args.
func value(line []byte, i int, ev *Event) (next int, ok bool) {
	var v uint64
	switch rest := line[i:]; {
	case begins(rest, "0x"):
		v, next, ok = hex(line, i+2)
	case begins(rest, fault):
		next, ok = i+len(fault), true
	case begins(rest, "-"):
		v, next, ok = decimal(line, i+1)
		v, ok = -v, ok && v <= -math.MinInt64
	default:
		v, next, ok = decimal(line, i)
	}
	ev.Args = append(ev.Args, v)
	return next, ok
}

// isOther reports whether the kernel prints a line between events: an empty line, a line of a header, of a stack trace, or
// about lost events. The lines of stack traces are headings, or " => " and a frame (trace_stack_print and
// trace_user_stack_print in kernel/trace/trace_output.c). "CPU:1 [LOST 123 EVENTS]" lacks the number if the kernel didn't
// count them (print_trace_line in kernel/trace/trace.c). It has to match as a whole, because a thread's name can imitate its
// beginning. ftgo takes the number of lost events from the kernel's statistics.
var isOther = regexp.MustCompile(`^($|#| => |.*: <(user )?stack trace>$|CPU:\d{1,9} \[LOST (\d{1,20} )?EVENTS\]$)`).Match
