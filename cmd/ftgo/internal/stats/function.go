package stats

// Function is one row: what is known of the calls of one function.
// Calls = Completed + Unwound + Open + Lost.
type Function struct {
	Name string
	// Calls is the number of calls begun while traced, by the kernel's own count.
	Calls uint64
	// Completed calls returned; their latencies are in Latency.
	Completed uint64
	// Unwound calls were left by panic, Goexit or the end of their goroutine.
	Unwound uint64
	// Open calls had not ended when tracing did.
	Open uint64
	// Lost is the number of calls whose end, or which altogether, the stream lost.
	Lost uint64
	// Errors is how many of the completed calls returned an error; ReturnsErrors tells
	// that it was looked at: the last result is an error.
	Errors        uint64
	ReturnsErrors bool
	// Latency holds the completed calls' durations in nanoseconds; nil when
	// latency was not measured (count mode).
	Latency *Histogram
	// Note marks what the row can't promise ("entry only: no return site").
	Note string
}

// Summary is what holds for a whole run: the footer of tables, the last JSON line.
type Summary struct {
	// Hits is the kernel's count of probe hits (uprobe_profile);
	// Delivered + Lost = Hits.
	Hits, Delivered, Lost uint64
	// Filtered is how many hits the kernel's filter has dropped: then
	// Delivered + Lost + Filtered = Hits.
	Filtered uint64
	// Disarming is how many of the lost hits came while the probes were being removed:
	// counted, but no longer recorded.
	Disarming uint64
	// Unparsed is the number of trace lines that were not understood.
	Unparsed uint64
	// Probes is the number of sites armed, Functions that of functions selected.
	Probes, Functions int
	// Skipped names the functions that were selected but not (fully) probed.
	Skipped []Skipped
	// Seconds is how long the probes were armed.
	Seconds float64
	// HitCost is the measured cost of one call's probes to the target, in ns; 0 if unknown.
	HitCost float64
	// NetLatency: what the probes of nested calls cost was taken off latencies.
	NetLatency bool
	// Clock names the trace clock used ("x86-tsc").
	Clock string
	// LatencyMeasured tells probe (true) from count (false).
	LatencyMeasured bool
}

// Skipped is a function that was selected but could not be probed, and why.
type Skipped struct {
	Function string `json:"function"`
	Reason   string `json:"reason"`
}
