package trials

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// tally is a testdata/tally that runs, and samples of the table in which it counts its calls.
type tally struct {
	rows    []tallyRow
	pid     int
	end     func() // ends it, and sampling
	samples []tallySample
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

// startTally starts a tally and samples its table ahead of what keeps the CPUs busy.
func startTally(t *testing.T, mode string) *tally {
	file := filepath.Join(t.TempDir(), "counts")
	s := startSelftimed(t, fixture.Build(t, "tally"), file, mode)
	f, err := os.Open(file)
	check(t, err)
	defer f.Close()
	memory, err := syscall.Mmap(int(f.Fd()), 0, len(s.begun.Rows)*int(unsafe.Sizeof(tallyCounts{})), syscall.PROT_READ, syscall.MAP_SHARED)
	check(t, err)
	table := unsafe.Slice((*tallyCounts)(unsafe.Pointer(&memory[0])), len(s.begun.Rows))
	w := &tally{pid: s.pid, rows: s.begun.Rows}
	stop, done := make(chan struct{}), make(chan struct{})
	w.end = func() {
		close(stop)
		<-done
		s.end()
	}
	clock := int32(^w.pid<<3 | 2) // MAKE_PROCESS_CPUCLOCK of posix-timers_types.h, with CPUCLOCK_SCHED
	go func() {
		defer close(done)
		runtime.LockOSThread() // it ends with the goroutine
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, -15)
		for tick := time.NewTicker(2 * time.Millisecond); ; {
			var cpu unix.Timespec
			_ = unix.ClockGettime(clock, &cpu)
			now := tallySample{at: time.Now(), cpu: float64(cpu.Nano()) / 1e9, rows: make([]tallyCounts, len(table))}
			for i := range table {
				now.rows[i] = tallyCounts{atomic.LoadUint64(&table[i].calls), atomic.LoadUint64(&table[i].ns), atomic.LoadUint64(&table[i].timed)}
			}
			w.samples = append(w.samples, now)
			select {
			case <-tick.C:
			case <-stop:
				return
			}
		}
	}()
	return w
}

// rowsOf returns the rows of the table for a row of ftgo's: that of all calls of a function, or those of its values.
func (w *tally) rowsOf(r estimateRow) (rows []int) {
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

// around returns the last sample before a moment and the first after it.
func (w *tally) around(at time.Time) (before, after tallySample) {
	i, _ := slices.BinarySearchFunc(w.samples, at, func(s tallySample, at time.Time) int { return s.at.Compare(at) })
	return w.samples[max(0, min(i, len(w.samples))-1)], w.samples[min(i, len(w.samples)-1)]
}

// stretch is what the program did in some time: its CPU time in seconds, its work, and the means in ns of the calls that it
// timed, 0 where it timed none.
type stretch struct {
	seconds, cpu, work float64
	means              []float64
}

func (w *tally) between(from, until time.Time) stretch {
	_, a := w.around(from)
	_, b := w.around(until)
	s := stretch{seconds: b.at.Sub(a.at).Seconds(), cpu: b.cpu - a.cpu}
	for i, r := range w.rows {
		s.work += float64(b.rows[i].calls-a.rows[i].calls) * r.Units
		s.means = append(s.means, float64(b.rows[i].ns-a.rows[i].ns)/max(1, float64(b.rows[i].timed-a.rows[i].timed)))
	}
	return s
}

// lost is the share of the CPU time that the work would not have taken at an efficiency. A budget is a share of what the program uses, or
// of a tenth of a CPU if that is more.
func (s stretch) lost(efficiency float64) float64 {
	return (s.cpu - s.work/efficiency) / max(s.cpu, s.seconds/10)
}

// truth is what the program knows of a run.
type truth struct {
	*tally
	from, until time.Time
	pass        time.Duration // ftgo's moments may be so far from these two
	alone       [2]stretch    // before and after
	hits, spent float64       // of probes in the run, and the program's CPU time in ns that they took
}

// counted is at least the sum of what happened between the samples in the run, and at most that between the
// samples around it. Probes count a call when it begins, and tally when it has ended: one may be between.
func (x truth) counted(rows []int, one float64, n func(row int, c tallyCounts) float64) bounds {
	before, _ := x.around(x.from.Add(-x.pass))
	_, after := x.around(x.until.Add(x.pass))
	_, in := x.around(x.from.Add(x.pass))
	out, _ := x.around(x.until.Add(-x.pass))
	b := bounds{-one, one}
	for _, i := range rows {
		b.high += n(i, after.rows[i]) - n(i, before.rows[i])
		b.low += n(i, out.rows[i]) - n(i, in.rows[i])
	}
	return bounds{max(0, b.low), b.high}
}

func (x truth) calls(rows []int) bounds {
	return x.counted(rows, 1, func(_ int, c tallyCounts) float64 { return float64(c.calls) })
}

func (x truth) sum(rows []int) bounds {
	var one float64 // call
	for _, i := range rows {
		one = max(one, x.rows[i].Size)
	}
	return x.counted(rows, one, func(i int, c tallyCounts) float64 { return float64(c.calls) * x.rows[i].Size })
}

// total is the time in calls as it would be without probes: measured, where all calls are, or that of calls
// before and after the run. These were not kept from the CPU, as some in the run may have been.
func (x truth) total(rows []int) (b bounds) {
	busy := x.between(x.from, x.until)
	stolen := 1.0
	if share := busy.cpu / busy.seconds; share > 0.5 { // it does not sleep: what it does not get, others have
		stolen = max(1, 1/share)
		if stolen > 1.05 {
			b.high = timeSlice
		}
	}
	for _, i := range rows {
		calls := x.calls([]int{i})
		if x.rows[i].Timed {
			ns := x.counted([]int{i}, 0, func(_ int, c tallyCounts) float64 { return float64(c.ns) })
			hits := min(x.hits, 2*calls.high)   // in what tally timed
			one := ns.high / max(1, calls.high) // call that begins before the run or ends after it
			b.low, b.high = b.low+max(0, ns.low-one-hits*(x.spent/max(1, x.hits)+timeStep)), b.high+ns.high+one
			continue
		}
		before, after := cmp.Or(x.alone[0].means[i], x.alone[1].means[i]), cmp.Or(x.alone[1].means[i], x.alone[0].means[i])
		if before == 0 {
			return bounds{0, math.MaxFloat64}
		}
		b.low += calls.low * max(0, min(before, after)*(1-timeSlack)-timeStep)
		b.high += calls.high * (max(before, after)*(1+timeSlack) + timeStep) * stolen
	}
	return b
}
