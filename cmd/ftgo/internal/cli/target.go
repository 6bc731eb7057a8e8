package cli

import (
	"os"
	"strings"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
)

// Target is the flags that say what is traced, and BINARY FUNC...
type Target struct{ target.Query }

// Define defines the flags that say what patterns mean.
func (q *Target) Define(fs *Flags) {
	fs.BoolVarP(&q.Regexp, "regexp", "r", false, "take patterns as regular expressions (RE2, unanchored)")
	fs.StringArrayVarP(&q.Exclude, "exclude", "x", nil, "leave out functions that match `PATTERN`")
}

// DefineProcesses defines -p.
func (q *Target) DefineProcesses(fs *Flags) {
	fs.IntSliceVarP(&q.PIDs, "pid", "p", nil, "trace process `PID`; BINARY defaults to its executable")
}

// DefineInside defines --inside.
func (q *Target) DefineInside(fs *Flags) {
	fs.StringVar(&q.Inside, "inside", "", "show only calls that `FUNC` makes, directly or not")
}

// Check refuses numbers that are none of processes.
func (q *Target) Check(command string) error {
	for _, pid := range q.PIDs {
		if pid <= 0 {
			return Usage("%s: -p %d: not a process id", command, pid)
		}
	}
	return nil
}

// Words reads BINARY FUNC...
func (q *Target) Words(command string, words []string) error {
	if err := q.Check(command); err != nil {
		return err
	}
	// With -p the binary is known, but people name it all the same.
	if len(words) > 0 && (len(q.PIDs) == 0 || IsFile(words[0])) {
		q.Binary, words = words[0], words[1:]
	} else if len(q.PIDs) > 0 {
		q.Binary, q.Own = procfs.Exe(q.PIDs[0]), true
	}
	q.Funcs = words
	switch {
	case q.Binary == "":
		return Usage("%s: no BINARY (see ftgo %s -h)", command, command)
	case len(q.Funcs) == 0:
		return Usage("%s: no FUNC (see ftgo %s -h; '*' is all)", command, command)
	}
	return nil
}

// IsFile tells whether a word is the path of a file, and no pattern.
func IsFile(word string) bool {
	if !strings.Contains(word, "/") {
		return false
	}
	info, err := os.Stat(word)
	return err == nil && info.Mode().IsRegular()
}
