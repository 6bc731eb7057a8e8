package metrics

import (
	"cmp"
	"math"

	"github.com/ftgo/ftgo/internal/stats"
)

// metric is a number of a Snapshot, or of a function in it.
type metric struct {
	name    string
	unit    string // "s" for seconds, "1" for a ratio, "{call}" for a number of calls, "" for a 0 or 1
	counter bool   // a counter if true, else a gauge
	help    string
	value   float64 // NaN if the function does not have this metric
}

// ofRun returns the metrics of a Snapshot without those of its functions.
func (s *Snapshot) ofRun() []metric {
	pairs := cmp.Or(s.Run.Pairs, &stats.Pairs{})
	return []metric{
		{"start_time", "s", false, "When counting began, as a Unix time.", float64(s.From.UnixMilli()) / 1e3},
		{"last_reading_timestamp", "s", false, "When the numbers were read, as a Unix time.", float64(s.At.UnixMilli()) / 1e3},
		{"probes", "{probe}", false, "Instructions that are probed now.", float64(s.Run.Probes)},
		{"functions_skipped", "{function}", false, "Functions that were selected but can't be probed.", float64(len(s.Run.Skipped))},
		{"budget", "1", false, "Share of the program's CPU time that probes may take, 0 without a limit.", s.Run.Budget},
		{"hits", "{hit}", true, "Hits of probes, as the kernel counts them.", float64(s.Run.Hits)},
		{"hits_delivered", "{hit}", true, "Hits that ftgo has read, or that only count calls.", float64(s.Run.Delivered)},
		{"hits_filtered", "{hit}", true, "Hits that the filter in the kernel dropped.", float64(s.Run.Filtered)},
		{"hits_lost", "{hit}", true, "Hits that were lost, mostly because the ring buffer was full.", float64(s.Run.Lost)},
		{"unparsed", "{record}", true, "Records of the kernel that were not understood.", float64(s.Run.Unparsed)},
		{"pair_again", "{hit}", true, "Arrivals at --to of values that had arrived before.", float64(pairs.Twice)},
		{"pair_before", "{hit}", true, "Arrivals at --to of values that were not seen at --from.", float64(pairs.Before)},
		{"pair_unreadable", "{hit}", true, "Hits at --from and --to whose value could not be read.", float64(pairs.Unread)},
		{"probes_cpu", "s", true, "CPU time of the program that probes took, estimated.", s.Run.Cost.Seconds()},
		{"program_cpu", "s", true, "CPU time of the program while it was probed, probes included.", s.Run.CPU.Seconds()},
		{"own_cpu", "s", true, "CPU time of ftgo.", s.Run.OwnCPU.Seconds()},
		{"plans", "{plan}", true, "How often a file was planned to be probed.", float64(s.Run.Plans)},
		{"plan_failures", "{plan}", true, "How often a file could not be probed.", float64(s.Run.Failed)},
	}
}

// of returns the metrics of a function except the histogram of its latencies.
func (s *Snapshot) of(f *stats.Func) []metric {
	probed, bounds, waits, missed := 0.0, cmp.Or(f.Bounds, &stats.Bounds{}), f.Split.Sum() > 0, unseen(f)
	if s.Probed[f.Name] {
		probed = 1
	}
	return []metric{
		{"calls", "{call}", true, "Calls that have begun, by the kernel's count.", float64(f.Calls)},
		{"completions", "{call}", true, "Calls that were timed and have returned.", float64(f.Completed)},
		{"unwound", "{call}", true, "Calls that were left by a panic, by Goexit or with their goroutine.", float64(f.Unwound)},
		{"untimed", "{call}", true, "Calls that were counted and not timed, for the budget.", float64(f.CountedOnly)},
		{"unseen", "{call}", true, "Calls not observed because of the budget, estimated.", missed.Calls},
		{"unseen_low", "{call}", true, "Calls not observed because of the budget, lower bound.", missed.Low},
		{"unseen_high", "{call}", true, "The most that they may be, in 19 of 20 runs; missing where nothing bounds it.", numberIf(f.Estimate.Bounded(), missed.High)},
		{"lost", "{call}", true, "Calls whose end was lost, in files no longer probed.", float64(f.Lost)},
		{"errors", "{call}", true, "Completed calls whose last result was an error.", numberIf(f.ReturnsErrors, float64(f.Errors))},
		{"duration_low", "s", true, "The least that completed calls may have taken, with the dearest probes taken off.", numberIf(f.Bounds != nil, bounds.Low.Seconds())},
		{"duration_high", "s", true, "The most that completed calls may have taken, with the cheapest probes taken off.", numberIf(f.Bounds != nil, bounds.High.Seconds())},
		{"running", "s", true, "Time of completed calls in which they had a CPU.", numberIf(waits, seconds(f.Split.Running))},
		{"runnable", "s", true, "Time of completed calls in which they waited for a CPU.", numberIf(waits, seconds(f.Split.Runnable))},
		{"waiting", "s", true, "Time of completed calls in which they waited for something else.", numberIf(waits, seconds(f.Split.Waiting))},
		{"probed", "", false, "1 if a file with the function is probed now, else 0.", probed},
	}
}

func numberIf(ok bool, x float64) float64 {
	if ok {
		return x
	}
	return math.NaN()
}
