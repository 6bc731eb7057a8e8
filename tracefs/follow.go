package tracefs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// follow restricts recording to the threads of some processes.
//
// set_event_pid takes thread ids. event-fork adds the threads they start from now
// on; it is set before the list is read, and the list is read until it holds no
// new one, so that no thread slips through.
func (s *Session) follow(pids []int) error {
	if len(pids) == 0 {
		return nil
	}
	if !s.features.EventPID {
		return fmt.Errorf("record only process %d: %w (set_event_pid, since Linux 4.4)", pids[0], ErrNotSupported)
	}
	if s.features.EventFork {
		if err := s.fs.ops.Write(s.file("options/event-fork"), "1"); err != nil {
			return refused("write", s.file("options/event-fork"), err)
		}
	}
	known := make(map[string]bool)
	for {
		var fresh []string
		for _, pid := range pids {
			tids, err := threads(pid)
			if err != nil {
				return fmt.Errorf("list threads of process %d: %w", pid, err)
			}
			for _, tid := range tids {
				if !known[tid] {
					known[tid] = true
					fresh = append(fresh, tid)
				}
			}
		}
		if len(fresh) == 0 {
			return nil
		}
		for len(fresh) > 0 {
			// The kernel reads PAGE_SIZE at a time and may split a number there.
			n := min(len(fresh), 200)
			if err := s.fs.ops.Append(s.file("set_event_pid"), strings.Join(fresh[:n], " ")+"\n"); err != nil {
				return refused("write", s.file("set_event_pid"), err)
			}
			fresh = fresh[n:]
		}
	}
}

func threads(pid int) ([]string, error) {
	d, err := os.Open("/proc/" + strconv.Itoa(pid) + "/task")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}
