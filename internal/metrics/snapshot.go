// Package metrics knows the numbers that are kept of a program over weeks: one [Snapshot], which writers of
// several formats share, and the [Aggregator] that adds up what was seen of one file of the program after the other.
// Prometheus reads them as OpenMetrics, as text, or, with native histograms, as protocol buffers; a collector of OpenTelemetry
// is sent them, and calls as spans, by OTLP over HTTP: who hands something over never waits for it. Nobody else knows the
// libraries of the two.
package metrics

import (
	"time"

	"github.com/ftgo/ftgo/internal/stats"
)

// Snapshot is what is known at a moment. It does not change once it was made, and has all that a writer needs.
// What is counted never goes backward from one to the next; functions that no file has had for an hour are left out.
type Snapshot struct {
	From, At  time.Time // what is counted has happened between; At is that of the last reading
	Made      time.Time // when it was made: where nothing is probed, that is when it is of
	About     About
	Functions []Function // by their names, in order
	Run       Run
	// Sent is what has become of what was sent to others than ask, by what it consists of.
	Sent map[string]Sending
}

// Sending counts items: Sent + Failed + Queued are all that there were.
type Sending struct {
	Sent, Queued uint64
	Bytes        int // that are queued
	// Failed are those that will never arrive, by why: "queue_full", "shutdown", "rejected" by one who has taken the rest
	// of the message, and the status that the whole was refused by.
	Failed map[string]uint64
}

// About is what stays the same for as long as ftgo runs.
type About struct {
	Release string // of ftgo
	Host    string // its name
	Kernel  string // its release
	Service string // what the program is called: the base name of BINARY, or what -p says
}

// File is a file of the program that is probed now.
type File struct {
	Path, BuildID, GoVersion string
	// PIDs are those that run it.
	PIDs []int
}

// Function is what is known of the calls of one function, of all files that have had it. Its latencies have no bounds:
// the sum of the real ones is between Low and High, in seconds. Lost calls are of files that are probed no more.
type Function struct {
	stats.Func
	Since time.Time // when it was first probed
	// Probed: a file that has it is probed now. Else the program has lost it, or is not there.
	Probed    bool
	Low, High float64
	// Unseen estimates the calls that nobody saw, because of the budget, which were UnseenLow at least and UnseenHigh at most.
	Unseen, UnseenLow, UnseenHigh float64
}

// Run is what holds for all functions together. Of the summaries of files that are probed no more it has what is counted.
type Run struct {
	stats.Summary // whose Own is the CPU time that ftgo has used
	Files         []File
	// Plans is how often a file was planned to be probed, Failed how often that could not be done.
	Plans, Failed uint64
	// Cost is what probes took of the program's CPU time CPU, as far as it is known.
	Cost, CPU time.Duration
}
