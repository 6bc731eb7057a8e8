// Package target resolves BINARY, -p and FUNC to a binary, its functions and their parameters, and single
// instructions. It finds libraries like the dynamic loader.
package target

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/offsets"
)

// Say prints a line for the user that is not an error.
type Say func(format string, args ...any)

// Query is the target as the command line names it, before anything is looked up.
type Query struct {
	// Binary is BINARY. Resolve replaces it by the path of the file.
	Binary string
	// Opened is that file if it is open already. Resolve closes it.
	Opened *os.File
	// BinaryFromPID: BINARY is the file that the first process of PIDs executes.
	BinaryFromPID bool
	PIDs          []int
	// Root is the root of the process that BINARY was looked up in; BINARY begins with it. "" is ftgo's own root.
	Root string
	// Funcs are the FUNC arguments, Exclude patterns of functions to leave out. OwnFuncs: without a
	// FUNC, [OwnFuncs] selects the functions.
	Funcs, Exclude []string
	OwnFuncs       bool
	Regexp         bool
	// Inside is the pattern of --inside, or "".
	Inside string
	// Signatures: FUNC may list parameters.
	Signatures bool
	// AllowUnmatched: some patterns may match nothing, but not all.
	AllowUnmatched bool
	// Live: the functions will be probed on this machine.
	Live bool
	// Wrappers: wildcards and ends of names match wrappers, too.
	Wrappers bool
	// Symbols is the file with names, types and source lines; "" means the binary itself.
	Symbols string
	// Loading, if not nil, is called with the progress of long reads.
	Loading func(what string, done, of int)

	lists map[string]string // FILE:LINE of each FUNC, or its pattern, that is from a list
}

// Resolve opens the binary and finds the functions that the arguments select. A
// pattern without a match is an error, because it is usually a typing
// error. With AllowUnmatched it is an error only if all patterns together match nothing.
func (q *Query) Resolve(say Say) (*Target, error) {
	t, err := q.open(say)
	if err != nil {
		return nil, err
	}
	if q.Live {
		err = t.checkProcessor()
	}
	if err == nil {
		err = t.find(say, q)
	}
	if err != nil {
		t.Binary.Close()
		return nil, err
	}
	return t, nil
}

func (t *Target) find(say Say, q *Query) error {
	for _, s := range t.sites {
		found, err := s.resolve(say, t.Binary)
		if err != nil {
			return q.located(s.text, err)
		}
		t.Sites = append(t.Sites, found...)
	}
	unmatched, err := t.choose(say, q)
	if err != nil {
		return err
	}
	if err := t.findInside(q.Inside); err != nil {
		return err
	}
	empty := len(t.Funcs)+len(t.Sites) == 0
	for i, p := range unmatched {
		err := q.located(p.String(), noMatch(t.Binary, p.String(), q.Regexp))
		if !q.AllowUnmatched || empty && i == min(len(unmatched), maxExplained)-1 {
			return err
		}
		say("%v", err)
		if more := len(unmatched) - maxExplained; i+1 == maxExplained && more > 0 {
			say("%s: no function matches %s", q.Binary, printable.Plural(more, "more pattern"))
			break
		}
	}
	if empty && len(q.Funcs) > 0 {
		return nothingf("%s: all functions that match are excluded", q.Binary)
	}
	return nil
}

// maxExplained is the number of patterns without a match that are explained, because the search for near names takes
// time.
const maxExplained = 10

// findInside adds the functions of --inside, from which calls must be made.
func (t *Target) findInside(pattern string) error {
	if pattern == "" {
		return nil
	}
	funcs, err := findFuncs(t.Binary, pattern)
	if err != nil {
		return err
	}
	for _, f := range funcs {
		_, selected := t.Roles[f]
		if !selected {
			t.Funcs = append(t.Funcs, f)
		}
		t.mark(f, func(r *Role) { r.Inside, r.Hidden = true, !selected })
	}
	return nil
}

// Open opens the file that a name refers to: in a process, or without one if pid is 0.
func Open(name string, pid int) (*offsets.Binary, error) {
	return openFound(Find(name, pid))
}

// openFound opens the result of [Find].
func openFound(path string, mapped *os.File, err error) (*offsets.Binary, error) {
	switch {
	case err != nil:
		return nil, err
	case mapped != nil:
		return offsets.OpenFile(mapped, path)
	}
	return offsets.Open(path)
}

