package procfs

import (
	"fmt"
	"os"
	"sync"
)

// InitialPIDs is the inode of the first pid namespace (include/linux/proc_ns.h,
// PROC_PID_INIT_INO).
const InitialPIDs = 0xeffffffc

// Namespace is the inode of one of a process's namespaces, "pid" or "mnt", 0 if it can't be
// told: that of a zombie can't, and old kernels have fewer kinds.
func Namespace(pid int, kind string) (inode uint64) {
	link, err := os.Readlink(folder(pid) + "/ns/" + kind)
	if err != nil {
		return 0
	}
	return parseNamespace(link, kind)
}

// parseNamespace reads "KIND:[INODE]" (namespaces(7)).
func parseNamespace(link, kind string) (inode uint64) {
	if n, err := fmt.Sscanf(link, kind+":[%d]", &inode); n != 1 || err != nil {
		return 0
	}
	return inode
}

// OwnPIDs is the inode of the pid namespace of this process: 0 for the initial one, and where
// it can't be told. It is found out once.
var OwnPIDs = sync.OnceValue(func() uint64 {
	if own := Namespace(Self, "pid"); own != InitialPIDs {
		return own
	}
	return 0
})

// ForeignNumbers tells that what /proc shows here are other processes than those of the numbers
// that the kernel traces processes by: those of the first pid namespace, not a container's.
func ForeignNumbers() bool { return OwnPIDs() != 0 }
