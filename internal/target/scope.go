package target

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
)

// Scope is the set of processes that -p and BINARY choose from: all processes, or the processes of a container or a control
// group.
type Scope struct {
	Container, Cgroup string
	// All: a name that matches several processes selects all of them.
	All  bool
	pids []int // of the container or the group
}

// Limited reports whether the scope is a container or a control group.
func (s *Scope) Limited() bool { return s.Container != "" || s.Cgroup != "" }

// String returns the flag that set the scope.
func (s *Scope) String() string {
	if s.Container != "" {
		return fmt.Sprintf("--container %q", s.Container)
	}
	return fmt.Sprintf("--cgroup %q", s.Cgroup)
}

// shownID returns as many digits of a container's id as docker ps prints.
func shownID(id string) string { return id[:min(len(id), 12)] }

// Find finds the processes of the scope.
func (s *Scope) Find(say Say) (err error) {
	if !s.Limited() {
		return nil
	}
	l := NewLiveScope(s)
	_, s.pids, err = l.look(say)
	switch {
	case err != nil:
		return err
	case s.Container != "" && l.id == "":
		return fmt.Errorf("%v: no such container runs", s)
	case len(s.pids) == 0:
		return fmt.Errorf("%v: no process in it", s)
	}
	return nil
}

// has reports whether a process is in the scope.
func (s *Scope) has(pid int) bool { return !s.Limited() || slices.Contains(s.pids, pid) }

// Named returns the processes of the scope that a word of -p selects: a number, or a name.
func (s *Scope) Named(say Say, word string) ([]int, error) {
	pid, err := strconv.Atoi(word)
	switch {
	case err == nil && pid <= 0:
		return nil, usagef("-p %s: not a process id", word)
	case err == nil && !s.has(pid):
		return nil, usagef("-p %s: %v has no such process", word, s)
	case err == nil:
		return []int{pid}, nil
	}
	pids := procfs.RunningPrograms().Named(word, s.has)
	if len(pids) == 0 && s.Limited() {
		return nil, fmt.Errorf("-p %q: %v has no such process", word, s)
	}
	return s.choose(say, fmt.Sprintf("-p %q", word), word, "choose one, or --all", pids)
}

// choose returns the processes in pids. It returns an error if pids is empty, or contains several processes and --all is not
// set.
func (s *Scope) choose(say Say, flag, name, advice string, pids []int) ([]int, error) {
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
func (q *Query) Within(s *Scope, say Say, binary string) (err error) {
	among := q.PIDs
	if len(among) == 0 {
		among = s.pids
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
			return fmt.Errorf("%v: %w", s, err)
		}
		defer file.Close()
		link := fmt.Sprintf("/proc/self/fd/%d", file.Fd())
		runs = func(pid int) bool { return procfs.Executes(pid, link) }
		say("%s is %s", binary, q.Binary)
	}
	if len(q.PIDs) == 0 {
		pids := slices.DeleteFunc(slices.Clone(among), func(pid int) bool { return !runs(pid) })
		if len(pids) == 0 {
			return fmt.Errorf("%v: no process runs %s", s, cmp.Or(binary, "a Go program"))
		}
		if q.PIDs, err = s.choose(say, s.String(), cmp.Or(s.Container, s.Cgroup), "choose one by -p or BINARY, or --all", pids); err != nil {
			return err
		}
	}
	if binary == "" {
		q.Binary, q.BinaryFromPID = procfs.Exe(q.PIDs[0]), true
	}
	return nil
}

// openBelow opens BINARY in its root. A link can't lead out of the root, because only this func follows the path.
func (q *Query) openBelow() (file *os.File, err error) {
	inside, ok := strings.CutPrefix(q.Binary, q.Root)
	if !ok || !path.IsAbs(inside) {
		return nil, fmt.Errorf("open %q: %w", q.Binary, fs.ErrNotExist)
	}
	file, inside, err = procfs.OpenBelow(q.Root, inside)
	q.Binary = q.Root + inside
	return file, err
}

// Containers returns the words that --container accepts: ids, and unique names.
func Containers() (words []string) {
	running, _ := procfs.Containers() // an incomplete list will do
	for _, id := range running {
		words = append(words, shownID(id))
	}
	for _, root := range []string{"/", procfs.Root(1)} {
		for name, ids := range procfs.Names(root) {
			if len(ids) == 1 && slices.Contains(running, ids[0]) {
				words = append(words, name)
			}
		}
	}
	slices.Sort(words)
	return slices.Compact(words)
}

// Cgroups returns words for --cgroup: the paths of the control groups, except the root, in which Go programs run.
func Cgroups() (paths []string) {
	for pid := range GoProcesses {
		groups, _ := procfs.Cgroups(pid) // empty for a process that has just ended
		for _, g := range groups {
			if g.Path != "/" {
				paths = append(paths, g.Path)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
