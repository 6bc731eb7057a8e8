package ftrace

import (
	"bytes"
	"math"
)

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
