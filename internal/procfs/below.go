package procfs

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLinks is the maximum number of symbolic links in a path, as in the kernel (MAXSYMLINKS).
const maxLinks = 40

// OpenBelow opens a regular file at a path as a process with this root folder does: symbolic links and ".." do not lead
// out of root. resolved is the file's path in root, without links. OpenBelow opens the folders of the path one by one,
// each relative to the folder before, because Linux before 5.6 has no openat2.
func OpenBelow(root, path string) (file *os.File, resolved string, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("open %q in %s: %w", path, root, err)
		}
	}()
	const flags = unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC
	top, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", err
	}
	at, names := []int{top}, []string(nil) // the open folders of the path, and their names without root's
	up := func() {
		unix.Close(at[len(at)-1])
		at, names = at[:len(at)-1], names[:len(names)-1]
	}
	defer func() {
		for len(names) > 0 {
			up()
		}
		unix.Close(top)
	}()
	left, links := strings.Split(path, "/"), 0
	for len(left) > 0 {
		name := left[0]
		left = left[1:]
		switch {
		case name == "" || name == ".":
			continue
		case name == "..":
			if len(names) > 0 {
				up()
			}
			continue
		}
		fd, err := unix.Openat(at[len(at)-1], name, flags, 0)
		if err != nil {
			return nil, "", err
		}
		at, names = append(at, fd), append(names, name)
		text, isLink, err := linkText(fd)
		switch {
		case err != nil:
			return nil, "", err
		case !isLink:
			continue
		case links == maxLinks:
			return nil, "", unix.ELOOP
		}
		links++
		up()
		for strings.HasPrefix(text, "/") && len(names) > 0 {
			up()
		}
		left = append(strings.Split(text, "/"), left...)
	}
	// Only a regular file is opened for reading, because opening a pipe or a device has effects.
	var stat unix.Stat_t
	found := at[len(at)-1]
	if err := unix.Fstat(found, &stat); err != nil {
		return nil, "", err
	} else if stat.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, "", errors.New("no regular file")
	}
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", found), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", err
	}
	resolved = "/" + strings.Join(names, "/")
	return os.NewFile(uintptr(fd), resolved), resolved, nil
}

// linkText returns the target of a symbolic link. fd is a descriptor of the link itself.
func linkText(fd int) (text string, isLink bool, err error) {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil || stat.Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", false, err
	}
	var buf [unix.PathMax]byte
	n, err := unix.Readlinkat(fd, "", buf[:])
	return string(buf[:max(n, 0)]), true, err
}

// Root returns the root folder of a process. [OpenBelow] opens the process's paths in it.
func Root(pid int) string { return folder(LiveThread(pid)) + "/root" }
