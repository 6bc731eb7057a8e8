// Package target resolves BINARY, -p and FUNC to a binary, its functions and their parameters, and single
// instructions. It finds libraries like the dynamic loader.
package target

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets"
)

// Say prints a line for the user that is not an error.
type Say func(format string, args ...any)

// Matching says how patterns select functions.
type Matching struct {
	Exclude []string // patterns of functions to leave out
	Regexp  bool     // patterns are regular expressions
	// Wrappers: wildcards and ends of names match wrappers, too.
	Wrappers bool
	// AllowUnmatched: some patterns may match nothing, but not all.
	AllowUnmatched bool
}

// Query is the target as the command line names it, before anything is looked up.
type Query struct {
	// Binary is BINARY. Resolve replaces it by the path of the file.
	Binary string
	// Opened is the file that Binary names, if the caller has opened it. Otherwise it is nil. Resolve closes it.
	Opened *os.File
	Processes
	Matching
	// Funcs are the FUNC arguments. OwnFuncs: if no FUNC is given, the func [OwnFuncs] selects the functions, and Beyond adds patterns.
	Funcs, Beyond []string
	OwnFuncs      bool
	// Inside is the pattern of --inside, or "".
	Inside string
	// From and To are the FUNCs of --from and --to, which select a [Pair], or "". Then there are no other FUNC arguments.
	From, To string
	// Signatures: FUNC may list parameters.
	Signatures bool
	// Live: the functions will be probed on this machine.
	Live bool
	// Symbols is the file with names, types and source lines; "" means the binary itself.
	Symbols string

	lists map[string]string // FILE:LINE of each FUNC that is from a list
}

// Resolve opens the binary and finds the functions that the arguments select. It returns an error if a pattern matches
// nothing, because this is usually a typing error. With AllowUnmatched, it returns the error only if no pattern matches
// anything.
func (q *Query) Resolve(say Say) (*Target, error) {
	t, err := q.open(say)
	if err != nil {
		return nil, err
	}
	if q.Live {
		err = t.checkProcessor()
	}
	if err == nil {
		_, err = t.find(say, q, nil)
	}
	if err != nil {
		t.Binary.Close()
		return nil, err
	}
	return t, nil
}

// find finds what the arguments select. The arguments may also select functions without code, which find returns.
func (t *Target) find(say Say, q *Query, bodiless []string) (inlined []string, err error) {
	for _, a := range t.instructions {
		found, err := a.resolve(t)
		if err != nil {
			return nil, q.located(a.text, err)
		}
		t.Sites = append(t.Sites, found...)
	}
	if t.Pair != nil {
		return nil, t.findPair()
	}
	unmatched, err := t.choose(say, q)
	if err != nil {
		return nil, err
	}
	selected, elsewhere := symname.Select(slices.Values(bodiless), t.patterns(), t.exclude)
	for _, i := range slices.Concat(selected...) {
		inlined = append(inlined, bodiless[i])
	}
	slices.Sort(inlined)
	unmatched = slices.DeleteFunc(unmatched, func(i int) bool { return !slices.Contains(elsewhere, i) })
	if err := t.findInside(q.Inside); err != nil {
		return nil, err
	}
	empty := len(t.Funcs)+len(t.Sites)+len(inlined) == 0
	if t.ownFuncs && empty {
		return nil, nothingf("%s: no functions of its own are known; name some ('*' is all)", q.Binary)
	}
	explained := unmatched[:min(len(unmatched), maxExplained)]
	for n, i := range explained {
		a := &t.include[i]
		err := q.located(a.text, noMatch(t.Binary, a.pattern.String(), q.Regexp))
		if !q.AllowUnmatched || empty && n == len(explained)-1 {
			return nil, err
		}
		say("%v", err)
	}
	if more := len(unmatched) - len(explained); more > 0 {
		say("%s: no function matches %s", q.Binary, printable.Plural(more, "more pattern"))
	}
	if empty && len(q.Funcs) > 0 {
		return nil, nothingf("%s: all functions that match are excluded", q.Binary)
	}
	return slices.Compact(inlined), nil
}

