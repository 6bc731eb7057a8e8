package metrics

import "math"

// metric is a number of a Snapshot or of a Function.
type metric[Of any] struct {
	name    string
	unit    string // "s" for seconds, "1" for a ratio, "{call}" for a number of calls, "" for a 0 or 1
	counter bool   // a counter if true, else a gauge
	help    string
	value   func(*Of) float64 // NaN if Of does not have this metric
}

// runMetrics are the metrics of a Snapshot, functionMetrics the metrics of each Function except the histogram of its
// latencies.
var (
	runMetrics = []metric[Snapshot]{
		{"start_time", "s", false, "When counting began, as a Unix time.", func(s *Snapshot) float64 { return float64(s.From.UnixMilli()) / 1e3 }},
		{"last_reading_timestamp", "s", false, "When the numbers were read, as a Unix time.", func(s *Snapshot) float64 { return float64(s.At.UnixMilli()) / 1e3 }},
		{"probes", "{probe}", false, "Instructions that are probed now.", func(s *Snapshot) float64 { return float64(s.Run.Probes) }},
		{"functions_skipped", "{function}", false, "Functions that were selected but can't be probed.", func(s *Snapshot) float64 { return float64(len(s.Run.Skipped)) }},
		{"budget", "1", false, "Share of the program's CPU time that probes may take, 0 without a limit.", func(s *Snapshot) float64 { return s.Run.Budget }},
		{"hits", "{hit}", true, "Hits of probes, as the kernel counts them.", func(s *Snapshot) float64 { return float64(s.Run.Hits) }},
		{"hits_delivered", "{hit}", true, "Hits that ftgo has read, or that only count calls.", func(s *Snapshot) float64 { return float64(s.Run.Delivered) }},
		{"hits_filtered", "{hit}", true, "Hits that the filter in the kernel dropped.", func(s *Snapshot) float64 { return float64(s.Run.Filtered) }},
		{"hits_lost", "{hit}", true, "Hits that were lost, mostly because the ring buffer was full.", func(s *Snapshot) float64 { return float64(s.Run.Lost) }},
		{"unparsed", "{record}", true, "Records of the kernel that were not understood.", func(s *Snapshot) float64 { return float64(s.Run.Unparsed) }},
		{"probes_cpu", "s", true, "CPU time of the program that probes took, estimated.", func(s *Snapshot) float64 { return s.Run.Cost.Seconds() }},
		{"program_cpu", "s", true, "CPU time of the program while it was probed, probes included.", func(s *Snapshot) float64 { return s.Run.CPU.Seconds() }},
		{"own_cpu", "s", true, "CPU time of ftgo.", func(s *Snapshot) float64 { return s.Run.OwnCPU.Seconds() }},
		{"plans", "{plan}", true, "How often a file was planned to be probed.", func(s *Snapshot) float64 { return float64(s.Run.Plans) }},
		{"plan_failures", "{plan}", true, "How often a file could not be probed.", func(s *Snapshot) float64 { return float64(s.Run.Failed) }},
	}
	functionMetrics = []metric[Function]{
		{"calls", "{call}", true, "Calls that have begun, by the kernel's count.", func(f *Function) float64 { return float64(f.Calls) }},
		{"completions", "{call}", true, "Calls that were timed and have returned.", func(f *Function) float64 { return float64(f.Completed) }},
		{"unwound", "{call}", true, "Calls that were left by a panic, by Goexit or with their goroutine.", func(f *Function) float64 { return float64(f.Unwound) }},
		{"untimed", "{call}", true, "Calls that were counted and not timed, for the budget.", func(f *Function) float64 { return float64(f.CountedOnly) }},
		{"unseen", "{call}", true, "Calls not observed because of the budget, estimated.", func(f *Function) float64 { return f.Unseen.Calls }},
		{"unseen_low", "{call}", true, "Calls not observed because of the budget, lower bound.", func(f *Function) float64 { return f.Unseen.Low }},
		{"unseen_high", "{call}", true, "The most that they may be, in 19 of 20 runs; missing where nothing bounds it.", func(f *Function) float64 { return numberIf(f.Unseen.Bounded(), f.Unseen.High) }},
		{"lost", "{call}", true, "Calls whose end was lost, in files no longer probed.", func(f *Function) float64 { return float64(f.Lost) }},
		{"errors", "{call}", true, "Completed calls whose last result was an error.", func(f *Function) float64 { return numberIf(f.ReturnsErrors, float64(f.Errors)) }},
		{"duration_low", "s", true, "The least that completed calls may have taken, with the dearest probes taken off.", func(f *Function) float64 { return numberIf(f.Latency != nil, f.Low) }},
		{"duration_high", "s", true, "The most that completed calls may have taken, with the cheapest probes taken off.", func(f *Function) float64 { return numberIf(f.Latency != nil, f.High) }},
		{"running", "s", true, "Time of completed calls in which they had a CPU.", func(f *Function) float64 { return numberIf(f.Split.Sum() > 0, seconds(f.Split.Running)) }},
		{"runnable", "s", true, "Time of completed calls in which they waited for a CPU.", func(f *Function) float64 { return numberIf(f.Split.Sum() > 0, seconds(f.Split.Runnable)) }},
		{"waiting", "s", true, "Time of completed calls in which they waited for something else.", func(f *Function) float64 { return numberIf(f.Split.Sum() > 0, seconds(f.Split.Waiting)) }},
		{"probed", "", false, "1 if a file with the function is probed now, else 0.", func(f *Function) float64 {
			if f.Probed {
				return 1
			}
			return 0
		}},
	}
)

func numberIf(ok bool, x float64) float64 {
	if ok {
		return x
	}
	return math.NaN()
}
