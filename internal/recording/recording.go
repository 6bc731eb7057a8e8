package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/internal/uprobe"
)

// version is that of the format which scripts write and [Open] reads.
const version = 3

// oldestVersion is the oldest that it still reads: version 2 has no window.
const oldestVersion = 2

// ErrNone: the text does not begin like a recording.
var ErrNone = errors.New("no recording of ftgo")

// About is what a recording says before anything has been traced: one line of JSON that is
// made where the binary is.
type About struct {
	// Made is the version of ftgo, Command what it was recorded for: "probe", "count" or
	// "trace".
	Made    string `json:"made"`
	Command string `json:"command"`
	// Binary is the file that was planned for.
	Binary File `json:"binary"`
	// Options are what the plan was made from.
	Options Options `json:"asked"`
}

// aboutLine is an About with the plan.
type aboutLine struct {
	About
	Plan json.RawMessage `json:"plan"`
}

// File identifies a file.
type File struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	BuildID string `json:"build_id,omitempty"`
	SHA256  string `json:"sha256"`
}

// Recording is a trace in a file, with what it takes to read it. It is a source for
// [github.com/ftgo/ftgo/internal/parse.NewStream]; everything in it may be wrong, but for what About, Plan
// and Profile have been checked for.
type Recording struct {
	About About
	Plan  *uprobe.Plan
	// Facts are what the machine it was made on has said of itself: "kernel", "path",
	// "program", "trace-clock", "buffer-kb", "wall".
	Facts map[string]string
	// Complete: it has the end that a recording should have.
	Complete bool

	// first, armed and ended are readings of the clocks; of several at a time the closest.
	first, armed, ended clockReading
	// from and until are the ends of the window that its numbers are of; their hits are nil
	// in a recording of version 2, or one that was cut off.
	from, until moment
	nonce       string
	events      io.Reader
	profile     [][]uint64
	lost        uint64
	// newest is the latest reading of the trace clock.
	newest uint64
	// pids are the processes of threads, 0 where unknown; single is the only one there was,
	// 0 if there was none or more.
	pids   map[int]int
	single int
	// noted are threads whose process the kernel has noted anew meanwhile, see
	// [Recording.correct].
	noted map[int]struct{ first, ended int }
}

var facts = []string{"kernel", "path", "program", "trace-clock", "buffer-kb", "wall"}

// Open reads all of a recording but its events, which [Recording.Read] gives.
func Open(from io.ReaderAt, size int64) (*Recording, error) {
	r := &Recording{Facts: make(map[string]string), pids: make(map[int]int), noted: make(map[int]struct{ first, ended int })}
	lines := newLineReader(io.NewSectionReader(from, 0, size))
	if err := r.header(lines); err != nil {
		return nil, err
	}
	first := lines.offset
	last, err := r.scan(lines)
	if err != nil {
		return nil, err
	}
	r.events = io.NewSectionReader(from, first, last-first)
	return r, nil
}

func (r *Recording) header(lines *lineReader) error {
	line, err := lines.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	of := 0
	if n, _ := fmt.Sscanf(line, "# ftgo-recording %d %s", &of, &r.nonce); n != 2 {
		return fmt.Errorf("read recording: %w: it begins with %q", ErrNone, shorten(line))
	}
	if of < oldestVersion || of > version {
		return fmt.Errorf("read recording: of version %d, not %d to %d", of, oldestVersion, version)
	}
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("read recording: it ends before its events begin")
		}
		if err != nil {
			return err
		}
		key, value, _ := strings.Cut(strings.TrimPrefix(line, "# "), " ")
		switch {
		case !strings.HasPrefix(line, "# "):
			return fmt.Errorf("read recording: header has a line %q", shorten(line))
		case key == "began" && value == r.nonce:
			if r.Plan == nil {
				return errors.New("read recording: it has no plan")
			}
			return nil
		case key == "about":
			if err := r.about(value); err != nil {
				return err
			}
		case key == "clock":
			if err := r.clock(value); err != nil {
				return err
			}
		case slices.Contains(facts, key):
			r.Facts[key] = value
		}
	}
}

func (r *Recording) about(text string) (err error) {
	var line aboutLine
	if err := json.Unmarshal([]byte(text), &line); err != nil {
		return fmt.Errorf("read recording: what it is about: %w", err)
	}
	r.About = line.About
	r.Plan, err = readPlan(line.Plan)
	return err
}

// Read gives the lines of events.
func (r *Recording) Read(ctx context.Context, buf []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return r.events.Read(buf)
}

// Process finds the process of a thread: before the kernel has switched away from a thread once it
// does not know its process, or names that of an earlier thread of the same number. What
// the recording says of the thread last is right, with the kernel's notes at its end.
func (r *Recording) Process(tid, printed int) int {
	if pid := r.pids[tid]; pid != 0 {
		return pid
	}
	if printed != 0 {
		return printed
	}
	return r.single
}

// Profile is the kernel's count of hits at each site of each event; nil if the recording is
// not complete.
func (r *Recording) Profile() ([][]uint64, error) { return r.profile, nil }

// Overruns is the number of events that the ring buffer has lost.
func (r *Recording) Overruns() (uint64, error) { return r.lost, nil }

// shorten is a text that came from anywhere, for an error.
func shorten(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
