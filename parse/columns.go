package parse

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// maxComm is the column of the '-' between a thread's name and its id: the
// kernel right-aligns the name, which is at most 15 bytes, in 16 columns
// (trace_print_context: "%16s-%-7d "). A newline in the name moves it to the left.
const maxComm = 16

// beforeTime reads what stands left of the time, which begins at byte at, from right to left: a
// word of flags unless option irq-info is off, the CPU, the TGID if option record-tgid is on, and
// the thread id.
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

// timeBefore is the start of the time that ends at line[end]: seconds and microseconds, or a bare
// count.
func timeBefore(line []byte, end int) (start int) {
	start = digitsBefore(line, end)
	if start > 0 && line[start-1] == '.' {
		start = digitsBefore(line, start-1)
	}
	return start
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

// decimal reads the digits at line[i:]; next is the byte behind them. It is not ok if there are
// none, or too many.
func decimal(line []byte, i int) (v uint64, next int, ok bool) {
	if v, n := usual(line, i); n > 0 {
		return v, i + n, true
	}
	start := i
	for i < len(line) {
		d := line[i] - '0'
		if d > 9 {
			break
		}
		if v >= math.MaxUint64/10 && (v > math.MaxUint64/10 || d > math.MaxUint64%10) {
			return 0, start, false
		}
		v = v*10 + uint64(d)
		i++
	}
	return v, i, i > start
}

// usual reads what most numbers are, up to 15 decimal digits; n is how many. It is 0 for all else, which
// is left to decimal or value. It reads 16 bytes, be they behind the line: most lines are in the middle of
// what was read.
func usual(line []byte, i int) (v uint64, n int) {
	if cap(line)-i < 16 {
		return 0, 0
	}
	end := len(line) - i
	text := line[i : i+16]
	if v, n = digits(binary.LittleEndian.Uint64(text)); n == 8 {
		low, more := digits(binary.LittleEndian.Uint64(text[8:]))
		if v, n = v*powers[more]+low, 8+more; more == 8 {
			return 0, 0
		}
	}
	if n > end || n == 1 && text[1] == 'x' {
		return 0, 0
	}
	return v, n
}

var powers = [9]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// digits is the number that the first n of eight bytes make, the first byte in
// the lowest bits; those n are decimal digits and the next is not. A line is
// mostly digits, and taking them one by one took a third of its time.
func digits(b uint64) (v uint64, n int) {
	const (
		zeros = 0x3030303030303030
		above = 0x7676767676767676 // carries a byte above 9 into its top bit
		top   = 0x8080808080808080
		pair  = 0x000000ff000000ff
	)
	b ^= zeros
	n = bits.TrailingZeros64((b|(b+above))&top) / 8
	// The digits go to the upper end, after zeros: a shift by 64 leaves nothing.
	b <<= 64 - 8*n
	// Neighbours join to pairs of digits, those to fours, and those to eight.
	b = b*10 + b>>8
	v = (b&pair*(100+1000000<<32) + b>>16&pair*(1+10000<<32)) >> 32
	return v, n
}

// hex reads hexadecimal digits as decimal does; the kernel prints lower case.
func hex(line []byte, i int) (v uint64, next int, ok bool) {
	start := i
	for i < len(line) {
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
		i++
	}
	return v, i, i > start
}

// smallDecimal reads the digits at line[i:], of what the kernel keeps in an int:
// ids and CPUs.
func smallDecimal(line []byte, i int) (v int, ok bool) {
	u, _, ok := decimal(line, i)
	return int(u), ok && u <= math.MaxInt32
}

// fault is what the kernel prints instead of a string that it couldn't read
// (kernel/trace/trace_probe.c, print_type_string). A number that it couldn't
// read is 0, and so is this.
const fault = "(fault)"

// value reads one fetched value: 0x and hexadecimal, decimal with or without
// sign, or the word for a fault.
func value(line []byte, i int) (v uint64, next int, ok bool) {
	if i >= len(line) {
		return 0, i, false
	}
	switch c := line[i]; {
	case c == '0' && i+1 < len(line) && line[i+1] == 'x':
		return hex(line, i+2)
	case c == '(' && len(line)-i >= len(fault) && string(line[i:i+len(fault)]) == fault:
		return 0, i + len(fault), true
	case c == '-':
		v, next, ok = decimal(line, i+1)
		return -v, next, ok && v <= -math.MinInt64
	default:
		return decimal(line, i)
	}
}

// isOther tells whether a line is none of an event, but one that the kernel prints beside. What
// it accepts is decided by the whole line where it matters, that is for lost events.
func isOther(line []byte) bool {
	return len(line) == 0 || line[0] == '#' || isStack(line) || isLost(line)
}

// isStack tells the lines that trace_stack_print and trace_user_stack_print in
// kernel/trace/trace_output.c make: a heading, then " => " and a place for each
// frame.
func isStack(line []byte) bool {
	return bytes.HasPrefix(line, []byte(" => ")) ||
		bytes.HasSuffix(line, []byte(": <stack trace>")) ||
		bytes.HasSuffix(line, []byte(": <user stack trace>"))
}

// isLost tells "CPU:1 [LOST 123 EVENTS]", or "CPU:1 [LOST EVENTS]" where the
// kernel didn't count (print_trace_line in kernel/trace/trace.c). How many they are the kernel's
// own statistics tell.
func isLost(line []byte) bool {
	rest, ok := bytes.CutPrefix(line, []byte("CPU:"))
	if !ok {
		return false
	}
	cpu, next, ok := decimal(rest, 0)
	if !ok || cpu > math.MaxInt32 {
		return false
	}
	if rest, ok = bytes.CutPrefix(rest[next:], []byte(" [LOST ")); !ok || string(rest) == "EVENTS]" {
		return ok
	}
	_, next, ok = decimal(rest, 0)
	return ok && string(rest[next:]) == " EVENTS]"
}
