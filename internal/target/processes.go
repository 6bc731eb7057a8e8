package target

import (
	"fmt"
	"os"

	"github.com/ftgo/ftgo/internal/procfs"
)

// CheckProcesses refuses processes that are not there, or that run another file than
// the first: they would be waited for, and never be seen.
func (q *Query) CheckProcesses() error {
	for _, pid := range q.PIDs {
		if of := procfs.ThreadGroup(pid); of != 0 && of != pid {
			return fmt.Errorf("process %d: a thread of process %d, which -p takes", pid, of)
		}
		if !procfs.Alive(pid) {
			return fmt.Errorf("process %d: no such process", pid)
		}
		if !q.Own {
			continue // it may be a library
		}
		first, err := os.Stat(q.Binary)
		if err != nil {
			return fmt.Errorf("process %d: %w", q.PIDs[0], err)
		}
		exe, err := os.Stat(procfs.Exe(pid))
		if err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
		if !os.SameFile(first, exe) {
			return usagef("process %d runs another file than process %d", pid, q.PIDs[0])
		}
	}
	return nil
}
