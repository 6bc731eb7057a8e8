package files

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
)

// PipeReader is a process that has a trace_pipe open.
type PipeReader struct {
	PID int
	// Name is the process's, and Path the pipe's.
	Name, Path string
}

func (r PipeReader) String() string {
	return fmt.Sprintf("process %d (%s) closes %s", r.PID, r.Name, r.Path)
}

// Reads tells whether the pipe is one of an instance.
func (r PipeReader) Reads(instance string) bool {
	return strings.Contains(r.Path, "/instances/"+instance+"/")
}

// PipeReaders looks for them in /proc, which shows other users' to root, and from within a
// container only those there.
func (OS) PipeReaders() (all []PipeReader) {
	procfs.OpenFiles(func(pid int, path string) {
		if !strings.HasPrefix(filepath.Base(path), "trace_pipe") {
			return
		}
		if name, err := procfs.Name(pid); err == nil { // else it has just ended
			all = append(all, PipeReader{pid, name, path})
		}
	})
	return all
}
