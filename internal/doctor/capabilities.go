package doctor

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// uses lists the capabilities that ftgo uses and what fails without each, found by running ftgo without it.
// CAP_BPF and all others make no difference.
var uses = []struct {
	name, without string
	bit           uint64
}{
	{"CAP_DAC_OVERRIDE", "tracefs must belong to this user", 1 << unix.CAP_DAC_OVERRIDE},
	{"CAP_SYS_PTRACE", "-p takes this user's processes alone", 1 << unix.CAP_SYS_PTRACE},
	{"CAP_LEASE", "a write to another user's binary ends the run, but does not wait for it", 1 << unix.CAP_LEASE},
	{"CAP_SYS_ADMIN", "tracefs must be mounted", 1 << unix.CAP_SYS_ADMIN},
}

// needed returns the capabilities that a run may need until its end: all of uses, because a run removes probes
// through paths of tracefs and places them again in newly deployed files; CAP_DAC_READ_SEARCH for binaries
// that not everybody may read; CAP_PERFMON to place probes in single processes; CAP_SYS_NICE to disarm probes of hot
// functions while the CPUs are busy; and CAP_NET_BIND_SERVICE for addresses that flags name.
func needed() (all uint64) {
	for _, u := range uses {
		all |= u.bit
	}
	return all | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_PERFMON | 1<<unix.CAP_SYS_NICE | 1<<unix.CAP_NET_BIND_SERVICE
}

// effective returns the effective capabilities of this process, as a bit mask.
func effective() (uint64, error) {
	data, err := get()
	return uint64(data[1].Effective)<<32 | uint64(data[0].Effective), err
}

// get returns the result of capget(2): the low 32 capabilities, then the high ones.
func get() (data [2]unix.CapUserData, err error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	if err := unix.Capget(&header, &data[0]); err != nil {
		return data, fmt.Errorf("get capabilities: %w", err)
	}
	return data, nil
}

// Drop drops all capabilities that no run needs, on all threads. Neither this process nor a program that it
// executes can get them back. In a program with cgo it returns ENOTSUP and drops nothing, because Go can't
// make a system call on all threads there.
func Drop() error {
	data, err := get()
	if err != nil {
		return err
	}
	for i := range data {
		keep := uint32(needed() >> (32 * i))
		data[i].Effective &= keep
		data[i].Permitted &= keep
		data[i].Inheritable &= keep
	}
	// Without PR_SET_NO_NEW_PRIVS, root gets all capabilities back when it executes a file
	// (cap_bprm_creds_from_file in security/commoncap.c, Linux 6.12).
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return fmt.Errorf("forbid new privileges: %w", errno)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data[0])), 0)
	if errno != 0 {
		return fmt.Errorf("drop capabilities: %w", errno)
	}
	return nil
}
