package parse

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// RecordingVersion is that of the format which [OpenRecording] reads.
const RecordingVersion = 3

// oldestVersion is the oldest that it still reads: version 2 has no window.
const oldestVersion = 2

// ErrNoRecording: the text does not begin like a recording.
var ErrNoRecording = errors.New("no recording of ftgo")

// About is what a recording says before anything has been traced: one line of JSON that is
// made where the binary is.
type About struct {
	// Made is the version of ftgo, Command what it was recorded for: "probe", "count" or
	// "trace".
	Made    string `json:"made"`
	Command string `json:"command"`
	// Binary is the file that was planned for.
	Binary RecordedFile `json:"binary"`
	// Asked is whatever the plan was made from; the command that made it knows.
	Asked json.RawMessage `json:"asked"`
	// Plan is for [uprobe.ReadPlan].
	Plan json.RawMessage `json:"plan"`
}

// RecordedFile identifies a file.
type RecordedFile struct {
	Path    string `json:"path"`
	Size    int64  `json:"size"`
	BuildID string `json:"build_id,omitempty"`
	SHA256  string `json:"sha256"`
}

// Recording is a trace in a file, with what it takes to read it:
//
//	# ftgo-recording 3 NONCE
//	# about {...}
//	# FACT VALUE
//	# clock first|armed NS TICKS NS
//	# began NONCE
//	the kernel's lines
//	# ended NONCE
//	# clock ended NS TICKS NS
//	# lost N
//	# clock from|until NS TICKS NS
//	# from|until EVENT HITS
//	# pass from|until NS
//	# profile EVENT HITS
//	# noted first|ended TID PID
//	# complete NONCE
//
// NONCE is that of the events' names, which is longer than a thread's name: no traced
// program can forge a line that has it.
//
// A Recording is a [Source]; everything in it may be wrong, but for what About, Plan and
// Profile have been checked for.
type Recording struct {
	About About
	Plan  *uprobe.Plan
	// Facts are what the machine it was made on has said of itself: "kernel", "path",
	// "program", "trace-clock", "buffer-kb", "wall".
	Facts map[string]string
	// First, Armed and Ended are readings of the clocks; of several at a time the closest.
	First, Armed, Ended ClockReading
	// From and Until are the ends of the window that its numbers are of; their Hits are nil
	// in a recording of version 2, or one that was cut off.
	From, Until Moment
	// Complete: it has the end that a recording should have.
	Complete bool

	nonce   string
	events  io.Reader
	profile [][]uint64
	lost    uint64
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

// ClockReading is one simultaneous reading of CLOCK_MONOTONIC and of the trace clock, in
// the units of Event.Time; the zero value is none.
type ClockReading struct {
	NS    int64
	Ticks uint64
	// Width is how long the reading took: NS is good to half of it.
	Width time.Duration
	back  bool // it is less than one before
}

// Moment is when the kernel's counters were read: Hits as [Recording.Profile] has them, in
// a pass that took Width from Clock on.
type Moment struct {
	Clock ClockReading
	Hits  [][]uint64
	Width time.Duration
}

// OpenRecording reads all of a recording but its events, which [Recording.Read] gives.
func OpenRecording(from io.ReaderAt, size int64) (*Recording, error) {
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
	version := 0
	if n, _ := fmt.Sscanf(line, "# ftgo-recording %d %s", &version, &r.nonce); n != 2 {
		return fmt.Errorf("read recording: %w: it begins with %q", ErrNoRecording, shorten(line))
	}
	if version < oldestVersion || version > RecordingVersion {
		return fmt.Errorf("read recording: of version %d, not %d to %d", version, oldestVersion, RecordingVersion)
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
	if err := json.Unmarshal([]byte(text), &r.About); err != nil {
		return fmt.Errorf("read recording: what it is about: %w", err)
	}
	r.Plan, err = uprobe.ReadPlan(r.About.Plan)
	return err
}

// clock reads "LABEL NS TICKS NS".
func (r *Recording) clock(text string) error {
	var label, ticks string
	var before, after int64
	if n, _ := fmt.Sscanf(text, "%s %d %s %d", &label, &before, &ticks, &after); n != 4 || after < before {
		return fmt.Errorf("read recording: clock %q", shorten(text))
	}
	t, err := parseTicks(ticks)
	if err != nil {
		return fmt.Errorf("read recording: clock %q: %w", shorten(text), err)
	}
	at := map[string]*ClockReading{"first": &r.First, "armed": &r.Armed, "ended": &r.Ended, "from": &r.From.Clock, "until": &r.Until.Clock}[label]
	if at == nil {
		return fmt.Errorf("read recording: clock %q", shorten(text))
	}
	// Shells read digit by digit, while the clock goes on: between the digits of 1999 and of
	// 2003 that gives 1003, never too much. If all of a time went back, the clock did.
	r.newest = max(r.newest, t)
	now := ClockReading{before + (after-before)/2, t, time.Duration(after - before), t < r.newest}
	if *at == (ClockReading{}) || at.back && !now.back || at.back == now.back && now.Width < at.Width {
		*at = now
	}
	return nil
}

// Read is that of a [Source].
func (r *Recording) Read(ctx context.Context, buf []byte) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	return r.events.Read(buf)
}

// Process is for [Stream.Process]: before the kernel has switched away from a thread once it
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
