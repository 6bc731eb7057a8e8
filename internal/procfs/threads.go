package procfs

import (
	"os"
	"strconv"
	"strings"
)

// ThreadGroup is the process of a thread: the number of its first thread. It is 0 if the thread
// is gone, or can't be asked for.
func ThreadGroup(tid int) int {
	if ForeignNumbers() {
		return 0
	}
	status, _ := readStatus(tid) // without, there is no line
	pid, err := strconv.Atoi(statusLine(status, "Tgid"))
	if err != nil {
		return 0
	}
	return pid
}

// Numbers are those that a process has from our pid namespace down to its own, none before
// Linux 4.1 ("NSpid: 2345 17", proc_pid_status(5)).
func Numbers(pid int) (numbers []int, err error) {
	status, err := readStatus(pid)
	if err != nil {
		return nil, err
	}
	for text := range strings.FieldsSeq(statusLine(status, "NSpid")) {
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

func readStatus(pid int) (string, error) {
	b, err := os.ReadFile(folder(pid) + "/status")
	return string(b), err
}

// statusLine is the value of a line "KEY:	VALUE" of /proc/PID/status, "" if there is none.
func statusLine(status, key string) string {
	for line := range strings.SplitSeq(status, "\n") {
		if value, ok := strings.CutPrefix(line, key+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
