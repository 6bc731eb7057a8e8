package tracefs

import (
	"os"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
)

// Neighbours are the other processes whose sessions probe the same file: what runs there hits the probes of all.
// Those of other pid namespaces are not among them.
func (s *Session) Neighbours() (pids []int) {
	b, _ := s.fs.files.Read(s.fs.path("uprobe_events")) // without, there are none
	looked := make(map[string]bool)
	for line := range strings.Lines(string(b)) {
		// p:GROUP/EVENT PATH:0xOFFSET VALUE... A session's path has no blank.
		group, rest, _ := strings.Cut(strings.TrimPrefix(line, "p:"), "/")
		_, rest, _ = strings.Cut(rest, " ")
		path, _, _ := strings.Cut(rest, ":")
		o, ok := parseOwner(group)
		if !ok || looked[group+path] || o.PID == os.Getpid() || o.Space != procfs.OwnPIDs() {
			continue
		}
		looked[group+path] = true
		if file, own := strings.CutPrefix(path, "/proc/self/"); own {
			path = procfs.Own(o.PID, file)
		}
		if !slices.Contains(pids, o.PID) && procfs.SameFile(path, s.target.Path) {
			pids = append(pids, o.PID)
		}
	}
	return pids
}
