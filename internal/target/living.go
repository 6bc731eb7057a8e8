package target

import (
	"slices"
	"sync"

	"github.com/ftgo/ftgo/internal/procfs"
)

// Living is a scope whose processes come and go. Has may be called at any time.
type Living struct {
	*Scope
	running, ids []string // the ids of all containers when the scope's were last looked up, and the scope's

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
	if l.seen = [2]map[int]bool{seen, l.seen[0]}; has != nil {
		l.has = has
	}
	return pids, nil
}

// look returns the processes in the scope, and a func that reports whether a process is in it, nil to keep the last one.
func (l *Living) look(say Say) (has func(pid int) bool, pids []int, err error) {
	if l.Cgroup != "" {
		has, err = procfs.CgroupNamed(l.Cgroup)
		if err == nil {
			pids, err = procfs.InCgroup(l.Cgroup)
		}
		return has, pids, err
	}
	running, err := procfs.Containers()
	if err != nil {
		return nil, nil, err
	}
	var all []string
	for _, c := range running {
		all = append(all, c.ID)
	}
	if len(pidsOf(running, l.ids)) == 0 || !slices.Equal(all, l.running) {
		ids, err := l.lookUp(running)
		if err != nil {
			return nil, nil, err
		}
		if l.running = all; len(ids) > 0 { // else it may start again
			if !slices.Equal(ids, l.ids) {
				l.tell(say, ids)
			}
			l.ids = ids
			has = func(pid int) bool {
				return slices.ContainsFunc(procfs.ContainersOf(pid), func(id string) bool { return slices.Contains(ids, id) })
			}
		}
	}
	return has, pidsOf(running, l.ids), nil
}
