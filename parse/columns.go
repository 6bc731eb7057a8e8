package parse

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
)

// maxComm is the column of the '-' between a thread's name and its id. The kernel right-aligns the name, which is
// at most 15 bytes, in 16 columns (trace_print_context: "%16s-%-7d "). A newline in the name moves the '-' to
// the left.
const maxComm = 16

// beforeTime parses the columns left of the time, which begins at byte at, from right to left: the flags, unless
// option irq-info is off, the CPU, the TGID, if option record-tgid is on, and the thread id.
func beforeTime(line []byte, at int, ev *Event) (ok bool) {
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

// timeBefore returns the start of the time that ends at line[end]: SECONDS.MICROSECONDS, or one number if the clock is a
// counter.
func timeBefore(line []byte, end int) (start int) {
	start = digitsBefore(line, end)
	if start > 0 && line[start-1] == '.' {
		start = digitsBefore(line, start-1)
	}
	return start
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
func blanksBefore(line []byte, i int) int {
	for i > 0 && line[i-1] == ' ' {
		i--
	}
	return i
}

// decimal parses the digits at line[i:]; next is the byte after them. ok is false without a digit, or if the
// number overflows.
func decimal(line []byte, i int) (v uint64, next int, ok bool) {
	if v, n := shortDecimal(line, i); n > 0 {
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

// shortDecimal parses a number of up to 15 decimal digits; n is the number of digits. For any other text, or if the line's
// buffer has fewer than 16 bytes from i on, it returns n = 0, and the caller calls decimal or value. It loads 16 bytes at
// once, even past the end of the line.
func shortDecimal(line []byte, i int) (v uint64, n int) {
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

// digits parses the decimal digits at the start of eight bytes, of which the first is in the lowest bits. n is the
// number of digits. A line consists mostly of digits, and a loop over them took a third of the parser's time.
func digits(b uint64) (v uint64, n int) {
	const (
		zeros = 0x3030303030303030
		above = 0x7676767676767676 // carries a byte above 9 into its top bit
		top   = 0x8080808080808080
		pair  = 0x000000ff000000ff
	)
	b ^= zeros
	n = bits.TrailingZeros64((b|(b+above))&top) / 8
	// Move the digits to the upper end and put zeros before them. A shift by 64 leaves 0.
	b <<= 64 - 8*n
	// Combine neighbors to numbers of two digits, then of four, then of eight.
	b = b*10 + b>>8
	v = (b&pair*(100+1000000<<32) + b>>16&pair*(1+10000<<32)) >> 32
	return v, n
}

// hex is decimal for hexadecimal digits. The kernel prints them in lower case.
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

// smallDecimal parses the digits at line[i:] of a number that the kernel stores in an int: an id or a CPU.
func smallDecimal(line []byte, i int) (v int, ok bool) {
	u, _, ok := decimal(line, i)
	return int(u), ok && u <= math.MaxInt32
}

// fault is the text that the kernel prints for a string that it couldn't read (kernel/trace/trace_probe.c,
// print_type_string). It prints 0 for a number that it couldn't read, so value returns 0 for fault as well.
const fault = "(fault)"

// value parses a fetched value: hexadecimal after 0x, decimal with or without a sign, or fault.
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

// isOther reports whether the kernel prints a line between events: an empty line, a line of a header or a stack trace, or a
// line about lost events. It checks every byte of a line about lost events, because a thread's name can imitate the
// beginning of such a line.
func isOther(line []byte) bool {
	return len(line) == 0 || line[0] == '#' || isStack(line) || isLost(line)
}

// isStack reports whether a line is one of trace_stack_print or trace_user_stack_print in
// kernel/trace/trace_output.c: a heading, or " => " and a frame.
func isStack(line []byte) bool {
	return bytes.HasPrefix(line, []byte(" => ")) ||
		bytes.HasSuffix(line, []byte(": <stack trace>")) ||
		bytes.HasSuffix(line, []byte(": <user stack trace>"))
}

// isLost reports whether a line is "CPU:1 [LOST 123 EVENTS]", or "CPU:1 [LOST EVENTS]" if the kernel didn't count
// them (print_trace_line in kernel/trace/trace.c). ftgo takes the number of lost events from the kernel's
// statistics.
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
