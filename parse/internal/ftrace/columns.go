package ftrace

import "math"

// maxComm is the column of the '-' between a thread's name and its id: the
// kernel right-aligns the name, which is at most 15 bytes, in 16 columns
// (trace_print_context: "%16s-%-7d "). A newline in the name moves it to the left.
const maxComm = 16

// longName is the message for a '-' further right. It gives away a line of
// another event that has an imitation of ours in its text.
const longName = "thread name longer than 16 columns"

// columns reads what stands left of line[end:], the ": " before the event's
// name, from right to left: the time, a word of flags unless option irq-info is
// off, the CPU, the TGID if option record-tgid is on, and the thread id. The time
// begins at byte time. A msg other than "" says what is wrong at byte at.
func columns(line []byte, end int, ev *Event) (time, at int, msg string) {
	if ev.Time, time, msg = clock(line, end); msg != "" {
		return time, time, msg
	}
	at, msg = beforeTime(line, time, ev)
	return time, at, msg
}

// beforeTime reads the columns left of the time, which begins at byte at.
func beforeTime(line []byte, at int, ev *Event) (_ int, msg string) {
	i := blanksBefore(line, at)
	if i == at {
		return i, "blank expected before the time"
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
		return i, "[CPU] expected"
	}
	j := digitsBefore(line, i-1)
	if ev.CPU, msg = smallDecimal(line, j); msg != "" {
		return j, msg
	}
	if j == 0 || line[j-1] != '[' {
		return j, "[CPU] expected"
	}
	i = blanksBefore(line, j-1)
	if i == j-1 {
		return i, "blank expected before [CPU]"
	}
	if i > 0 && line[i-1] == ')' {
		if ev.PID, i, msg = tgid(line, i-1); msg != "" {
			return i, msg
		}
		i = blanksBefore(line, i)
	}
	j = digitsBefore(line, i)
	if ev.TID, msg = smallDecimal(line, j); msg != "" {
		return j, msg
	}
	if j == 0 || line[j-1] != '-' {
		return j, "thread name and - expected"
	}
	if j-1 > maxComm {
		return j - 1, longName
	}
	return j - 1, ""
}

// clock reads the time that ends at line[end], and where it starts: seconds and
// six digits of microseconds, as nanoseconds, or a bare count.
func clock(line []byte, end int) (t uint64, start int, msg string) {
	start = digitsBefore(line, end)
	t, _, msg = decimal(line, start)
	if msg != "" || start == 0 || line[start-1] != '.' {
		return t, start, msg
	}
	if end-start != 6 {
		return 0, start, "six digits of microseconds expected"
	}
	ns := t * 1000
	dot := start - 1
	start = digitsBefore(line, dot)
	sec, _, msg := decimal(line, start)
	if msg == "" && sec > (math.MaxUint64-ns)/1e9 {
		msg = tooLarge
	}
	return sec*1e9 + ns, start, msg
}

// tgid reads the column "(  14713)" whose ')' is line[end], and where it
// starts. Dashes stand for a process that the kernel doesn't remember.
func tgid(line []byte, end int) (pid, start int, msg string) {
	start = digitsBefore(line, end)
	if start == end {
		for start > 0 && line[start-1] == '-' {
			start--
		}
		if start == end {
			return 0, end, noNumber
		}
	} else if pid, msg = smallDecimal(line, start); msg != "" {
		return 0, start, msg
	} else {
		start = blanksBefore(line, start)
	}
	if start == 0 || line[start-1] != '(' {
		return 0, start, "(TGID) expected"
	}
	open := start - 1
	if open == 0 || line[open-1] != ' ' {
		return 0, open, "blank expected before (TGID)"
	}
	return pid, open, ""
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
