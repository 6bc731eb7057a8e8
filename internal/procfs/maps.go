package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Mapping is a range of a process's addresses, which may show a file.
type Mapping struct {
	Start, End uint64
	// Offset is what Start shows of the file; Inode is the file's number, 0 for none.
	Offset, Inode uint64
	// Device is MAJOR:MINOR, in hexadecimal.
	Device string
	// Path is as the process sees it, but for newlines, which are "\012" in it; where the
	// file was deleted, " (deleted)" follows.
	Path string
}

// The permissions that mappings are chosen by.
const (
	mayRead    = "r"
	mayExecute = "x"
)

// Mappings are the executable mappings of a process.
func Mappings(pid int) ([]Mapping, error) { return readMappings(pid, mayExecute) }

// readMappings reads the mappings that have a permission. A first thread that has ended has
// none, while other threads of its process still live.
func readMappings(pid int, permission string) ([]Mapping, error) {
	b, err := os.ReadFile(folder(pid) + "/maps")
	if len(b) == 0 { // which Linux 6.16 makes an error
		if tid := Executing(pid); tid != pid {
			b, err = os.ReadFile(folder(tid) + "/maps")
		}
	}
	if err != nil {
		return nil, err
	}
	return parseMappings(string(b), permission)
}

// MappedFiles are the files that a process executes, by the folder that /proc has of it: one
// for each mapping.
func MappedFiles(folder string) ([]Mapping, error) {
	b, err := os.ReadFile(filepath.Join(folder, "maps"))
	if err != nil {
		return nil, err
	}
	all, err := parseMappings(string(b), mayExecute)
	return slices.DeleteFunc(all, func(m Mapping) bool { return m.Path == "" }), err
}

// parseMappings reads lines "START-END PERM OFFSET DEV INODE PATH", numbers in
// hexadecimal but for INODE (proc_pid_maps(5)).
func parseMappings(text, permission string) (all []Mapping, err error) {
	for line := range strings.SplitSeq(text, "\n") {
		head, path := line, ""
		if slash := strings.IndexByte(line, '/'); slash >= 0 {
			head, path = line[:slash], line[slash:]
		}
		f := strings.Fields(head)
		if len(f) < 5 || !strings.Contains(f[1], permission) {
			continue
		}
		if len(f) > 5 { // "[heap]", or the like with a slash in it
			path = ""
		}
		start, end, _ := strings.Cut(f[0], "-")
		m := Mapping{Device: f[3], Path: path}
		for _, n := range []struct {
			to   *uint64
			text string
			base int
		}{{&m.Start, start, 16}, {&m.End, end, 16}, {&m.Offset, f[2], 16}, {&m.Inode, f[4], 10}} {
			if *n.to, err = strconv.ParseUint(n.text, n.base, 64); err != nil {
				return nil, fmt.Errorf("parse mapping %q: not START-END PERM OFFSET DEV INODE", line)
			}
		}
		all = append(all, m)
	}
	return all, nil
}
