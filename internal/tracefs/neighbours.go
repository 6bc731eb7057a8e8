package tracefs

import (
	"os"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
)

// Neighbours returns the other processes whose sessions probe the same file. Each hit in that file runs the probes of
// all these sessions. Processes in other pid namespaces are left out.
func (s *Session) Neighbours() (pids []int) {
	b, _ := s.fs.files.Read(s.fs.path("uprobe_events")) // an unreadable file counts as empty
	looked := make(map[string]bool)
	for line := range strings.Lines(string(b)) {
		// The line is "p:GROUP/EVENT PATH:0xOFFSET VALUE...". The path of a session has no blank.
		group, rest, _ := strings.Cut(strings.TrimPrefix(line, "p:"), "/")
		_, rest, _ = strings.Cut(rest, " ")
		path, _, _ := strings.Cut(rest, ":")
		o, ok := parseOwner(group)
		if !ok || looked[group+path] || o.PID == os.Getpid() || o.Namespace != procfs.PIDNamespace() {
			continue
		}
		looked[group+path] = true
		if file, own := strings.CutPrefix(path, "/proc/self/"); own {
			path = procfs.SelfPath(o.PID, file)
		}
		if !slices.Contains(pids, o.PID) && procfs.SameFile(path, s.target.Path) {
			pids = append(pids, o.PID)
		}
	}
	return pids
}
