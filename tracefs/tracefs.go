// Package tracefs counts and records what is executed at instructions of files, through the kernel's
// uprobe_events: it defines probes, runs a session in an instance of its own, reads the ring buffer
// and the hit counters, and leaves nothing behind.
//
// It knows the kernel's files and nothing of Go or of ELF: what is probed comes in as a path and file
// offsets ([Event]), what was hit goes out as the kernel's own text, or bytes. Package offsets
// decides which instruction deserves a probe, package parse what a line means.
//
// The only probe it can express is a plain "p:" one. A return probe ("r:") would
// rewrite return addresses on a stack that Go's runtime walks and moves.
package tracefs

import (
	"context"

	"github.com/ftgo/ftgo/internal/tracefs"
)

// Errors that callers tell apart.
var (
	// ErrNotMounted: no directory has the files of tracefs.
	ErrNotMounted = tracefs.ErrNotMounted
	// ErrNotSupported: the kernel lacks what was asked for.
	ErrNotSupported = tracefs.ErrNotSupported
	// ErrRefused: the kernel refused a definition.
	ErrRefused = tracefs.ErrRefused
	// ErrRemains: a session was not removed whole. [FS.Sweep] tries again when the process has ended.
	ErrRemains = tracefs.ErrRemains
)

// Event is a named set of probes: the values they fetch, and the places where they fire.
type Event = tracefs.Event

// Arg is one fetched value.
type Arg = tracefs.Arg

// FS is a mounted tracefs.
type FS struct{ fs *tracefs.FS }

// Find returns the mounted tracefs, or an error that is [ErrNotMounted].
func Find() (*FS, error) {
	fs, err := tracefs.Find()
	if err != nil {
		return nil, err
	}
	return &FS{fs}, nil
}

// Sweep removes what sessions of processes that are no more have left in the kernel, and returns the
// names of those that are gone.
func (f *FS) Sweep() (gone []string, err error) {
	leftovers, err := f.fs.Sweep()
	for _, l := range leftovers {
		gone = append(gone, l.Name)
	}
	return gone, err
}

// Session is a set of events in an instance of their own, from definition to removal. Close must
// always be called.
type Session struct{ s *tracefs.Session }

// Start defines events in the file at path, arms them, and begins recording. Events are armed from the
// last to the first and disarmed from the first to the last, so that a caller who puts the entries of
// functions first and their returns last never sees an entry whose return was not yet, or no longer,
// armed. On error nothing remains in the kernel.
func Start(ctx context.Context, f *FS, path string, events []Event) (*Session, error) {
	s, err := tracefs.Start(ctx, f.fs, tracefs.Target{Path: path}, events, tracefs.Options{})
	if err != nil {
		return nil, err
	}
	return &Session{s}, nil
}

// Read fills buf with lines of trace_pipe. 0, nil means that there was nothing for a moment; io.EOF
// comes when the session has been stopped and everything recorded has been read.
func (s *Session) Read(ctx context.Context, buf []byte) (int, error) { return s.s.Read(ctx, buf) }

// ReadPages makes a pass over the pages of the ring buffers of all CPUs, and hands over each page, valid
// until page returns, and an empty one once a CPU's buffer is found empty. n is the number of pages. It
// ends as Read does. It is for sessions with an event whose text may be too long for its line: others
// have no Formats.
func (s *Session) ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error) {
	return s.s.ReadPages(ctx, page)
}

// Formats are the kernel's descriptions of how the events lie in pages, in the order in which they were
// given; none where the session gives text.
func (s *Session) Formats() ([]string, error) { return s.s.Formats() }

// Profile returns how often each site of each event has been hit, by the kernel's count, in every
// process that maps the file: result[i][j] belongs to events[i].Sites[j].
func (s *Session) Profile() ([][]uint64, error) { return s.s.Profile() }

// Stop disarms the probes, in the background: Read must go on meanwhile, until it returns io.EOF, or
// the ring buffer may overflow.
func (s *Session) Stop() { s.s.Stop() }

// Close removes everything that the session made. It may be called at any time, and again.
func (s *Session) Close() error { return s.s.Close() }
