// Package recording writes and reads the format that docs/recording.md specifies. The shell script of a [Script] writes
// a recording on a machine without ftgo, and [Open] reads it.
//
// The names of all events contain a NONCE, a random text, and are longer than the name of a thread. So a traced
// program, which can choose the names of its threads, can't forge a line of an event.
package recording

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// version is the version of the format that scripts write and [Open] reads.
const version = 5

// ErrNone is the error for a file that does not begin like a recording.
var ErrNone = errors.New("no recording of ftgo")

// About is the second line of a recording. It comes from the command ftgo script.
type About struct {
	Version string `json:"made"`              // of ftgo
	Command string `json:"command"`           // the command that the recording is for: "probe", "count" or "trace"
	Binary  File   `json:"binary"`            // the file to probe
	Symbols *File  `json:"symbols,omitempty"` // the file with the symbols, nil if Binary has them
	// Flags and Patterns are the words of ftgo script's command line that the plan was made from: the flags as
	// --NAME=VALUE, and each FUNC. The plan can be made again from them and from its Options.
	Flags     []string     `json:"flags,omitempty"`
	Patterns  []string     `json:"patterns"`
	Processor string       `json:"processor"`         // Script.Text sets it
	Skipped   [][2]string  `json:"skipped,omitempty"` // names of functions left out of the plan, and the reasons; Script.Text sets them
	Plan      *uprobe.Plan `json:"plan"`
}

// File identifies a file.
type File struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	BuildID string `json:"build_id,omitempty"`
	SHA256  string `json:"sha256"`
}

// maxFile is the maximum size in bytes of a file that Unchanged reads. No binary is that large, but /proc/kcore claims
// to have 128 TB.
const maxFile = 1 << 35

// Unchanged reports whether the file at Path still has the same content.
func (f *File) Unchanged() bool {
	info, err := os.Stat(f.Path) // before opening it, because opening a device may have effects
	if err != nil || !info.Mode().IsRegular() || info.Size() != f.Size || f.Size > maxFile {
		return false
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return false
	}
	defer file.Close()
	sha := sha256.New()
	_, err = io.Copy(sha, file)
	return err == nil && hex.EncodeToString(sha.Sum(nil)) == f.SHA256
}

// Open opens the binary at a path. It returns an error if the binary's content differs from f.
func (f *File) Open(path string) (*offsets.Binary, error) {
	b, err := offsets.Open(path)
	if err != nil {
		return nil, err
	}
	_, sum, err := b.File().Checksum()
	if err == nil && sum != f.SHA256 {
		err = fmt.Errorf("%s: not the binary that was traced: its build ID is %q, that one's was %q", path, b.File().BuildID(), f.BuildID)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Recording is a recording in a file. It is a source for [github.com/ftgo/ftgo/internal/pairing.NewStream]. The file
// may be forged. Open has checked that Plan and Profile are valid, but not that they are true.
type Recording struct {
	About
	// Facts describe the machine and the run: "kernel", "path", "program", "trace-clock", "buffer-kb", "wall", "host".
	Facts    map[string]string
	Complete bool // the recording was not cut off

	// moments holds the most accurate reading of the clocks for each label. "from" and "until" are the begin and end of
	// the window; the hits of both are nil if the recording was cut off or lacks counters.
	moments map[string]*moment
	nonce   string
	events  *io.SectionReader
	profile [][]uint64
	lost    uint64
	newest  uint64 // the latest reading of the trace clock
	// pids maps each thread to its process, 0 if unknown. single is the only process, 0 if several processes or no
	// process is known.
	pids   map[int]int
	single int
	// noted["first"] and noted["ended"] map threads to processes, by the kernel's table when the recording began and
	// ended. Threads with the same process in both are left out. See [Recording.correct].
	noted map[string]map[int]int
}

var facts = []string{"kernel", "path", "program", "trace-clock", "buffer-kb", "wall", "host"}

// Open reads a recording of size bytes. It keeps no events: [Recording.Read] returns them.
func Open(from io.ReaderAt, size int64) (*Recording, error) {
	r := &Recording{
		Facts: make(map[string]string), pids: make(map[int]int), noted: map[string]map[int]int{"first": {}, "ended": {}},
		moments: map[string]*moment{"first": {}, "armed": {}, "ended": {}, "from": {}, "until": {}},
	}
	lines := &lineReader{r: bufio.NewReaderSize(io.NewSectionReader(from, 0, size), maxLine)}
	if err := r.header(lines); err != nil {
		return nil, err
	}
	if err := r.scan(from, lines); err != nil {
		return nil, err
	}
	return r, nil
}

// header reads the lines before the events.
func (r *Recording) header(lines *lineReader) error {
	line, err := lines.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	v := 0
	if n, _ := fmt.Sscanf(line, "# ftgo-recording %d %s", &v, &r.nonce); n != 2 {
		return fmt.Errorf("read recording: %w: it begins with %q", ErrNone, shorten(line))
	}
	if v != version {
		line, _ := lines.next() // after an error, the version of ftgo is ""
		var about struct{ Made string }
		json.Unmarshal([]byte(strings.TrimPrefix(line, aboutKey)), &about)
		return fmt.Errorf("read recording: it has version %d of the format, not %d: read it with the ftgo that made it, version %q", v, version, shorten(about.Made))
	}
	err = lines.keys("header has", "began "+r.nonce, func(_, key, value string) error {
		switch {
		case key == "about":
			return r.about(value)
		case key == "clock":
			return r.clock(value)
		case slices.Contains(facts, key):
			r.Facts[key] = value
		}
		return nil
	})
	switch {
	case errors.Is(err, io.EOF):
		return errors.New("read recording: it ends before its events begin")
	case err == nil && r.Plan == nil:
		return errors.New("read recording: it has no plan")
	}
	return err
}

// about parses the line with About and the plan.
func (r *Recording) about(text string) error {
	if err := json.Unmarshal([]byte(text), &r.About); err != nil {
		return fmt.Errorf("read recording: description: %w", err)
	}
	if err := r.readPlan(); err != nil {
		return fmt.Errorf("read plan: %w", err)
	}
	return nil
}

// Read reads the lines of events.
func (r *Recording) Read(ctx context.Context, buf []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return r.events.Read(buf)
}

// Process returns the process of a thread. printed is the PID in a line of the thread. Until the kernel has switched
// away from a new thread once, it prints no PID, or the PID of an earlier thread with the same ID. So Process prefers
// the PID in the last line of the thread, corrected by the kernel's table at the end of the recording.
func (r *Recording) Process(tid, printed int) int {
	if pid := r.pids[tid]; pid != 0 {
		return pid
	}
	if printed != 0 {
		return printed
	}
	return r.single
}

// Profile returns the kernel's count of hits at each site of each event, nil if the recording is not complete.
func (r *Recording) Profile() ([][]uint64, error) { return r.profile, nil }

// Overruns returns the number of events that the ring buffer has lost.
func (r *Recording) Overruns() (uint64, error) { return r.lost, nil }

// shorten cuts a text from a recording to 60 bytes, for an error message.
func shorten(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
