package tracefs

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/tracefs/internal/files"
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
	o, err := noSession()
	o.session = sessions.Add(1)
	return o, err
}

// noSession is for what this process defines for a moment, beside its sessions.
func noSession() (owner, error) {
	pid := os.Getpid()
	stat, err := procfs.ReadStat(pid)
	return owner{pid: pid, started: stat.Started, space: procfs.OwnPIDs()}, err
}

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
func (o owner) alive() bool { return o.aliveIn(procfs.OwnPIDs()) }

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
	stat, err := procfs.ReadStat(o.pid)
	switch {
	case err == nil:
		return o.mayBe(o.pid, stat)
	case files.IsNotExist(err), errors.Is(err, unix.ESRCH):
		// /proc may hide processes of others (hidepid=); signals do not.
		return !errors.Is(unix.Kill(o.pid, 0), unix.ESRCH)
	}
	return true // it can't be told
}

// runsInside tells it of an owner in a namespace below the initial one, which is ours:
// its process is here by another number.
func (o owner) runsInside() bool {
	pids, err := procfs.All()
	if err != nil {
		return true
	}
	for _, pid := range pids {
		numbers, err := procfs.Numbers(pid)
		if err != nil {
			continue // it has just ended
		}
		if n := len(numbers); n < 2 || numbers[n-1] != o.pid {
			continue
		}
		if space := procfs.Namespace(pid, "pid"); space != 0 && space != o.space {
			continue // it has the number in another container
		}
		if stat, err := procfs.ReadStat(pid); err != nil || o.mayBe(pid, stat) {
			return true
		}
	}
	return false
}

// mayBe tells whether the process that has the owner's number, pid here, may be the owner
// and do something yet.
func (o owner) mayBe(pid int, stat procfs.Stat) bool {
	if !stat.Alive() {
		return false // it has closed its files
	}
	// A start time counts from the boot that the time namespace of its reader has
	// (fs/proc/array.c, do_task_stat, since Linux 5.6). What a process of another time
	// namespace has read of itself is not what is read of it here.
	return stat.Started == o.started || procfs.Namespace(pid, "time") != procfs.Namespace(procfs.Self, "time")
}

// OwnPrefix begins the names of this process's groups and instances, and of no other
// living process's.
func OwnPrefix() string { return fmt.Sprintf("%s%d_", namePrefix, os.Getpid()) }