// findBinary finds the file that BINARY names. With -p, the first FUNC may name the binary,
// if it is a library that the process has mapped: ftgo count -p PID libgo 'fmt.*'. A mapped
// file is returned open.
func (q *Query) findBinary() (mapped *os.File, err error) {
	if q.Opened != nil {
		return q.Opened, nil
	}
	if q.Root != "" {
		return q.openBelow()
	}
	pid := 0
	if len(q.PIDs) > 0 {
		pid = procfs.LiveThread(q.PIDs[0])
		// A word with a slash is not a library: as BINARY it is a path, and as FUNC it names a package.
		if q.BinaryFromPID && len(q.Funcs) > 1 && !strings.Contains(q.Funcs[0], "/") {
			if path, mapped, err := Find(q.Funcs[0], pid); err == nil {
				q.Binary, q.BinaryFromPID, q.Funcs = path, false, q.Funcs[1:]
				return mapped, nil
			}
		}
	}
	q.Binary, mapped, err = Find(q.Binary, pid)
	return mapped, err
}

// maxListed is the number of processes that a message lists.
const maxListed = 10

// listed formats a list of one or more processes.
func listed(pids []int) string {
	list := strings.Trim(strings.ReplaceAll(fmt.Sprint(pids[:min(len(pids), maxListed)]), " ", ", "), "[]")
	switch {
	case len(pids) == 1:
		return "process " + list
	case len(pids) > maxListed:
		list += ", …"
	}
	return fmt.Sprintf("%d processes (%s)", len(pids), list)
}

// Replaced says which processes run an older file that BINARY has replaced, or that was removed: their calls
// can't be seen. It returns "" if no process does.
func (q *Query) Replaced() string {
	path, err := filepath.Abs(q.Binary)
	if err != nil {
		return ""
	}
	became := "replaced"
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file
	} else if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path, became = filepath.Join(dir, filepath.Base(path)), "removed"
	}
	pids := procfs.Replaced(path)
	if len(pids) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s an older %s, which was %s: -p %d shows that", listed(pids), run(pids), path, became, pids[0])
}

func run(pids []int) string { return map[bool]string{true: "runs", false: "run"}[len(pids) == 1] }

// WhyUnseen explains why no call was seen of the traced processes: PIDs, or the program that ftgo
// started, unless that is "", or else all processes. children: their children were traced, too.
func (q *Query) WhyUnseen(program string, children bool) string {
	const uncalled = "called none of these functions"
	switch {
	case children:
		return cmp.Or(program, listed(q.PIDs)) + " and all children " + uncalled
	case program != "" && procfs.SameFile(program, q.Binary):
		return program + " " + uncalled
	case program != "": // BINARY may be a library
		return fmt.Sprintf("%s, another file than %s, %s (--fork adds child processes)", program, q.Binary, uncalled)
	}
	for _, pid := range q.PIDs {
		if path, err := os.Readlink(procfs.Exe(pid)); err == nil && !procfs.Executes(pid, q.Binary) {
			return fmt.Sprintf("process %d runs %s, not %s", pid, path, q.Binary)
		}
	}
	if len(q.PIDs) > 0 {
		return listed(q.PIDs) + " " + uncalled
	}
	pids, _ := procfs.All() // an incomplete list will do
	pids = slices.DeleteFunc(pids, func(pid int) bool { return !procfs.Executes(pid, q.Binary) })
	if len(pids) == 0 {
		return cmp.Or(q.Replaced(), "no process runs "+q.Binary)
	}
	return fmt.Sprintf("%s %s it, and %s", listed(pids), run(pids), uncalled)
}

// CheckProcesses refuses processes that do not exist, or that run another file than
// the first: ftgo would wait for their calls in vain.
func (q *Query) CheckProcesses() error {
	for _, pid := range q.PIDs {
		if group := procfs.ThreadGroup(pid); group != 0 && group != pid {
			return fmt.Errorf("process %d: a thread of process %d, which -p takes", pid, group)
		}
		if !procfs.Alive(pid) {
			return fmt.Errorf("process %d: no such process", pid)
		}
		if !q.BinaryFromPID {
			continue // it may be a library
		}
		if _, err := os.Stat(q.Binary); err != nil {
			return fmt.Errorf("process %d: %w", q.PIDs[0], err)
		}
		if _, err := os.Stat(procfs.Exe(pid)); err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
		if !procfs.SameFile(q.Binary, procfs.Exe(pid)) {
			return usagef("process %d runs another file than process %d", pid, q.PIDs[0])
		}
	}
	return nil
}

// Await waits until the file that BINARY names exists and no longer grows, because
// a linker takes its time. It returns false if ctx was done before.
func (q *Query) Await(ctx context.Context, say Say) bool {
	var last, now os.FileInfo
	for waited := false; ; last, waited = now, true {
		path, _, err := Find(q.Binary, 0)
		if now = nil; err == nil {
			now, err = os.Stat(path)
		}
		switch {
		case err == nil && (!waited || last != nil && now.Size() == last.Size() && now.ModTime().Equal(last.ModTime())):
			return true
		case !waited:
			say("waiting for %s", q.Binary)
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(100 * time.Millisecond):
		}
	}
}
