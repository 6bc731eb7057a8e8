package tracefs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// namePrefix begins the name of every group and instance of ours.
const namePrefix = "ftgo_"

// owner is who a group and an instance belong to: a process, told from later ones
// with the same number by its start time, and the number of its session.
type owner struct {
	pid     int
	started uint64 // clock ticks after boot, field 22 of /proc/PID/stat
	session uint64
}

var sessions atomic.Uint64

// self returns the owner of a new session of this process.
func self() (owner, error) {
	pid := os.Getpid()
	started, err := startTime(pid)
	return owner{pid, started, sessions.Add(1)}, err
}

// String is the name of the owner's group and instance:
// ftgo_<pid>_<start time>_<session>.
func (o owner) String() string {
	return fmt.Sprintf("%s%d_%d_%d", namePrefix, o.pid, o.started, o.session)
}

// parseOwner reads the owner from a name; ok is false for names of others.
func parseOwner(name string) (o owner, ok bool) {
	rest, ok := strings.CutPrefix(name, namePrefix)
	if !ok {
		return o, false
	}
	parts := strings.Split(rest, "_")
	if len(parts) != 3 {
		return o, false
	}
	var err1, err2, err3 error
	o.pid, err1 = strconv.Atoi(parts[0])
	o.started, err2 = strconv.ParseUint(parts[1], 10, 64)
	o.session, err3 = strconv.ParseUint(parts[2], 10, 64)
	// Only what String prints is ours: "+1" or "007" parse, but are not.
	return o, err1 == nil && err2 == nil && err3 == nil && o.pid > 0 && o.String() == name
}

// alive tells whether the owner still runs.
func (o owner) alive() bool {
	started, err := startTime(o.pid)
	return err == nil && started == o.started
}

// startTime is field 22 of /proc/PID/stat (proc_pid_stat(5)).
func startTime(pid int) (uint64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	// The name in field 2 may hold blanks and parentheses, but only before the last ')'.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	const afterName = 22 - 3
	if len(fields) <= afterName {
		return 0, fmt.Errorf("read /proc/%d/stat: %d fields", pid, len(fields)+2)
	}
	return strconv.ParseUint(fields[afterName], 10, 64)
}

// OwnPrefix begins the names of this process's groups and instances, and of no other
// living process's.
func OwnPrefix() string { return fmt.Sprintf("%s%d_", namePrefix, os.Getpid()) }
