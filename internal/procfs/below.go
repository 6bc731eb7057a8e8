package procfs

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is the maximum number of symbolic links in a path, as in the kernel (MAXSYMLINKS).
const maxLinks = 40

// OpenBelow opens a regular file at a path as a process with this root folder does: symbolic links and ".." do not lead
// out of root. resolved is the file's path in root, without links. OpenBelow follows links itself, because [os.Root] refuses
// absolute ones. If a program changes the path meanwhile, os.Root still keeps OpenBelow in root.
func OpenBelow(root, name string) (file *os.File, resolved string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("open %q in %s: %w", name, root, err)
		}
	}()
	top, err := os.OpenRoot(root)
	if err != nil {
		return nil, "", err
	}
	defer top.Close()
	resolved = "/"
	left, links := strings.Split(name, "/"), 0
	for len(left) > 0 {
		next := path.Join(resolved, left[0])
		left = left[1:]
		text, err := top.Readlink("." + next)
		if err != nil { // no link; if it does not exist, opening it fails
			resolved = next
			continue
		}
		if links++; links > maxLinks {
			return nil, "", unix.ELOOP
		}
		if path.IsAbs(text) {
			resolved = "/"
		}
		left = append(strings.Split(text, "/"), left...)
	}
	// Only a regular file is opened for reading, because opening a pipe or a device has effects.
	found, err := top.OpenFile("."+resolved, unix.O_PATH, 0)
	if err != nil {
		return nil, "", err
	}
	defer found.Close()
	if info, err := found.Stat(); err != nil {
		return nil, "", err
	} else if !info.Mode().IsRegular() {
		return nil, "", errors.New("no regular file")
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", found.Fd()), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", err
	}
	return os.NewFile(uintptr(fd), resolved), resolved, nil
}

// Root returns the root folder of a process. [OpenBelow] opens the process's paths in it.
func Root(pid int) string { return folder(LiveThread(pid)) + "/root" }
