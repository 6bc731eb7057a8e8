package metrics

import (
	"math"

	"github.com/ftgo/ftgo/internal/stats"
)

// metric is a number of a Snapshot or of a Function.
type metric[Of any] struct {
	name    string
	unit    string // "s" for seconds, "1" for a ratio, "{call}" for a number of calls, "" for a 0 or 1
	counter bool   // a counter if true, else a gauge
	help    string
	value   func(*Of) (value float64, ok bool) // ok is false if Of does not have this metric
}

// runMetrics are the metrics of a Snapshot, functionMetrics the metrics of each Function except the histogram of its
// latencies.
var (
	runMetrics = []metric[Snapshot]{
		{"start_time", "s", false, "When counting began, as a Unix time.", run(func(s *Snapshot) float64 { return float64(s.From.UnixMilli()) / 1e3 })},
		{"last_reading_timestamp", "s", false, "When the numbers were read, as a Unix time.", run(func(s *Snapshot) float64 { return float64(s.At.UnixMilli()) / 1e3 })},
		{"probes", "{probe}", false, "Instructions that are probed now.", run(func(s *Snapshot) float64 { return float64(s.Run.Probes) })},
		{"functions_skipped", "{function}", false, "Functions that were selected but can't be probed.", run(func(s *Snapshot) float64 { return float64(len(s.Run.Skipped)) })},
		{"budget", "1", false, "Share of the program's CPU time that probes may take, 0 without a limit.", run(func(s *Snapshot) float64 { return s.Run.Budget })},
		{"hits", "{hit}", true, "Hits of probes, as the kernel counts them.", run(func(s *Snapshot) float64 { return float64(s.Run.Hits) })},
		{"hits_delivered", "{hit}", true, "Hits that ftgo has read, or that only count calls.", run(func(s *Snapshot) float64 { return float64(s.Run.Delivered) })},
		{"hits_filtered", "{hit}", true, "Hits that the filter in the kernel dropped.", run(func(s *Snapshot) float64 { return float64(s.Run.Filtered) })},
		{"hits_lost", "{hit}", true, "Hits that were lost, mostly because the ring buffer was full.", run(func(s *Snapshot) float64 { return float64(s.Run.Lost) })},
		{"unparsed", "{record}", true, "Records of the kernel that were not understood.", run(func(s *Snapshot) float64 { return float64(s.Run.Unparsed) })},
		{"probes_cpu", "s", true, "CPU time of the program that probes took, estimated.", run(func(s *Snapshot) float64 { return s.Run.Cost.Seconds() })},
		{"program_cpu", "s", true, "CPU time of the program while it was probed, probes included.", run(func(s *Snapshot) float64 { return s.Run.CPU.Seconds() })},
		{"own_cpu", "s", true, "CPU time of ftgo.", run(func(s *Snapshot) float64 { return s.Run.OwnCPU.Seconds() })},
		{"plans", "{plan}", true, "How often a file was planned to be probed.", run(func(s *Snapshot) float64 { return float64(s.Run.Plans) })},
		{"plan_failures", "{plan}", true, "How often a file could not be probed.", run(func(s *Snapshot) float64 { return float64(s.Run.Failed) })},
	}
	functionMetrics = []metric[Function]{
		{"calls", "{call}", true, "Calls that have begun, by the kernel's count.", count(func(f *Function) uint64 { return f.Calls })},
		{"completions", "{call}", true, "Calls that were timed and have returned.", count(func(f *Function) uint64 { return f.Completed })},
		{"unwound", "{call}", true, "Calls that were left by a panic, by Goexit or with their goroutine.", count(func(f *Function) uint64 { return f.Unwound })},
		{"untimed", "{call}", true, "Calls that were counted and not timed, for the budget.", count(func(f *Function) uint64 { return f.CountedOnly })},
		{"unseen", "{call}", true, "Calls not observed because of the budget, estimated.", func(f *Function) (float64, bool) { return f.Unseen, true }},
		{"unseen_low", "{call}", true, "Calls not observed because of the budget, lower bound.", func(f *Function) (float64, bool) { return f.UnseenLow, true }},
		{"unseen_high", "{call}", true, "The most that they may be, in 19 of 20 runs; missing where nothing bounds it.", func(f *Function) (float64, bool) { return f.UnseenHigh, !math.IsInf(f.UnseenHigh, 1) }},
		{"lost", "{call}", true, "Calls whose end was lost, in files no longer probed.", count(func(f *Function) uint64 { return f.Lost })},
		{"errors", "{call}", true, "Completed calls whose last result was an error.", func(f *Function) (float64, bool) { return float64(f.Errors), f.ReturnsErrors }},
		{"duration_low", "s", true, "The least that completed calls may have taken, with the dearest probes taken off.", ifTimed(func(f *Function) float64 { return f.Low })},
		{"duration_high", "s", true, "The most that completed calls may have taken, with the cheapest probes taken off.", ifTimed(func(f *Function) float64 { return f.High })},
		{"running", "s", true, "Time of completed calls in which they had a CPU.", ifSplit(func(s stats.Split) int64 { return s.Running })},
		{"runnable", "s", true, "Time of completed calls in which they waited for a CPU.", ifSplit(func(s stats.Split) int64 { return s.Runnable })},
		{"waiting", "s", true, "Time of completed calls in which they waited for something else.", ifSplit(func(s stats.Split) int64 { return s.Waiting })},
		{"probed", "", false, "1 if a file with the function is probed now, else 0.", func(f *Function) (float64, bool) {
			if f.Probed {
				return 1, true
			}
			return 0, true
		}},
	}
)

// run returns the value function of a metric that every Snapshot has.
func run(value func(*Snapshot) float64) func(*Snapshot) (float64, bool) {
	return func(s *Snapshot) (float64, bool) { return value(s), true }
}

// count returns the value function of a metric that every Function has.
func count(value func(*Function) uint64) func(*Function) (float64, bool) {
	return func(f *Function) (float64, bool) { return float64(value(f)), true }
}

// ifTimed returns the value function of a metric of functions with latencies.
func ifTimed(value func(*Function) float64) func(*Function) (float64, bool) {
	return func(f *Function) (float64, bool) { return value(f), f.Latency != nil }
}

// ifSplit returns the value function of a part of the latencies, in nanoseconds, for functions whose latencies were
// split into running, runnable and waiting.
func ifSplit(value func(stats.Split) int64) func(*Function) (float64, bool) {
	return func(f *Function) (float64, bool) { return seconds(value(f.Split)), f.Split.Sum() > 0 }
}
