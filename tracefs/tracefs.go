// Package tracefs counts and records the execution of instructions through the kernel's uprobe_events. It
// defines probes, runs a session in its own instance, reads the ring buffer and the hit counters, and removes
// everything at the end.
//
// The package knows the kernel's files but neither Go nor ELF. Its input is a path and file offsets ([Event]), its
// output the kernel's own text or bytes. Package offsets chooses the instructions to probe, package parse
// parses the output.
//
// Its only kind of probe is the plain "p:" probe. A return probe ("r:") would rewrite return addresses on a
// stack that Go's runtime walks and moves.
package tracefs

import (
	"context"

	"github.com/ftgo/ftgo/internal/tracefs"
)

// Errors that callers tell apart.
var (
	// ErrNotMounted means that no directory has the files of tracefs.
	ErrNotMounted = tracefs.ErrNotMounted
	// ErrNotSupported means that the kernel lacks a feature that the call needs.
	ErrNotSupported = tracefs.ErrNotSupported
	// ErrRefused means that the kernel refused a definition.
	ErrRefused = tracefs.ErrRefused
	// ErrRemains means that a part of a session could not be removed. [FS.Sweep] removes it once the process
	// has ended.
	ErrRemains = tracefs.ErrRemains
)

// Event is a named set of probes: the file offsets of its instructions, and the values that each hit fetches.
type Event = tracefs.Event

// Arg is a value that a hit fetches.
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

// Sweep removes the sessions of processes that have ended without removing them. It returns the names of the
// removed sessions.
func (f *FS) Sweep() (gone []string, err error) {
	leftovers, err := f.fs.Sweep()
	for _, l := range leftovers {
		gone = append(gone, l.Name)
	}
	return gone, err
}

// Session is a set of events in its own instance of tracefs, from definition to removal. The caller must call Close.
type Session struct{ s *tracefs.Session }

// Start defines events in the file at path, arms them and starts recording. It arms events from the last to the
// first, and Stop disarms them from the first to the last. If the entries of functions come first and their
// returns last, then the return of every recorded entry is armed. After an error nothing remains in the kernel.
func Start(ctx context.Context, f *FS, path string, events []Event) (*Session, error) {
	s, err := tracefs.Start(ctx, f.fs, tracefs.Target{Path: path}, events, tracefs.Options{})
	if err != nil {
		return nil, err
	}
	return &Session{s}, nil
}

// Read fills buf with lines of trace_pipe. It returns 0, nil if nothing was recorded for a moment, and io.EOF when
// the session is stopped and everything recorded was read.
func (s *Session) Read(ctx context.Context, buf []byte) (int, error) { return s.s.Read(ctx, buf) }

// ReadPages makes a pass over the ring buffers of all CPUs. It calls page with each page, which is valid until page
// returns, and with an empty page once a CPU's buffer is empty. n is the number of pages. It returns io.EOF
// like Read. It works only in sessions with an event whose text may be too long for a line of trace_pipe.
// Other sessions have no Formats.
func (s *Session) ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error) {
	return s.s.ReadPages(ctx, page)
}

// Formats returns the kernel's descriptions of the events' records in pages, in the order of the events. It is
// empty if the session delivers text.
func (s *Session) Formats() ([]string, error) { return s.s.Formats() }

// Profile returns the kernel's number of hits of each site in all processes that map the file: result[i][j] is that
// of events[i].Sites[j].
func (s *Session) Profile() ([][]uint64, error) { return s.s.Profile() }

// Stop disarms the probes in the background. The caller goes on with Read until it returns io.EOF, because the
// ring buffer may overflow otherwise.
func (s *Session) Stop() { s.s.Stop() }

// Close removes everything that the session made in the kernel. It may be called at any time and more than once.
func (s *Session) Close() error { return s.s.Close() }
