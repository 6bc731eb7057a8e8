package procfs

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Mapping is a range of a process's addresses, which may show a file.
type Mapping struct {
	Start, End uint64
	// Offset is what Start shows of the file; Inode is the file's number, 0 for none.
	Offset, Inode uint64
}

// MappedFile is a mapping that shows a file.
type MappedFile struct {
	Mapping
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
func MappedFiles(folder string) ([]MappedFile, error) {
	b, err := os.ReadFile(filepath.Join(folder, "maps"))
	if err != nil {
		return nil, err
	}
	var files []MappedFile
	err = eachMapping(string(b), mayExecute, func(m MappedFile) {
		if m.Path != "" {
			files = append(files, m)
		}
	})
	return files, err
}

func parseMappings(text, permission string) ([]Mapping, error) {
	var all []Mapping
	if err := eachMapping(text, permission, func(m MappedFile) { all = append(all, m.Mapping) }); err != nil {
		return nil, err
	}
	return all, nil
}

// eachMapping goes through lines "START-END PERM OFFSET DEV INODE PATH", numbers in
// hexadecimal but for INODE (proc_pid_maps(5)).
func eachMapping(text, permission string, visit func(MappedFile)) error {
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
		start, end, ok := strings.Cut(f[0], "-")
		m := MappedFile{Device: f[3], Path: path}
		var err1, err2, err3, err4 error
		m.Start, err1 = strconv.ParseUint(start, 16, 64)
		m.End, err2 = strconv.ParseUint(end, 16, 64)
		m.Offset, err3 = strconv.ParseUint(f[2], 16, 64)
		m.Inode, err4 = strconv.ParseUint(f[4], 10, 64)
		if !ok || err1 != nil || err2 != nil || err3 != nil || err4 != nil {
			return fmt.Errorf("parse mapping %q: not START-END PERM OFFSET DEV INODE", line)
		}
		visit(m)
	}
	return nil
}
