package ftrace

import "math"

// maxComm is the column of the '-' between a thread's name and its id: the
// kernel right-aligns the name, which is at most 15 bytes, in 16 columns
// (trace_print_context: "%16s-%-7d "). A newline in the name moves it to the left.
const maxComm = 16

// columns reads what stands left of line[end:], the ": " before the event's
// name, from right to left: the time, a word of flags unless option irq-info is
// off, the CPU, the TGID if option record-tgid is on, and the thread id. The time
// begins at byte time.
func columns(line []byte, end int, ev *Event) (time int, ok bool) {
	ev.Time, time, ok = clock(line, end)
	return time, ok && beforeTime(line, time, ev)
}

// beforeTime reads the columns left of the time, which begins at byte at.
func beforeTime(line []byte, at int, ev *Event) (ok bool) {
	i := blanksBefore(line, at)
	if i == at {
		return false
	}
	if i > 0 && line[i-1] != ']' {
		// 4 flags up to 5.10, 5 on 6.1 (trace_print_lat_fmt), more with the
		// PREEMPT_RT patches: a word, never a fixed width.
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
	// A '-' further right gives away a line of another event that has an imitation of ours in
	// its text.
	return ok && j > 0 && line[j-1] == '-' && j-1 <= maxComm
}

// clock reads the time that ends at line[end], and where it starts: seconds and
// six digits of microseconds, as nanoseconds, or a bare count.
func clock(line []byte, end int) (t uint64, start int, ok bool) {
	start = digitsBefore(line, end)
	t, _, ok = decimal(line, start)
	if !ok || start == 0 || line[start-1] != '.' {
		return t, start, ok
	}
	if end-start != 6 {
		return 0, start, false
	}
	ns := t * 1000
	dot := start - 1
	start = digitsBefore(line, dot)
	sec, _, ok := decimal(line, start)
	return sec*1e9 + ns, start, ok && sec <= (math.MaxUint64-ns)/1e9
}

// tgid reads the column "(  14713)" whose ')' is line[end], and where it
// starts. Dashes stand for a process that the kernel doesn't remember.
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

// digitsBefore is the start of the run of decimal digits that ends at line[i].
func digitsBefore(line []byte, i int) int {
	for i > 0 && line[i-1]-'0' <= 9 {
		i--
	}
	return i
}

// blanksBefore is the start of the run of blanks that ends at line[i].
func blanksBefore(line []byte, i int) int {
	for i > 0 && line[i-1] == ' ' {
		i--
	}
	return i
}
