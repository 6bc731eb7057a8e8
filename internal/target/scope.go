package target

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ftgo/ftgo/internal/procfs"
)

// Processes are the processes that -p, --container and --cgroup select.
type Processes struct {
	// Container and Cgroup limit the scope, the processes that -p and BINARY choose from. It is all processes if both are "".
	Container, Cgroup string
	// All: a name that matches several processes selects all of them.
	All bool
	procfs.Filter
	// Root is the path of the root folder of a process. If it is not "", BINARY begins with Root, and the rest is looked up
	// in this folder. "" is ftgo's own root.
	Root string
	// BinaryFromPID: BINARY is the file that the first process of PIDs executes.
	BinaryFromPID bool

	scope []int // the processes of the container or the group
}

// Limited reports whether the scope is a container or a control group.
func (s *Processes) Limited() bool { return s.Container != "" || s.Cgroup != "" }

// Scope returns the flag that limits the scope.
func (s *Processes) Scope() string {
	if s.Container != "" {
		return fmt.Sprintf("--container %q", s.Container)
	}
	return fmt.Sprintf("--cgroup %q", s.Cgroup)
}

// shownID returns as many digits of a container's id as docker ps prints.
func shownID(id string) string { return id[:min(len(id), 12)] }

// Find finds the processes of the scope.
func (s *Processes) Find(say Say) (err error) {
	if !s.Limited() {
		return nil
	}
	l := NewLiveScope(s)
	_, s.scope, err = l.look(say)
	switch {
	case err != nil:
		return err
	case s.Container != "" && l.id == "":
		return fmt.Errorf("%v: no such container runs", s.Scope())
	case len(s.scope) == 0:
		return fmt.Errorf("%v: no process in it", s.Scope())
	}
	return nil
}

// has reports whether a process is in the scope.
func (s *Processes) has(pid int) bool { return !s.Limited() || slices.Contains(s.scope, pid) }

// Named returns the processes of the scope that a word of -p selects: a number, or a name.
func (s *Processes) Named(say Say, word string) ([]int, error) {
	pid, err := strconv.Atoi(word)
	switch {
	case err == nil && pid <= 0:
		return nil, usagef("-p %s: not a process id", word)
	case err == nil && !s.has(pid):
		return nil, usagef("-p %s: %v has no such process", word, s.Scope())
	case err == nil:
		return []int{pid}, nil
	}
	pids := procfs.RunningPrograms().Named(word, s.has)
	if len(pids) == 0 && s.Limited() {
		return nil, fmt.Errorf("-p %q: %v has no such process", word, s.Scope())
	}
	return s.choose(say, fmt.Sprintf("-p %q", word), word, "choose one, or --all", pids)
}

// choose returns the processes in pids. It returns an error if pids is empty, or contains several processes and --all is not
// set.
func (s *Processes) choose(say Say, flag, name, advice string, pids []int) ([]int, error) {
	switch {
	case len(pids) == 0:
		return nil, fmt.Errorf("%s: no such process", flag)
	case len(pids) > 1 && !s.All:
		return nil, usagef("%s means %s: %s", flag, listed(pids), advice)
	}
	say("%s is %s", name, listed(pids))
	return pids, nil
}

// Within restricts a query to the scope. It looks up BINARY in the roots of the scope's processes. If BINARY is "", it
// takes the only Go program of the scope.
func (q *Query) Within(say Say, binary string) (err error) {
	among, s := q.PIDs, &q.Processes
	if len(among) == 0 {
		among = q.scope
	}
	runs := func(pid int) bool { return isGo(procfs.Exe(pid)) }
	if binary != "" {
		var file *os.File
		for _, pid := range among { // some may have just ended
			var found string
			if file, found, err = procfs.OpenBelow(procfs.Root(pid), binary); err == nil {
				q.Root = procfs.Root(pid)
				q.Binary = q.Root + found
				break
			}
		}
		if err != nil {
			return fmt.Errorf("%v: %w", s.Scope(), err)
		}
		defer file.Close()
		link := fmt.Sprintf("/proc/self/fd/%d", file.Fd())
		runs = func(pid int) bool { return procfs.Executes(pid, link) }
		say("%s is %s", binary, q.Binary)
	}
	if len(q.PIDs) == 0 {
		pids := slices.DeleteFunc(slices.Clone(among), func(pid int) bool { return !runs(pid) })
		if len(pids) == 0 {
			return fmt.Errorf("%v: no process runs %s", s.Scope(), cmp.Or(binary, "a Go program"))
		}
		if q.PIDs, err = s.choose(say, s.Scope(), cmp.Or(s.Container, s.Cgroup), "choose one by -p or BINARY, or --all", pids); err != nil {
			return err
		}
	}
	if binary == "" {
		q.Binary, q.BinaryFromPID = procfs.Exe(q.PIDs[0]), true
	}
	return nil
}

// LiveScope is a scope in which processes start and end. Has may be called concurrently with Look.
type LiveScope struct {
	*Processes
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
func NewLiveScope(s *Processes) *LiveScope {
	return &LiveScope{Processes: s, has: func(int) bool { return false }, seen: [2]map[int]bool{{}, {}}}
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
		return nil, usagef("%v means %d containers: %s", l.Scope(), len(ids), strings.Join(ids, ", "))
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
