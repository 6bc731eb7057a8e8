package tracefs

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Mapping is an executable range of a process's addresses that shows a file.
type Mapping struct {
	Start, End uint64
	// Offset is the place in the file that Start shows; Inode is the file's number.
	Offset, Inode uint64
}

// Mappings reads the executable mappings of a process from /proc/PID/maps.
func Mappings(pid int) ([]Mapping, error) {
	file := fmt.Sprintf("/proc/%d/maps", pid)
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return parseMappings(string(b))
}

// parseMappings reads lines "START-END PERM OFFSET DEV INODE PATH", numbers in
// hexadecimal but for INODE (proc_pid_maps(5)).
func parseMappings(text string) ([]Mapping, error) {
	var out []Mapping
	for line := range strings.SplitSeq(text, "\n") {
		f := strings.Fields(line)
		if len(f) < 5 || !strings.Contains(f[1], "x") {
			continue
		}
		start, end, ok := strings.Cut(f[0], "-")
		var m Mapping
		var err1, err2, err3, err4 error
		m.Start, err1 = strconv.ParseUint(start, 16, 64)
		m.End, err2 = strconv.ParseUint(end, 16, 64)
		m.Offset, err3 = strconv.ParseUint(f[2], 16, 64)
		m.Inode, err4 = strconv.ParseUint(f[4], 10, 64)
		if !ok || err1 != nil || err2 != nil || err3 != nil || err4 != nil {
			return nil, fmt.Errorf("parse mapping %q: not START-END PERM OFFSET", line)
		}
		out = append(out, m)
	}
	return out, nil
}
