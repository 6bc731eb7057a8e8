// Package session makes runs of what a command line says: it finds what is to be traced, plans the
// probes, opens the source, and has a view told.
package session

import (
	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/own"
	"github.com/ftgo/ftgo/tracefs"
)

// Env is what a command has to work with.
type Env struct {
	cli.Env
	// BufferKB is the ring buffer's size per CPU, 0 for what suits the machine, Adjust what
	// the kernel's features are taken to be: tests make them small and few.
	BufferKB int
	Adjust   func(tracefs.Features) tracefs.Features
	// OpenCalls is how many open calls the kernel's own histograms tell apart, 0 as many as
	// is usual.
	OpenCalls int
	// FS is the tracefs that was used, nil if none was.
	FS *tracefs.FS
	// Own are functions of ftgo's, for what probes cost.
	Own own.Functions
	// Release names this ftgo.
	Release string
}
