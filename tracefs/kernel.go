package tracefs

import "github.com/ftgo/ftgo/tracefs/internal/machine"

// KernelOlder tells whether the running kernel is older than a version. One whose
// release can't be read is not.
func KernelOlder(major, minor int) bool { return machine.This().Older(major, minor) }
