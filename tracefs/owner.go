package tracefs

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// namePrefix begins the name of every group and instance of ours.
const namePrefix = "ftgo_"

// owner is who a group and an instance belong to: a process, told from later ones
// with the same number by its start time, and the number of its session.
type owner struct {
	pid     int
	started uint64 // clock ticks after boot, field 22 of /proc/PID/stat, as the owner sees it
	session uint64
	// space is the pid namespace that pid is a number in, 0 for the initial one: what runs
	// in a container has numbers of its own there.
	space uint64
}

var sessions atomic.Uint64

// self returns the owner of a new session of this process.
func self() (owner, error) {
	pid := os.Getpid()
	_, started, err := processStat(pid)
	return owner{pid, started, sessions.Add(1), ownSpace()}, err
}

// ownSpace is the pid namespace of this process, as owner has it.
var ownSpace = sync.OnceValue(func() uint64 {
	ns := thisMachine().namespace("self", "pid")
	if ns == initialPIDs {
		return 0
	}
	n, _ := strconv.ParseUint(ns, 10, 64) // 0 on kernels without namespaces
	return n
})

// String is the name of the owner's group and instance:
// ftgo_<pid>_<start time>_<session>, and _ns<namespace> in a container.
func (o owner) String() string {
	name := fmt.Sprintf("%s%d_%d_%d", namePrefix, o.pid, o.started, o.session)
	if o.space != 0 {
		name += fmt.Sprintf("_ns%d", o.space)
	}
	return name
}

// parseOwner reads the owner from a name; ok is false for names of others.
func parseOwner(name string) (o owner, ok bool) {
	rest, ok := strings.CutPrefix(name, namePrefix)
	if !ok {
		return o, false
	}
	parts := strings.Split(rest, "_")
	var err1, err2, err3, err4 error
	if len(parts) == 4 {
		o.space, err4 = strconv.ParseUint(strings.TrimPrefix(parts[3], "ns"), 10, 64)
	} else if len(parts) != 3 {
		return o, false
	}
	o.pid, err1 = strconv.Atoi(parts[0])
	o.started, err2 = strconv.ParseUint(parts[1], 10, 64)
	o.session, err3 = strconv.ParseUint(parts[2], 10, 64)
	// Only what String prints is ours: "+1" or "007" parse, but are not.
	return o, err1 == nil && err2 == nil && err3 == nil && err4 == nil && o.pid > 0 && o.String() == name
}

// alive tells whether the owner still runs, or may do so.
func (o owner) alive() bool { return o.aliveIn(ownSpace()) }

// aliveIn is alive for a process in the given pid namespace.
func (o owner) aliveIn(space uint64) bool {
	switch {
	case o.space == space:
		return o.runs()
	case space == 0:
		return o.runsInside()
	}
	// From within a container neither the host's processes nor another's can be seen.
	return true
}

// runs tells it of an owner in our pid namespace.
func (o owner) runs() bool {
	state, started, err := processStat(o.pid)
	switch {
	case err == nil:
		return o.mayBe(o.pid, state, started)
	case isNotExist(err), errors.Is(err, unix.ESRCH):
		// /proc may hide processes of others (hidepid=); signals do not.
		return !errors.Is(unix.Kill(o.pid, 0), unix.ESRCH)
	}
	return true // it can't be told
}

// runsInside tells it of an owner in a namespace below the initial one, which is ours:
// its process is here by another number.
func (o owner) runsInside() bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return true
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + e.Name() + "/status")
		if err != nil {
			continue // it has just ended
		}
		// "NSpid: 2345 17": from our namespace to its own (proc_pid_status(5), since 4.1).
		numbers := strings.Fields(lineWith(string(b), "NSpid:"))
		if len(numbers) < 3 || numbers[len(numbers)-1] != strconv.Itoa(o.pid) {
			continue
		}
		// That of a zombie can't be read.
		if space := thisMachine().namespace(e.Name(), "pid"); space != "" && space != strconv.FormatUint(o.space, 10) {
			continue // it has the number in another container
		}
		if state, started, err := processStat(pid); err != nil || o.mayBe(pid, state, started) {
			return true
		}
	}
	return false
}

// mayBe tells whether the process that has the owner's number, pid here, may be the owner
// and do something yet.
func (o owner) mayBe(pid int, state string, started uint64) bool {
	if state == "Z" || state == "X" {
		return false // it has closed its files
	}
	// A start time counts from the boot that the time namespace of its reader has
	// (fs/proc/array.c, do_task_stat, since Linux 5.6). What a process of another time
	// namespace has read of itself is not what is read of it here.
	m := thisMachine()
	return started == o.started || m.namespace(strconv.Itoa(pid), "time") != m.namespace("self", "time")
}

// processStat reads fields 3 and 22 of /proc/PID/stat (proc_pid_stat(5)).
func processStat(pid int) (state string, started uint64, err error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", 0, err
	}
	// The name in field 2 may hold blanks and parentheses, but only before the last ')'.
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	const afterName = 22 - 3
	if len(fields) <= afterName {
		return "", 0, fmt.Errorf("read /proc/%d/stat: %d fields", pid, len(fields)+2)
	}
	started, err = strconv.ParseUint(fields[afterName], 10, 64)
	return fields[0], started, err
}

// OwnPrefix begins the names of this process's groups and instances, and of no other
// living process's.
func OwnPrefix() string { return fmt.Sprintf("%s%d_", namePrefix, os.Getpid()) }
