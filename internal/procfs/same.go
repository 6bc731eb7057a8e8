package procfs

import (
	"encoding/binary"
	"fmt"
	"os"
	"syscall"
	"unsafe"
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

func sameFile(path, other string, a, b os.FileInfo) bool {
	alike := a.Mode().IsRegular() && a.Mode() == b.Mode() && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
	return os.SameFile(a, b) || alike && (InodeOf(path, a) == InodeOf(other, b) || samePage(path, other))
}

// Inode identifies a file as the kernel's probes do.
type Inode struct {
	Device, Number uint64
	// Changed is the time of the file's last change (ctime) in nanoseconds if Device is overlayfs, and 0 otherwise.
	Changed int64
}

// overlayfs is the Device of all files in overlayfs. It is the type in statfs(2) (include/uapi/linux/magic.h).
const overlayfs = 0x794c7630

// InodeOf returns the Inode of the file at a path. info is the result of os.Stat. In every mount of overlayfs, a file
// of a layer has the number and times of the layer's file (ovl_getattr in fs/overlayfs/inode.c). If a container changes
// the file, the container gets a copy with another time. Folders are identified by their mount, because their contents
// differ. In overlayfs, the Inode also changes when the file's mode or names change, because these set its ctime.
// Then call [OpenInode] again.
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

// OpenInode returns the present Inode of an open file.
func OpenInode(file *os.File) (inode Inode, err error) {
	info, err := file.Stat()
	if err == nil {
		inode = InodeOf(fmt.Sprintf("/proc/self/fd/%d", file.Fd()), info)
	}
	return inode, err
}

// samePage reports whether the first pages of two files are the same page of memory. overlayfs maps the layer's file
// (ovl_mmap in fs/overlayfs/file.c, since Linux 4.19), and uprobes use that file, too. It returns false without
// CAP_SYS_ADMIN, because the kernel then hides the numbers of pages.
func samePage(path, other string) bool {
	a, b := mapPage(path), mapPage(other)
	defer syscall.Munmap(a)
	defer syscall.Munmap(b)
	for range 3 { // the kernel may move the page between two reads
		before := frame(a)
		if same := frame(b); before != 0 && same == before && frame(a) == before {
			return true
		}
	}
	return false
}

// mapPage maps the first page of a file. It returns nil after an error.
func mapPage(path string) []byte {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	page, _ := syscall.Mmap(int(file.Fd()), 0, os.Getpagesize(), syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_POPULATE)
	return page
}

// frame returns the number of the physical page of a virtual page of this process, or 0 if it is unknown
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
