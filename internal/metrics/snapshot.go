// Package metrics exports counts and latencies of functions for `ftgo export`, which runs for weeks.
//
// An [Aggregator] adds up the counts of all files of a program, and returns them as a [Snapshot]. A [Server] answers
// Prometheus with the latest snapshot: as OpenMetrics, as text or, with native histograms, as protocol buffers. An
// [Exporter] sends snapshots, and calls as spans, to an OpenTelemetry collector by OTLP over HTTP. It queues them and
// sends them in the background, so that its callers never wait for the network. No other package imports the libraries
// of Prometheus and OpenTelemetry.
package metrics

import (
	"time"

	"github.com/ftgo/ftgo/internal/stats"
)

// Snapshot holds all counts of a run at one moment. Nothing changes a Snapshot after [Aggregator.Snapshot] returned it.
// No counter is less than in an earlier Snapshot. Functions that have been in no probed file for an hour are left out.
type Snapshot struct {
	From, At  time.Time // the counted calls happened between From and At, the time of the last reading
	Created   time.Time // when Snapshot was called; while no file is probed, At stays at the last reading
	About     About
	Functions map[string]*Function // by name
	Run       Run
	// Sent counts the items sent by OTLP, per kind of item: "span" or "data point". The caller of [Aggregator.Snapshot] sets it.
	Sent map[string]Sending
}

// Sending counts items that were put into the queue of a sender: each is sent, queued or failed.
type Sending struct {
	Sent, Queued uint64
	// Failed counts items that will never arrive, by reason: "queue_full", "shutdown", "rejected" if the collector
	// accepted only the rest of the message, the HTTP status if it refused the whole message, or "_OTHER" if the
	// message could not be encoded.
	Failed map[string]uint64
}

// About describes the run and never changes.
type About struct {
	Release string // version of ftgo
	Host    string // host name
	Kernel  string // kernel release
	Service string // name of the program: the base name of BINARY, or the argument of -p
}

// File is a probed file of the program.
type File struct {
	Path, BuildID, GoVersion string
	PIDs                     []int // processes that run the file
}

// Function holds the counts of one function, added up over all files that have contained it. Its Latency is corrected
// by the estimated cost of probes; the true sum of the latencies is between Low and High, in seconds. Func.Lost counts
// only calls in files that are no longer probed.
type Function struct {
	stats.Func
	Since  time.Time // when it was first probed
	Probed bool      // a file that contains it is probed now
	Low    float64
	High   float64
	Unseen stats.Estimate // of the calls that happened while the budget had removed the probes
}

// Run holds the numbers of the whole run. It includes the counters, but not the gauges, of files that are no longer
// probed.
type Run struct {
	stats.Summary // the caller of [Aggregator.Snapshot] sets OwnCPU to the total since ftgo started
	Files         []File
	Plans, Failed uint64 // how often a file was opened to be probed, and how often probing it failed
	// Cost is the CPU time that probes took of the program, if known. CPU is the program's CPU time, including Cost.
	Cost, CPU time.Duration
}
