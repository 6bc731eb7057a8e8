package procfs

import (
	"fmt"
	"os"
	"syscall"
)

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

// overlayfs is the Device of all files in overlayfs. It is the type in statfs(2) (include/uapi/linux/magic.h).
const overlayfs = 0x794c7630

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
