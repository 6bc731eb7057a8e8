// Package recording has both ends of the format that docs/recording.md specifies: the shell script
// of a [Script] writes a recording on a machine without ftgo, and [Open] reads it.
//
// All events are named by a NONCE, which is longer than a thread's name: no traced program can
// forge a line that has it.
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

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// Options are what a recording's plan was made from, for the same plan to be made again.
type Options struct {
	Patterns []string `json:"patterns"`
	Regexp   bool     `json:"regexp,omitempty"`
	Exclude  []string `json:"exclude,omitempty"`
	Errors   bool     `json:"errors,omitempty"`
	Stack    int      `json:"stack,omitempty"`
	StrLen   int      `json:"strlen,omitempty"`
	Items    int      `json:"items,omitempty"`
	Where    string   `json:"where,omitempty"`
	Inside   string   `json:"inside,omitempty"`
	Entries  bool     `json:"entries,omitempty"`
	By       string   `json:"by,omitempty"`
	Sum      string   `json:"sum,omitempty"`
	// Budget is what probes may take of a CPU, in percent; 0 is no limit.
	Budget   float64          `json:"budget,omitempty"`
	Features tracefs.Features `json:"features"`
	// NoWrappers: wildcards left out wrappers.
	NoWrappers bool `json:"no_wrappers,omitempty"`
	// Named and InsideFuncs are indices of the plan's functions; OnlyInside are those of the
	// latter that were not asked for otherwise.
	Named       []int `json:"named,omitempty"`
	InsideFuncs []int `json:"inside_funcs,omitempty"`
	OnlyInside  []int `json:"only_inside,omitempty"`
	// Wrappers are those that --fail-if does not look at.
	Wrappers []int `json:"wrappers,omitempty"`
	// Skipped are those left out of the plan, and why.
	Skipped [][2]string `json:"skipped,omitempty"`
}

// version is the version of the format that scripts write and [Open] reads.
const version = 4

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
	// Symbols is the file that described it, nil if it did so itself.
	Symbols *File `json:"symbols,omitempty"`
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

// maxFile is more than any file has that describes a program: /proc/kcore claims to have 128 TB.
const maxFile = 1 << 35

// Here tells whether the file is where it was, and the same.
func (f *File) Here() bool {
	info, err := os.Stat(f.Path) // no device is opened
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

// Open opens the binary at a path. It is an error if it is not the file that was recorded.
func (f *File) Open(path string) (*offsets.Binary, error) {
	b, err := offsets.Open(path)
	if err != nil {
		return nil, err
	}
	sums, err := b.File().Checksums()
	if err == nil && sums.SHA256 != f.SHA256 {
		err = fmt.Errorf("%s: not the binary that was traced: its build ID is %q, that one's was %q", path, b.File().BuildID(), f.BuildID)
	}
	if err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

// Recording is a trace in a file, with what it takes to read it. It is a source for
// [github.com/ftgo/ftgo/internal/pairing.NewStream]; everything in it may be wrong, but for what About, Plan
// and Profile have been checked for.
type Recording struct {
	About About
	Plan  *uprobe.Plan
	// Facts are what the machine it was made on has said of itself: "kernel", "path",
	// "program", "trace-clock", "buffer-kb", "wall", "host".
	Facts map[string]string
	// Complete: it has the end that a recording should have.
	Complete bool
	// Disarmed are functions that were not recorded to the end, because they took too much.
	Disarmed []Disarmed

	// moments are by their labels: readings of the clocks, of several at a time the closest. "from"
	// and "until" are the ends of the window that its numbers are of; their hits are nil
	// in a recording that was cut off, or lacks counters.
	moments map[string]*moment
	nonce   string
	events  *io.SectionReader
	profile [][]uint64
	lost    uint64
	// newest is the latest reading of the trace clock.
	newest uint64
	// pids are the processes of threads, 0 where unknown; single is the only one there was,
	// 0 if there was none or more.
	pids   map[int]int
	single int
	// noted are, "first" and when it "ended", the processes of threads that the kernel has noted anew
	// meanwhile, see [Recording.correct].
	noted map[string]map[int]int
}

// Disarmed are functions whose probes were taken out together, at a time of the trace clock.
type Disarmed struct {
	Funcs []int // by their index in the plan
	From  uint64
}

var facts = []string{"kernel", "path", "program", "trace-clock", "buffer-kb", "wall", "host"}

// Open reads all of a recording but its events, which [Recording.Read] gives.
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

func (r *Recording) header(lines *lineReader) error {
	line, err := lines.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	of := 0
	if n, _ := fmt.Sscanf(line, "# ftgo-recording %d %s", &of, &r.nonce); n != 2 {
		return fmt.Errorf("read recording: %w: it begins with %q", ErrNone, shorten(line))
	}
	if of != version {
		return otherVersion(of, lines)
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

// otherVersion refuses a recording of another version, and names the ftgo that wrote and reads it.
func otherVersion(of int, lines *lineReader) error {
	line, _ := lines.next() // an error leaves the name out
	var about struct{ Made string }
	json.Unmarshal([]byte(strings.TrimPrefix(line, aboutKey)), &about)
	return fmt.Errorf("read recording: it has version %d of the format, not %d: read it with the ftgo that made it, version %q", of, version, shorten(about.Made))
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
