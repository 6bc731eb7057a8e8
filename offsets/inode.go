package offsets

import "syscall"

// Inode is the file's number in its file system.
func (b *Binary) Inode() uint64 {
	if st, ok := b.stat.Sys().(*syscall.Stat_t); ok {
		return st.Ino
	}
	return 0
}
