package procfs

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// SameFile tells whether two paths lead to what is one file to the kernel's probes. Mounts of overlayfs,
// as containers have, show a file of a layer that they share as another one each.
func SameFile(path, other string) bool {
	a, err := os.Stat(path)
	b, berr := os.Stat(other)
	if err != nil || berr != nil {
		return false
	}
	return sameFile(path, other, a, b)
}

func sameFile(path, other string, a, b os.FileInfo) bool {
	alike := a.Mode().IsRegular() && a.Mode() == b.Mode() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
	return os.SameFile(a, b) || alike && (InodeOf(path, a) == InodeOf(other, b) || samePage(path, other))
}

// Inode tells files apart as probes do.
type Inode struct {
	Device, Number uint64
	// Changed is when the file itself was, if Device is that of all mounts of overlayfs.
	Changed int64
}

// overlayfs is the Device of all files of its mounts, and what statfs(2) calls them (include/uapi/linux/magic.h).
const overlayfs = 0x794c7630

// InodeOf is that of the file at a path, which stat has said that of. A file of a layer has the number and the times that it has there
// (ovl_getattr in fs/overlayfs/inode.c), whichever mount shows it; one that a container has changed is a copy with another time. What is in
// a folder differs from mount to mount. A file has another Inode once its mode or its names change, so [OpenInode] has to be asked again.
func InodeOf(path string, info os.FileInfo) (inode Inode) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return inode
	}
	var system syscall.Statfs_t
	if info.Mode().IsRegular() && syscall.Statfs(path, &system) == nil && system.Type == overlayfs {
		return Inode{overlayfs, stat.Ino, stat.Ctim.Nano()}
	}
	return Inode{Device: stat.Dev, Number: stat.Ino}
}

// OpenInode is that of an open file, as it is now.
func OpenInode(file *os.File) (inode Inode, err error) {
	info, err := file.Stat()
	if err == nil {
		inode = InodeOf(fmt.Sprintf("/proc/self/fd/%d", file.Fd()), info)
	}
	return inode, err
}

// samePage tells whether the same page of memory holds the beginning of two files: overlayfs maps the
// file below (ovl_mmap in fs/overlayfs/file.c, since Linux 4.19), which uprobes go by, too. Who may not
// ask for pages' numbers (CAP_SYS_ADMIN) learns nothing.
func samePage(path, other string) bool {
	a, b := mapPage(path), mapPage(other)
	defer syscall.Munmap(a)
	defer syscall.Munmap(b)
	for range 3 { // the kernel may move a page meanwhile
		before := frame(a)
		if same := frame(b); before != 0 && same == before && frame(a) == before {
			return true
		}
	}
	return false
}

// mapPage maps the first page of a file, or nothing.
func mapPage(path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	page, _ := syscall.Mmap(int(file.Fd()), 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_POPULATE)
	return page
}

// frame is the number of the page of memory that holds a page of this process, 0 if it is not known
// (Documentation/admin-guide/mm/pagemap.rst).
func frame(page []byte) uint64 {
	pagemap, err := os.Open("/proc/self/pagemap")
	if err != nil || len(page) == 0 {
		return 0
	}
	defer pagemap.Close()
	const present, number = 1 << 63, 1<<55 - 1
	var entry [8]byte
	at := int64(uintptr(unsafe.Pointer(&page[0]))) / int64(len(page)) * 8
	if _, err := pagemap.ReadAt(entry[:], at); err != nil || binary.LittleEndian.Uint64(entry[:])&present == 0 {
		return 0
	}
	return binary.LittleEndian.Uint64(entry[:]) & number
}
