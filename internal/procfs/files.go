package procfs

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"syscall"

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

// SameFile reports whether two paths lead to the same file for the kernel's probes. Each mount of overlayfs, as
// containers have, shows a file of a shared layer with another device number.
func SameFile(path, other string) bool {
	a, err := os.Stat(path)
	b, berr := os.Stat(other)
	if err != nil || berr != nil {
		return false
	}
	return sameFile(path, other, a, b)
}

// sameFile is SameFile with the results of os.Stat. Overlayfs shows the number and times of the layer's file (ovl_getattr in
// fs/overlayfs/inode.c), and maps that file into processes.
func sameFile(path, other string, a, b os.FileInfo) bool {
	x, y := a.Sys().(*syscall.Stat_t), b.Sys().(*syscall.Stat_t)
	alike := a.Mode().IsRegular() && x.Ino == y.Ino && x.Mode == y.Mode && x.Size == y.Size && x.Mtim == y.Mtim && x.Ctim == y.Ctim
	return os.SameFile(a, b) || alike && (inOverlay(path) || inOverlay(other))
}

// Inode identifies a file as the kernel's probes do.
type Inode struct {
	Device, Number uint64
	// Changed is the time of the file's last change (ctime) in nanoseconds if Device is overlayfs, and 0 otherwise.
	Changed int64
}

// overlayfs is the Device of all files in overlayfs.
const overlayfs = unix.OVERLAYFS_SUPER_MAGIC

func inOverlay(path string) bool {
	var system syscall.Statfs_t
	return syscall.Statfs(path, &system) == nil && system.Type == overlayfs
}

// InodeOf returns the Inode of the file at a path. info is the result of os.Stat. In every mount of overlayfs, a file
// of a layer has the number and times of the layer's file. If a container changes
// the file, the container gets a copy with another time. Folders are identified by their mount, because their contents
// differ. In overlayfs, the Inode also changes when the file's mode or names change, because these set its ctime.
// Then call [OpenInode] again.
func InodeOf(path string, info os.FileInfo) Inode {
	stat := info.Sys().(*syscall.Stat_t)
	if info.Mode().IsRegular() && inOverlay(path) {
		return Inode{overlayfs, stat.Ino, stat.Ctim.Nano()}
	}
	return Inode{Device: stat.Dev, Number: stat.Ino}
}

// OpenInode returns the present Inode of an open file.
func OpenInode(file *os.File) (inode Inode, err error) {
	info, err := file.Stat()
	if err == nil {
		inode = InodeOf(fmt.Sprintf("/proc/self/fd/%d", file.Fd()), info)
	}
	return inode, err
}
