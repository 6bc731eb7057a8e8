package tracefs

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// KernelOlder tells whether the running kernel is older than a version. One whose
// release can't be read is not.
func KernelOlder(major, minor int) bool {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return false
	}
	return releaseOlder(unix.ByteSliceToString(u.Release[:]), major, minor)
}

func releaseOlder(release string, major, minor int) bool {
	var a, b int
	if n, _ := fmt.Sscanf(release, "%d.%d", &a, &b); n != 2 {
		return false
	}
	return a < major || a == major && b < minor
}
