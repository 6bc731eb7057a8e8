// Package machine tells what tracing depends on of a machine: its kernel's release, its memory,
// its clocks, and where tracefs is mounted.
package machine

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Tracing is where tracefs is mounted since Linux 4.1; kernels before that have it below
// Debugfs only.
const (
	Tracing = "/sys/kernel/tracing"
	Debugfs = "/sys/kernel/debug"
)

// MountPoints are where tracefs is looked for.
var MountPoints = []string{Tracing, Debugfs + "/tracing"}

// Machine is a machine.
type Machine struct {
	// Root is put before every path: "" for this machine.
	Root string
	// Release is the kernel's, "" if it can't be read.
	Release string
}

// This is the machine that this process runs on.
func This() Machine {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return Machine{}
	}
	return Machine{Release: unix.ByteSliceToString(u.Release[:])}
}

// Older tells whether the kernel is older than a version. One whose release can't be read is
// not.
func (m Machine) Older(major, minor int) bool {
	a, b, ok := version(m.Release)
	return ok && (a < major || a == major && b < minor)
}

func version(release string) (major, minor int, ok bool) {
	n, _ := fmt.Sscanf(release, "%d.%d", &major, &minor)
	return major, minor, n == 2
}

// Read returns a file without the white space around it, "" if it can't be read.
func (m Machine) Read(path string) string {
	b, err := os.ReadFile(m.Root + path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}
