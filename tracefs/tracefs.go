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
	// ErrNotMounted means that no directory contains the files of tracefs.
	ErrNotMounted = tracefs.ErrNotMounted
	// ErrNotSupported means that the kernel lacks a feature that the call needs.
	ErrNotSupported = tracefs.ErrNotSupported
	// ErrRefused means that the kernel refused a definition.
	ErrRefused = tracefs.ErrRefused
	// ErrRemains means that a part of a session could not be removed from the kernel. After the process that
	// started the session has ended, another process can remove the part with [FS.Sweep].
	ErrRemains = tracefs.ErrRemains
)

// Event is a named set of probes. It contains the file offsets of the probed instructions, and the values that each
// hit fetches.
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

// Sweep removes sessions that remain in the kernel although the processes that started them have ended. It returns
// the names of the removed sessions.
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
// first, and Stop disarms them from the first to the last. So if the entries of functions come first and their
// returns last, then the return of a function is armed whenever its entry is armed.
//
// If Start fails, it removes everything that it made in the kernel. If the removal fails too, the error is an
// [ErrRemains].
func Start(ctx context.Context, f *FS, path string, events []Event) (*Session, error) {
	s, err := tracefs.Start(ctx, f.fs, tracefs.Target{Path: path}, events, tracefs.Options{})
	if err != nil {
		return nil, err
	}
	return &Session{s}, nil
}

// Read fills buf with lines of trace_pipe. It returns 0, nil if nothing was recorded for a moment. It returns io.EOF
// when the session is stopped and the caller has read everything that was recorded.
func (s *Session) Read(ctx context.Context, buf []byte) (int, error) { return s.s.Read(ctx, buf) }

// ReadPages reads the ring buffers of all CPUs once. It calls page with each page, and with an empty page when a CPU's
// buffer is empty. The bytes of a page are valid until page returns. n is the number of pages that are not empty.
// Like Read, it returns io.EOF when the session is stopped and the caller has read everything.
//
// A session delivers pages instead of text if the text of one of its events may be too long for a line of trace_pipe.
// In such a session, call ReadPages and not Read. In other sessions, ReadPages fails. A session delivers pages if
// Formats is not empty.
func (s *Session) ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error) {
	return s.s.ReadPages(ctx, page)
}

// Formats returns the kernel's descriptions of the records that pages contain: one description for each event, in the
// order of the events. It returns nothing if the session delivers text, which Read reads.
func (s *Session) Formats() ([]string, error) { return s.s.Formats() }

// Profile returns how often each site was hit, as the kernel counts: result[i][j] is the number of hits of
// events[i].Sites[j]. It includes the hits of all processes that map the file.
func (s *Session) Profile() ([][]uint64, error) { return s.s.Profile() }

// Stop disarms the probes in the background. The caller must go on with Read or ReadPages until it returns io.EOF.
// Otherwise the ring buffer may overflow.
func (s *Session) Stop() { s.s.Stop() }

// Close removes everything that the session made in the kernel. It may be called at any time and more than once.
func (s *Session) Close() error { return s.s.Close() }
