package metrics

import (
	"math"

	"github.com/ftgo/ftgo/internal/stats"
)

// Metric is a number that snapshots, or functions of them, have.
type Metric[Of any] struct {
	Name string
	// Unit is "s" for seconds, "1" for a share, {what is counted}, or "" for yes and no.
	Unit    string
	Counter bool // else it may become less
	Help    string
	// Value is the number, if there is one.
	Value func(*Of) (value float64, has bool)
}

// OfRun are the metrics of a snapshot, OfFunctions those of each of its functions. The latter have their latencies,
// too, which are no number.
var (
	OfRun = []Metric[Snapshot]{
		{"start_time", "s", false, "When counting began, as a Unix time.", run(func(s *Snapshot) float64 { return float64(s.From.UnixMilli()) / 1e3 })},
		{"last_reading_timestamp", "s", false, "When the numbers were read, as a Unix time.", run(func(s *Snapshot) float64 { return float64(s.At.UnixMilli()) / 1e3 })},
		{"probes", "{probe}", false, "Instructions that are probed now.", run(func(s *Snapshot) float64 { return float64(s.Run.Probes) })},
		{"functions_skipped", "{function}", false, "Functions that were selected but can't be probed.", run(func(s *Snapshot) float64 { return float64(len(s.Run.Skipped)) })},
		{"budget", "1", false, "Share of the program's CPU time that probes may take, 0 without a limit.", run(func(s *Snapshot) float64 { return s.Run.Budget })},
		{"hits", "{hit}", true, "Hits of probes, as the kernel counts them.", run(func(s *Snapshot) float64 { return float64(s.Run.Hits) })},
		{"hits_delivered", "{hit}", true, "Hits that ftgo has read, or that only count calls.", run(func(s *Snapshot) float64 { return float64(s.Run.Delivered) })},
		{"hits_filtered", "{hit}", true, "Hits that the kernel's filter has dropped, as was asked for.", run(func(s *Snapshot) float64 { return float64(s.Run.Filtered) })},
		{"hits_lost", "{hit}", true, "Hits that were lost, mostly because the ring buffer was full.", run(func(s *Snapshot) float64 { return float64(s.Run.Lost) })},
		{"unparsed", "{record}", true, "Records of the kernel that were not understood.", run(func(s *Snapshot) float64 { return float64(s.Run.Unparsed) })},
		{"probes_cpu", "s", true, "CPU time that probes took of the program, as far as it is known.", run(func(s *Snapshot) float64 { return s.Run.Cost.Seconds() })},
		{"program_cpu", "s", true, "CPU time of the program while it was probed, probes included.", run(func(s *Snapshot) float64 { return s.Run.CPU.Seconds() })},
		{"own_cpu", "s", true, "CPU time of ftgo.", run(func(s *Snapshot) float64 { return s.Run.Own.Seconds() })},
		{"plans", "{plan}", true, "How often a file was planned to be probed.", run(func(s *Snapshot) float64 { return float64(s.Run.Plans) })},
		{"plan_failures", "{plan}", true, "How often a file could not be probed.", run(func(s *Snapshot) float64 { return float64(s.Run.Failed) })},
	}
	OfFunctions = []Metric[Function]{
		{"calls", "{call}", true, "Calls that have begun, by the kernel's count.", counted(func(f *Function) uint64 { return f.Calls })},
		{"completions", "{call}", true, "Calls that were timed and have returned.", counted(func(f *Function) uint64 { return f.Completed })},
		{"unwound", "{call}", true, "Calls that were left by a panic, by Goexit or with their goroutine.", counted(func(f *Function) uint64 { return f.Unwound })},
		{"untimed", "{call}", true, "Calls that were counted and not timed, for the budget.", counted(func(f *Function) uint64 { return f.CountedOnly })},
		{"unseen", "{call}", true, "Calls that nobody saw, for the budget: an estimate.", func(f *Function) (float64, bool) { return f.Unseen, true }},
		{"unseen_low", "{call}", true, "The least that the calls may be which nobody saw.", func(f *Function) (float64, bool) { return f.UnseenLow, true }},
		{"unseen_high", "{call}", true, "The most that they may be, in 19 of 20 runs; missing where nothing bounds it.", func(f *Function) (float64, bool) { return f.UnseenHigh, !math.IsInf(f.UnseenHigh, 1) }},
		{"lost", "{call}", true, "Calls whose end was lost, of files that are probed no more.", counted(func(f *Function) uint64 { return f.Lost })},
		{"errors", "{call}", true, "Completed calls whose last result was an error.", func(f *Function) (float64, bool) { return float64(f.Errors), f.ReturnsErrors }},
		{"duration_low", "s", true, "The least that completed calls may have taken, with the dearest probes taken off.", ifTimed(func(f *Function) float64 { return f.Low })},
		{"duration_high", "s", true, "The most that completed calls may have taken, with the cheapest probes taken off.", ifTimed(func(f *Function) float64 { return f.High })},
		{"running", "s", true, "Time of completed calls in which they had a CPU.", ifDivided(func(s stats.Split) int64 { return s.Running })},
		{"runnable", "s", true, "Time of completed calls in which they could have gone on with a CPU.", ifDivided(func(s stats.Split) int64 { return s.Runnable })},
		{"waiting", "s", true, "Time of completed calls in which they waited for something else.", ifDivided(func(s stats.Split) int64 { return s.Waiting })},
		{"probed", "", false, "1 if a file that has the function is probed now, else 0.", func(f *Function) (float64, bool) {
			if f.Probed {
				return 1, true
			}
			return 0, true
		}},
	}
)

// run is a number of the whole run, which there always is.
func run(of func(*Snapshot) float64) func(*Snapshot) (float64, bool) {
	return func(s *Snapshot) (float64, bool) { return of(s), true }
}

// counted is a number that each function has.
func counted(of func(*Function) uint64) func(*Function) (float64, bool) {
	return func(f *Function) (float64, bool) { return float64(of(f)), true }
}

// ifTimed is a number that functions have of which calls were timed.
func ifTimed(of func(*Function) float64) func(*Function) (float64, bool) {
	return func(f *Function) (float64, bool) { return of(f), f.Latency != nil }
}

// ifDivided is a part of the time of functions' calls, in nanoseconds, if that was divided.
func ifDivided(of func(stats.Split) int64) func(*Function) (float64, bool) {
	return func(f *Function) (float64, bool) { return Seconds(of(f.Split)), f.Split.Sum() > 0 }
}
