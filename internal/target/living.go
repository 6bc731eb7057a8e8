package target

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/ftgo/ftgo/internal/procfs"
)

// Living is a scope whose processes come and go. Has may be called at any time.
type Living struct {
	*Scope
	running []string // the ids of all containers when the scope's was last looked up
	id      string   // of the scope's container, "" before it runs

	mu     sync.Mutex
	has    func(pid int) bool
	seen   [2]map[int]bool // whether processes were in the scope when last seen alive: as of the last Look and Has since, and of the Look before
	missed bool
}

// NewLiving returns a scope without processes, until Look finds some.
func NewLiving(s *Scope) *Living {
	return &Living{Scope: s, has: func(int) bool { return false }, seen: [2]map[int]bool{{}, {}}}
}

// Has reports whether a process is in the scope, or was when it ended, if Look or an earlier Has saw it.
func (l *Living) Has(pid int) bool {
	l.mu.Lock()
	has := l.has
	l.mu.Unlock()
	is := has(pid)
	sure := is || !procfs.Ending(pid)
	l.mu.Lock()
	defer l.mu.Unlock()
	if sure {
		l.seen[0][pid] = is
		return is
	}
	was, known := l.seen[0][pid]
	if !known {
		was, known = l.seen[1][pid]
	}
	l.missed = l.missed || !known
	return was
}

// Missed reports whether Has was called for processes that had ended and were not seen before.
func (l *Living) Missed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.missed
}

// Look returns the processes in the scope, possibly none. It looks up a container's name again when other containers run than
// before, and while no container has the name: runtimes may write a name when its container runs already, as the kubelet does.
func (l *Living) Look(say Say) (pids []int, err error) {
	all, err := procfs.All()
	if err != nil {
		return nil, err
	}
	has, pids, err := l.look(say)
	if err != nil {
		return nil, err
	}
	seen := make(map[int]bool)
	for _, pid := range pids {
		seen[pid] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, pid := range all {
		if was, known := l.seen[0][pid]; seen[pid] {
			continue
		} else if !procfs.Ending(pid) {
			seen[pid] = false
		} else if known { // it may have ended before Look read it, and stays in /proc until its parent waits for it
			seen[pid] = was
		}
	}
	l.has, l.seen = has, [2]map[int]bool{seen, l.seen[0]}
	return pids, nil
}

// look returns the processes in the scope, possibly none, and a func that reports whether a process is in it.
func (l *Living) look(say Say) (has func(pid int) bool, pids []int, err error) {
	if l.Container == "" {
		if has, err = procfs.CgroupNamed(l.Cgroup); err == nil {
			pids, err = procfs.Those(has)
		}
		return has, pids, err
	}
	processes, err := procfs.Containers()
	if err != nil {
		return nil, nil, err
	}
	has, err = l.container(say, slices.Sorted(maps.Keys(processes)))
	pids = slices.DeleteFunc(processes[l.id], func(pid int) bool { return pid == os.Getpid() })
	return has, pids, err
}

// container finds the container among the ids of those that run, and prints its id if that is new. While no container has the
// name, it returns the last func.
func (l *Living) container(say Say, running []string) (has func(pid int) bool, err error) {
	if slices.Contains(running, l.id) && slices.Equal(running, l.running) {
		return l.has, nil
	}
	// Where this is a container with the host's processes, its runtime's files are below process 1.
	ids := procfs.Find(l.Container, running, "/", procfs.Root(1))
	if len(ids) > 1 {
		for i, id := range ids {
			ids[i] = shownID(id)
		}
		return nil, usagef("%v means %d containers: %s", l.Scope, len(ids), strings.Join(ids, ", "))
	}
	l.running = running
	if len(ids) == 0 { // it may start again
		return l.has, nil
	}
	if ids[0] != l.id {
		l.id = ids[0]
		say("container %s is %s", l.Container, shownID(l.id))
	}
	return procfs.ContainerNamed(l.id), nil
}
