package ftrace

import "bytes"

// parseOther reads a line that is no event of ours. What it accepts is decided
// by the whole line where it matters, that is for lost events.
func parseOther(line []byte, rec *record) error {
	switch {
	case len(line) == 0 || line[0] == '#':
		rec.Kind = commentRecord
		return nil
	case isStack(line):
		rec.Kind = stackRecord
		return nil
	case bytes.HasPrefix(line, []byte(lostMark)):
		at, msg := lost(line, rec)
		if msg != "" {
			return newSyntaxError(line, at, msg, "")
		}
		rec.Kind = lostRecord
		return nil
	}
	return newSyntaxError(line, 0, "no event of ours", "")
}

// isStack tells the lines that trace_stack_print and trace_user_stack_print in
// kernel/trace/trace_output.c make: a heading, then " => " and a place for each
// frame.
func isStack(line []byte) bool {
	return bytes.HasPrefix(line, []byte(" => ")) ||
		bytes.HasSuffix(line, []byte(": <stack trace>")) ||
		bytes.HasSuffix(line, []byte(": <user stack trace>"))
}

const (
	lostMark   = "CPU:"
	lostOpen   = " [LOST "
	lostEvents = " EVENTS]"
	lostPlain  = " [LOST EVENTS]"
)

// lost reads "CPU:1 [LOST 123 EVENTS]", or "CPU:1 [LOST EVENTS]" where the
// kernel didn't count (print_trace_line in kernel/trace/trace.c). A msg other
// than "" says what is wrong at byte at.
func lost(line []byte, rec *record) (at int, msg string) {
	i := len(lostMark)
	end := i
	for end < len(line) && line[end]-'0' <= 9 {
		end++
	}
	if rec.CPU, msg = smallDecimal(line, i); msg != "" {
		return i, msg
	}
	if string(line[end:]) == lostPlain {
		rec.Uncounted = true
		return end, ""
	}
	if !bytes.HasPrefix(line[end:], []byte(lostOpen)) {
		return end, "[LOST n EVENTS] expected"
	}
	if rec.Lost, i, msg = decimal(line, end+len(lostOpen)); msg != "" {
		return i, msg
	}
	if string(line[i:]) != lostEvents {
		return i, "[LOST n EVENTS] expected"
	}
	return i, ""
}