// maxExplained limits the number of patterns without a match that messages explain. An explanation takes time, because it
// searches for similar names.
const maxExplained = 10

// findInside adds the functions that the pattern of --inside selects. Only calls that these functions make are shown.
func (t *Target) findInside(pattern string) error {
	if pattern == "" {
		return nil
	}
	funcs, err := t.findFuncs(pattern)
	if err != nil {
		return err
	}
	for _, f := range funcs {
		role, selected := t.Roles[f]
		if !selected {
			t.Funcs = append(t.Funcs, f)
		}
		role.Inside, role.Hidden = true, !selected
		t.Roles[f] = role
	}
	return nil
}

// Open opens the file that a name refers to, see [Find].
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

// findBinary finds the file that BINARY names. With -p and without BINARY, the first FUNC may name a library that the
// process has mapped: ftgo count -p PID libgo 'fmt.*'. Then this library is the binary. findBinary returns the file of a
// mapped library open, and nil for other files.
func (q *Query) findBinary() (mapped *os.File, err error) {
	if q.Opened != nil {
		return q.Opened, nil
	}
	if q.Root != "" { // a link can't lead out of the root, because only OpenBelow follows the path
		mapped, inside, err := procfs.OpenBelow(q.Root, strings.TrimPrefix(q.Binary, q.Root))
		q.Binary = q.Root + inside
		return mapped, err
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

// Replaced returns a message that lists the processes that run an older file with BINARY's path. The file was replaced or
// removed, so calls of these processes are not seen. Replaced returns "" if it finds no such process.
func (q *Query) Replaced() string {
	path, err := filepath.Abs(q.Binary)
	if err != nil {
		return ""
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	became := "removed"
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path, became = file, "replaced"
	}
	pids := procfs.Replaced(path)
	if len(pids) == 0 {
		return ""
	}
	return fmt.Sprintf("an older %s, which was %s, runs in %s: -p %d shows that", path, became, listed(pids), pids[0])
}

// WhyUnseen explains why no call was seen. The traced processes are the program that ftgo started, PIDs if program is "",
// or all processes if PIDs is empty, too. children: children of the traced processes were also traced.
func (q *Query) WhyUnseen(program string, children bool) string {
	const uncalled = " called none of these functions"
	switch {
	case children:
		return cmp.Or(program, listed(q.PIDs)) + " and all children" + uncalled
	case program != "" && procfs.SameFile(program, q.Binary):
		return program + uncalled
	case program != "": // BINARY may be a library
		return fmt.Sprintf("%s, another file than %s,%s (--fork adds child processes)", program, q.Binary, uncalled)
	}
	for _, pid := range q.PIDs {
		if path, err := os.Readlink(procfs.Exe(pid)); err == nil && !procfs.Executes(pid, q.Binary) {
			return fmt.Sprintf("process %d runs %s, not %s", pid, path, q.Binary)
		}
	}
	pids := q.PIDs
	if len(pids) == 0 {
		all, _ := procfs.All() // an incomplete list is sufficient
		pids = slices.DeleteFunc(all, func(pid int) bool { return !procfs.Executes(pid, q.Binary) })
	}
	if len(pids) == 0 {
		return cmp.Or(q.Replaced(), "no process runs "+q.Binary)
	}
	return listed(pids) + uncalled
}

// CheckProcesses returns an error if a process in PIDs does not exist, or is only a thread of a process. If BINARY is the
// file that the first process executes, it also returns an error if another process executes another file. ftgo would wait
// for the calls of such processes in vain.
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
		if _, err := os.Stat(procfs.Exe(pid)); err != nil {
			return fmt.Errorf("process %d: %w", pid, err)
		}
		if !procfs.SameFile(q.Binary, procfs.Exe(pid)) {
			return usagef("process %d runs another file than process %d", pid, q.PIDs[0])
		}
	}
	return nil
}
