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

// prefix begins the name of each group and instance of this package.
const prefix = "ftgo_"

// owner identifies the process and session that a group and an instance belong to. Names are unique, so that no other
// tool's clean-up deletes the events. The start time distinguishes the process from later ones with the same number.
type owner struct {
	PID     int
	Started uint64 // clock ticks after boot, field 22 of /proc/PID/stat as the owner reads it
	Session uint64 // the session's number in the process, from 1
	// Namespace is the pid namespace in which PID is a number; 0 is the initial one, others belong to containers.
	Namespace uint64
}

var sessions atomic.Uint64

// newOwner returns the owner of a new session of this process.
func newOwner() (owner, error) {
	pid := os.Getpid()
	stat, err := procfs.ReadStat(pid)
	return owner{PID: pid, Started: stat.Started, Session: sessions.Add(1), Namespace: procfs.PIDNamespace()}, err
}

// String returns the name of the owner's group and instance: ftgo_<pid>_<start time>_<session>, followed by
// _ns<namespace> in a container.
func (o owner) String() string {
	name := fmt.Sprintf("%s%d_%d_%d", prefix, o.PID, o.Started, o.Session)
	if o.Namespace != 0 {
		name += fmt.Sprintf("_ns%d", o.Namespace)
	}
	return name
}

// parseOwner parses the name of a group or instance. ok is false if it was not made by this package.
func parseOwner(name string) (o owner, ok bool) {
	if !strings.HasPrefix(name, prefix) {
		return o, false
	}
	_, _ = fmt.Sscanf(name, prefix+"%d_%d_%d_ns%d", &o.PID, &o.Started, &o.Session, &o.Namespace)
	// A name that String would not print, such as "ftgo_+1_5_1" or "ftgo_007_5_1", was not made by this package.
	return o, o.PID > 0 && o.String() == name
}

// alive reports whether the owner runs. It also returns true if it can't find this out.
func (o owner) alive() bool { return o.aliveIn(procfs.PIDNamespace()) }

// aliveIn returns what alive returns to a caller in the pid namespace with this number.
func (o owner) aliveIn(namespace uint64) bool {
	switch {
	case o.Namespace == namespace:
		return o.runsHere()
	case namespace == 0:
		return o.runsBelow()
	}
	// A container sees neither the host's processes nor another container's.
	return true
}

// runsHere implements alive for an owner in this process's pid namespace.
func (o owner) runsHere() bool {
	stat, err := procfs.ReadStat(o.PID)
	switch {
	case err == nil:
		return o.matches(o.PID, stat)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ESRCH):
		// /proc may hide other users' processes (hidepid=), but kill(2) does not.
		return !errors.Is(unix.Kill(o.PID, 0), unix.ESRCH)
	}
	return true // unknown
}

// runsBelow implements alive for an owner in a descendant pid namespace, where the owner has another number than here.
func (o owner) runsBelow() bool {
	pids, err := procfs.All()
	if _, first := procfs.ReadStat(1); err != nil || first != nil {
		return true // /proc may hide other users' processes (hidepid=)
	}
	for _, pid := range pids {
		numbers, err := procfs.NamespacePIDs(pid)
		if err != nil {
			continue // the process has just ended
		}
		if n := len(numbers); n < 2 || numbers[n-1] != o.PID {
			continue
		}
		if namespace := procfs.Namespace(pid, "pid"); namespace != 0 && namespace != o.Namespace {
			continue // a process with the same number in another container
		}
		if stat, err := procfs.ReadStat(pid); err != nil || o.matches(pid, stat) {
			return true
		}
	}
	return false
}

// matches reports whether a process is alive and may be the owner. pid is the process's number here. The caller has
// checked that the process's number in its own pid namespace is o.PID.
func (o owner) matches(pid int, stat procfs.Stat) bool {
	if !stat.Alive() {
		return false // a process that has ended has closed its files
	}
	// The reader's time namespace shifts start times (fs/proc/array.c, do_task_stat, since Linux 5.6). So a
	// process in another time namespace reads another start time of itself than this process reads here.
	return stat.Started == o.Started || procfs.Namespace(pid, "time") != procfs.Namespace(procfs.Self, "time")
}
