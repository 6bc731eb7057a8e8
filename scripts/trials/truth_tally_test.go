package trials

import (
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// tallyRun is a program that knows how often its functions are called, like a testdata/tally, and samples of
// what it knows.
type tallyRun struct {
	pid    int
	rows   []tallyRow
	times  bool                 // it knows how long calls take, too
	read   func() []tallyCounts // what it knows now, of each row
	every  time.Duration        // between samples
	slack  time.Duration        // how far what it knows may be from what has happened
	end    func()
	ending chan struct{}
	stop   func() []tallySample // ends sampling; the table stays mapped, because a sample may be on its way
}

type tallyRow struct {
	Function, Value string
	Size            float64
	Units           float64
	Timed           bool
}

type tallyCounts struct{ calls, ns, timed uint64 }

type tallySample struct {
	at   time.Time
	cpu  float64 // seconds
	rows []tallyCounts
}

func (w *tallyRun) begin() {
	samples := make(chan []tallySample, 1)
	w.ending = make(chan struct{})
	w.stop = sync.OnceValue(func() []tallySample {
		close(w.ending)
		return <-samples
	})
	go func() { samples <- w.sample() }()
}

// sample reads what the program knows every now and then, ahead of what keeps the CPUs busy.
func (w *tallyRun) sample() (samples []tallySample) {
	runtime.LockOSThread() // it ends with the goroutine
	_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -15)
	clock := int32(^w.pid<<3 | 2) // MAKE_PROCESS_CPUCLOCK of posix-timers_types.h, with CPUCLOCK_SCHED
	tick := time.NewTicker(w.every)
	defer tick.Stop()
	for {
		var cpu unix.Timespec
		_ = unix.ClockGettime(clock, &cpu)
		s := tallySample{at: time.Now(), cpu: float64(cpu.Nano()) / 1e9, rows: w.read()}
		samples = append(samples, s)
		select {
		case <-tick.C:
		case <-w.ending:
			return samples
		}
	}
}

// rowsOf are the rows of the table that an object of ftgo's is of: that of all calls of a function, or those of its values.
func (w *tallyRun) rowsOf(r estimateRow) (rows []int) {
	for i, row := range w.rows {
		switch {
		case row.Function != r.Function:
		case row.Value == r.Value || row.Value != "" && strconv.Quote(row.Value) == r.Value:
			return []int{i}
		case r.Value == "":
			rows = append(rows, i)
		}
	}
	return rows
}

func (w *tallyRun) between(samples []tallySample, from, until time.Time) stretch {
	_, a := around(samples, from)
	_, b := around(samples, until)
	s := stretch{seconds: b.at.Sub(a.at).Seconds(), cpu: b.cpu - a.cpu, rows: make([]tallyCounts, len(w.rows))}
	for i, r := range w.rows {
		s.rows[i] = b.rows[i].minus(a.rows[i])
		s.work += float64(s.rows[i].calls) * r.Units
	}
	return s
}

// tallied is the truth of a run.
type tallied struct {
	w            *tallyRun
	samples      []tallySample
	began, until time.Time
	pass         time.Duration // how far moments of ftgo's may be from these two
	alone        [2]stretch
	hits, spent  float64 // of probes in the run, and the program's CPU time in ns that they took
}

// calls are those of the run: at least those between the samples in it, at most those between the samples
// around it. Probes count a call when it begins, and tally when it has ended: one may be between.
func (x tallied) calls(rows []int) bounds {
	b := x.counted(func(from, until tallySample) (n float64) {
		for _, i := range rows {
			n += float64(until.rows[i].calls - from.rows[i].calls)
		}
		return n
	})
	return bounds{max(0, b.low-1), b.high + 1}
}

func (x tallied) counted(sum func(from, until tallySample) float64) bounds {
	before, _ := around(x.samples, x.began.Add(-x.pass))
	_, after := around(x.samples, x.until.Add(x.pass))
	_, in := around(x.samples, x.began.Add(x.pass))
	out, _ := around(x.samples, x.until.Add(-x.pass))
	if !in.at.Before(out.at) { // nobody has read the table in between
		return bounds{0, sum(before, after)}
	}
	return bounds{sum(in, out), sum(before, after)}
}

func (x tallied) sum(rows []int) bounds {
	b := x.counted(func(from, until tallySample) (n float64) {
		for _, i := range rows {
			n += float64(until.rows[i].calls-from.rows[i].calls) * x.w.rows[i].Size
		}
		return n
	})
	var one float64 // call
	for _, i := range rows {
		one = max(one, x.w.rows[i].Size)
	}
	return bounds{max(0, b.low-one), b.high + one}
}

// total is the time in calls as it would be without probes: measured, where all calls are, or that of calls
// before and after the run. These were not kept from the CPU, as some in the run may have been.
func (x tallied) total(rows []int) (b bounds) {
	busy := x.w.between(x.samples, x.began, x.until)
	stolen := 1.0
	if share := busy.cpu / busy.seconds; share > 0.5 { // it does not sleep: what it does not get, others have
		stolen = max(1, 1/share)
		if stolen > 1.05 {
			b.high = timeSlice
		}
	}
	for _, i := range rows {
		calls := x.calls([]int{i})
		if x.w.rows[i].Timed {
			ns := x.counted(func(from, until tallySample) float64 { return float64(until.rows[i].ns - from.rows[i].ns) })
			hits := min(x.hits, 2*calls.high)   // in what tally timed
			one := ns.high / max(1, calls.high) // call that begins before the run or ends after it
			b.low, b.high = b.low+max(0, ns.low-one-hits*(x.spent/max(1, x.hits)+timeStep)), b.high+ns.high+one
			continue
		}
		means := []float64{}
		for _, s := range x.alone {
			if c := s.rows[i]; c.timed > 0 {
				means = append(means, float64(c.ns)/float64(c.timed))
			}
		}
		if len(means) == 0 {
			return bounds{0, math.MaxFloat64}
		}
		b.low += calls.low * max(0, slices.Min(means)*(1-timeSlack)-timeStep)
		b.high += calls.high * (slices.Max(means)*(1+timeSlack) + timeStep) * stolen
	}
	return b
}
