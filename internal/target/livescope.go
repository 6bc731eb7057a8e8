package target

import (
	"slices"
	"strings"
	"sync"

	"github.com/ftgo/ftgo/internal/procfs"
)

// LiveScope is a scope in which processes start and end. Has may be called concurrently with Look.
type LiveScope struct {
	*Scope
	running []string // the ids of all containers at the last lookup of the scope's container
	id      string   // the id of the scope's container, "" before it runs

	mu  sync.Mutex
	has func(pid int) bool
	// seen maps each process to whether it was in the scope when Look or Has last saw it alive. seen[0] contains the
	// processes that the last Look and later calls of Has saw. seen[1] is the former seen[0], from the previous Look.
	seen   [2]map[int]bool
	missed bool // see Missed
}

// NewLiveScope returns a scope without processes, until Look finds some.
func NewLiveScope(s *Scope) *LiveScope {
	return &LiveScope{Scope: s, has: func(int) bool { return false }, seen: [2]map[int]bool{{}, {}}}
}

// Has reports whether a process is in the scope. For a process that has ended, it reports whether it was in the scope
// when Look or Has last saw it alive.
func (l *LiveScope) Has(pid int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if is := l.has(pid); is || !procfs.Ending(pid) {
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

// Missed reports whether Has was called for a process that had ended before Look or Has ever saw it alive.
func (l *LiveScope) Missed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.missed
}

// Look returns the processes in the scope, possibly none. If the set of running containers has changed, Look also looks up
// the container's name again. It also does so while no container has the name, because runtimes like the kubelet may
// write the name of a container after the container has started.
func (l *LiveScope) Look(say Say) (pids []int, err error) {
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
		} else if known { // it may have ended before l.look read it, and stays in /proc until its parent waits for it
			seen[pid] = was
		}
	}
	l.has, l.seen = has, [2]map[int]bool{seen, l.seen[0]}
	return pids, nil
}

// look returns the processes in the scope, possibly none, and a func that reports whether a process is in it.
func (l *LiveScope) look(say Say) (has func(pid int) bool, pids []int, err error) {
	if l.Container == "" {
		has, err = procfs.CgroupNamed(l.Cgroup)
	} else {
		has, err = l.container(say)
	}
	if err == nil {
		pids, err = procfs.Matching(has)
	}
	return has, pids, err
}

// container looks up the scope's container among the running containers, and prints its id if that has
// changed. It returns a func that reports whether a process is in the container. If no container has the name, it
// returns the func of the last lookup.
func (l *LiveScope) container(say Say) (has func(pid int) bool, err error) {
	running, err := procfs.Containers()
	if err != nil || slices.Contains(running, l.id) && slices.Equal(running, l.running) {
		return l.has, err
	}
	// ftgo itself may run in a container that shows the host's processes. Then the files of the container runtime are
	// below the root of process 1.
	ids := procfs.Find(l.Container, running, "/", procfs.Root(1))
	if len(ids) > 1 {
		for i, id := range ids {
			ids[i] = shownID(id)
		}
		return nil, usagef("%v means %d containers: %s", l.Scope, len(ids), strings.Join(ids, ", "))
	}
	l.running = running
	if len(ids) == 0 { // the container may start again
		return l.has, nil
	}
	if ids[0] != l.id {
		l.id = ids[0]
		say("container %s is %s", l.Container, shownID(l.id))
	}
	return procfs.ContainerNamed(l.id), nil
}
