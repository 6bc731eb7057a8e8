package tracefs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/internal/procfs"
)

// prefix begins the name of every group and instance of ours.
const prefix = "ftgo_"

// owner is who a group and an instance belong to: a process, told from later ones
// with the same number by its start time, and the number of its session.
type owner struct {
	PID     int
	Started uint64 // clock ticks after boot, field 22 of /proc/PID/stat, as the owner sees it
	Session uint64
	// Space is the pid namespace, a container's, that PID is a number in, 0 for the initial one.
	Space uint64
}

var sessions atomic.Uint64

// newOwner returns the owner of a new session of this process.
func newOwner() (owner, error) {
	o, err := thisProcess()
	o.Session = sessions.Add(1)
	return o, err
}

// thisProcess owns what this process defines for a moment, beside its sessions.
func thisProcess() (owner, error) {
	pid := os.Getpid()
	stat, err := procfs.ReadStat(pid)
	return owner{PID: pid, Started: stat.Started, Space: procfs.OwnPIDs()}, err
}

// String is the name of the owner's group and instance:
// ftgo_<pid>_<start time>_<session>, and _ns<namespace> in a container.
func (o owner) String() string {
	name := fmt.Sprintf("%s%d_%d_%d", prefix, o.PID, o.Started, o.Session)
	if o.Space != 0 {
		name += fmt.Sprintf("_ns%d", o.Space)
	}
	return name
}

// parseOwner reads the owner from a name; ok is false for names of others.
func parseOwner(name string) (o owner, ok bool) {
	if !strings.HasPrefix(name, prefix) {
		return o, false
	}
	_, _ = fmt.Sscanf(name, prefix+"%d_%d_%d_ns%d", &o.PID, &o.Started, &o.Session, &o.Space)
	// Only what String prints is ours: "+1" or "007" parse, but are not.
	return o, o.PID > 0 && o.String() == name
}

// alive tells whether the owner still runs, or may do so.
func (o owner) alive() bool { return o.aliveIn(procfs.OwnPIDs()) }

// aliveIn is alive for a process in the given pid namespace.
func (o owner) aliveIn(space uint64) bool {
	switch {
	case o.Space == space:
		return o.runs()
	case space == 0:
		return o.runsInside()
	}
	// From within a container neither the host's processes nor another's can be seen.
	return true
}

// runs tells it of an owner in our pid namespace.
func (o owner) runs() bool {
	stat, err := procfs.ReadStat(o.PID)
	switch {
	case err == nil:
		return o.mayBe(o.PID, stat)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
		// /proc may hide processes of others (hidepid=); signals do not.
		return !errors.Is(unix.Kill(o.PID, 0), unix.ESRCH)
	}
	return true // it can't be told
}

// runsInside tells it of an owner in a namespace below ours, where it has another number here.
func (o owner) runsInside() bool {
	pids, err := procfs.All()
	if _, first := procfs.ReadStat(1); err != nil || first != nil {
		return true // /proc may hide processes of others (hidepid=)
	}
	for _, pid := range pids {
		numbers, err := procfs.Numbers(pid)
		if err != nil {
			continue // it has just ended
		}
		if n := len(numbers); n < 2 || numbers[n-1] != o.PID {
			continue
		}
		if space := procfs.Namespace(pid, "pid"); space != 0 && space != o.Space {
			continue // it has the number in another container
		}
		if stat, err := procfs.ReadStat(pid); err != nil || o.mayBe(pid, stat) {
			return true
		}
	}
	return false
}

// mayBe tells whether the process with the owner's number, pid here, may be it and do something yet.
func (o owner) mayBe(pid int, stat procfs.Stat) bool {
	if !stat.Alive() {
		return false // it has closed its files
	}
	// A start time counts from the boot that the time namespace of its reader has
	// (fs/proc/array.c, do_task_stat, since Linux 5.6). What a process of another time
	// namespace has read of itself is not what is read of it here.
	return stat.Started == o.Started || procfs.Namespace(pid, "time") != procfs.Namespace(procfs.Self, "time")
}
