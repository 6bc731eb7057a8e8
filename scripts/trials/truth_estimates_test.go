package trials

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// estimated are the programs that know the truth, and what ftgo looks at in each.
var estimated = []struct {
	name  string
	start func(t *testing.T) *tallyRun
	ftgo  []string
}{
	{"equal", tallying("equal"), []string{"main.f??"}},
	{"hot", tallying("hot"), []string{"main.f??"}},
	{"bursts", tallying("bursts"), []string{"main.f??"}},
	{"sleeps", tallying("sleeps"), []string{"main.f??", "main.nap"}},
	{"mixed", tallying("mixed"), []string{"main.f??", "main.handle", "main.slow"}},
	{"by", tallying("mixed"), []string{"--by", "route", "--sum", "size", "main.handle"}},
	{"statsd", startStatsd, []string{"github.com/prometheus/statsd_exporter/*"}},
	{"statsdby", startStatsd, []string{"--by", "line", statsdLine}},
	{"proxy", startProxy, []string{"main.*", "net/http.*"}},
}

const (
	estimateAlone  = 3 * time.Second // a whole number of the bursts' seconds, like the next
	estimateProbed = 4 * time.Second
	estimateFirst  = time.Second
	// timeSlack is how far the mean time of a call in tally may be from the time between its two probes:
	// the call, the return and the clock's steps are in it.
	timeSlack = 0.1
	timeStep  = 6.0                   // ns
	passLimit = 50 * time.Millisecond // how far readings of two functions may be apart
	timeSlice = 3e6                   // ns that a call may take longer because others had the CPU
)

// estimates compares the numbers of a run under a budget with what the program knows: the bounds that
// ftgo states must contain the truth in 19 of 20 rows, and the program must not lose more than one and a
// half times the budget, in all of the run and in its first second, nor be said to.
func estimates(t *testing.T) {
	for _, e := range estimated {
		for _, percent := range []int{0, 1, 5, 25} { // 0 is none, and tries the trial itself
			t.Run(fmt.Sprintf("%s/%d%%", e.name, percent), func(t *testing.T) {
				var sum judgement
				for range cmp.Or(*runs, 3) {
					sum.add(t, judge(t, e.start(t), percent, e.ftgo))
				}
				fmt.Printf("%-8s %2d%%  %s\n", e.name, percent, sum.line(t, float64(percent)))
			})
		}
	}
}

// judgement is what is found of one run or of several.
type judgement struct {
	runs, allHeld     int
	held, judged      map[string]int
	open              map[string]int // of those, how many have no upper bound, or are left empty
	absent            int            // functions that were called and have no row
	widths            []float64      // of CALLS: the bounds' distance from their middle, relative
	loss, wall, first []float64      // percent
	arming            []float64      // ms of CPU time
	noise             []float64      // percent: how far what it does before is from what it does after
	misses            []string
	share             []float64 // percent, as ftgo says
}

func (j *judgement) add(t *testing.T, o judgement) {
	if j.held == nil {
		j.held, j.judged, j.open = make(map[string]int), make(map[string]int), make(map[string]int)
	}
	all := true
	for kind, n := range o.judged {
		j.held[kind] += o.held[kind]
		j.judged[kind] += n
		j.open[kind] += o.open[kind]
		all = all && o.held[kind] == n
	}
	j.absent += o.absent
	j.runs++
	if all && o.absent == 0 {
		j.allHeld++
	}
	for to, from := range map[*[]float64][]float64{&j.widths: o.widths, &j.loss: o.loss, &j.wall: o.wall, &j.first: o.first, &j.arming: o.arming, &j.share: o.share, &j.noise: o.noise} {
		*to = append(*to, from...)
	}
	for _, m := range o.misses[:min(len(o.misses), 8)] {
		t.Log(m)
	}
}

// line is a line of the table.
func (j *judgement) line(t *testing.T, percent float64) string {
	text := fmt.Sprintf("all held in %d/%d runs;", j.allHeld, j.runs)
	for _, kind := range slices.Sorted(maps.Keys(j.judged)) {
		text += fmt.Sprintf(" %s %d/%d", kind, j.held[kind], j.judged[kind])
		if j.open[kind] > 0 {
			text += fmt.Sprintf(" (%d open)", j.open[kind])
		}
		if j.open[kind]*2 > j.judged[kind] {
			t.Errorf("%s has no upper bound in %d of %d rows", kind, j.open[kind], j.judged[kind])
			text += "!"
		}
		if float64(j.held[kind]) < 0.95*float64(j.judged[kind]) {
			t.Errorf("%s held in %d of %d rows", kind, j.held[kind], j.judged[kind])
			text += "!"
		}
	}
	if j.absent > 0 {
		t.Errorf("%d functions that were called have no row", j.absent)
		text += fmt.Sprintf(" %d without a row!", j.absent)
	}
	text += fmt.Sprintf("; CALLS within ±%.1f%%", 100*median(j.widths))
	text += fmt.Sprintf("; loss %s (wall %s), first second %s, said %s; alone ±%.1f, arming took %s ms", spread(j.loss), spread(j.wall), spread(j.first), spread(j.share), mean(j.noise)/2, spread(j.arming))
	if loss, first, said := mean(j.loss), mean(j.first), mean(j.share); percent > 0 && max(loss, first, said) > 1.5*percent {
		t.Errorf("loss %.1f%%, in the first second %.1f%%, said to be %.1f%%: too much", loss, first, said)
		text += ": too much"
	}
	return text
}

func mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

func median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	return slices.Sorted(slices.Values(x))[len(x)/2]
}

// spread is a mean with its standard error.
func spread(x []float64) string {
	var squares float64
	for _, v := range x {
		squares += (v - mean(x)) * (v - mean(x))
	}
	return fmt.Sprintf("%.1f±%.1f", mean(x), math.Sqrt(squares/max(1, float64(len(x)-1))/float64(len(x))))
}

// judge runs ftgo once on a program that knows the truth.
func judge(t *testing.T, w *tallyRun, percent int, args []string) (j judgement) {
	j.held, j.judged, j.open = make(map[string]int), make(map[string]int), make(map[string]int)
	defer w.end()
	defer w.stop()
	time.Sleep(estimateAlone)
	line := append([]string{"probe", "-p", strconv.Itoa(w.pid), "-d", strconv.Itoa(int(estimateProbed / time.Second)), "--budget", strconv.Itoa(percent)}, args...)
	launched := time.Now()
	functions, run := estimating(t, line)
	ended := time.Now()
	time.Sleep(estimateAlone + 10*time.Millisecond)
	samples := w.stop()

	began, until := run.Began, run.Began.Add(time.Duration(run.Seconds*float64(time.Second)))
	truth := tallied{w: w, samples: samples, began: began, until: until, pass: min(run.Pass, passLimit) + w.slack,
		alone: [2]stretch{w.between(samples, launched.Add(-estimateAlone), launched), w.between(samples, ended, ended.Add(estimateAlone))}}

	alone := truth.alone
	efficiency := (alone[0].efficiency() + alone[1].efficiency()) / 2
	speed := (alone[0].speed() + alone[1].speed()) / 2
	all, first, arming := w.between(samples, began, until), w.between(samples, began, began.Add(estimateFirst)), w.between(samples, launched, began)
	if run.Pass > passLimit {
		t.Logf("readings of functions are up to %v apart", run.Pass)
	}
	truth.hits = float64(run.Hits)
	truth.spent = max(0, all.cpu-all.work/efficiency) * 1e9
	j.loss = []float64{100 * all.lost(efficiency)}
	j.wall = []float64{100 * (1 - all.speed()/speed)}
	j.first = []float64{100 * first.lost(efficiency)}
	j.arming = []float64{1000 * (arming.cpu - arming.work/efficiency)}
	j.noise = []float64{100 * math.Abs(alone[0].efficiency()/alone[1].efficiency()-1)}
	j.share = []float64{100 * run.Probing.Share}

	for _, r := range functions {
		rows := w.rowsOf(r)
		if rows == nil {
			continue
		}
		kind := ""
		if r.Value != "" {
			kind = "by "
		}
		calls := truth.calls(rows)
		said := r.calls()
		if said.high+said.low > 0 && !math.IsInf(said.high, 1) {
			j.widths = append(j.widths, (said.high-said.low)/(said.high+said.low))
		}
		j.hold(kind+"CALLS", r, said, calls)
		j.hold(kind+"RATE", r, r.rate(), calls.over(all.seconds))
		if total, ok := r.total(); ok && w.times {
			j.hold(kind+"TOTAL", r, total, truth.total(rows))
		}
		if sum, ok := r.sum(); ok {
			j.hold(kind+"SUM", r, sum, truth.sum(rows))
		}
	}
	for i, row := range w.rows {
		shown := slices.ContainsFunc(functions, func(r estimateRow) bool { return r.Function == row.Function })
		if calls := truth.calls([]int{i}); row.Value == "" && !shown && calls.low > 0 && asked(args, row.Function) {
			j.absent++
			j.misses = append(j.misses, fmt.Sprintf("%s has no row, and %.6g to %.6g calls are true", row.Function, calls.low, calls.high))
		}
	}
	return j
}

// asked tells whether a pattern among arguments takes a function.
func asked(args []string, function string) bool {
	return slices.ContainsFunc(args, func(pattern string) bool {
		text := strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(regexp.QuoteMeta(pattern))
		return regexp.MustCompile("^" + text + "$").MatchString(function)
	})
}

func (j *judgement) hold(kind string, r estimateRow, said, truth bounds) {
	j.judged[kind]++
	if math.IsInf(said.high, 1) {
		j.open[kind]++
	}
	if said.low <= truth.high && truth.low <= said.high {
		j.held[kind]++
		return
	}
	j.misses = append(j.misses, fmt.Sprintf("%s of %s %s: %.6g to %.6g, and %.6g to %.6g is true", kind, r.Function, r.Value, said.low, said.high, truth.low, truth.high))
}

// bounds are the least and the most that a number may be.
type bounds struct{ low, high float64 }

func (b bounds) over(seconds float64) bounds { return bounds{b.low / seconds, b.high / seconds} }

// estimateRow is a function's object, as far as it is judged.
type estimateRow struct {
	Function, Value string
	Calls           float64
	CallsLow        *float64 `json:"calls_low"`
	CallsHigh       *float64 `json:"calls_high"`
	Seen            *float64
	Rate            float64
	NS              estimatedSum
	Low             estimatedSum `json:"ns_low"`
	High            estimatedSum `json:"ns_high"`
	SumOf           *struct {
		estimatedSum
		Low  *float64 `json:"sum_low"`
		High *float64 `json:"sum_high"`
	} `json:"sum_of"`
}

type estimatedSum struct{ Sum *float64 }

// boundsOf are the bounds of a number. Of an estimate one that is missing is none, and all of it may be.
func (r estimateRow) boundsOf(n, low, high *float64) bounds {
	b := bounds{0, math.Inf(1)}
	if r.Seen == nil && n != nil {
		b = bounds{*n, *n}
	}
	if low != nil {
		b.low = *low
	}
	if high != nil {
		b.high = *high
	}
	return b
}

// calls are the bounds that are stated of the calls of the whole run.
func (r estimateRow) calls() bounds { return r.boundsOf(&r.Calls, r.CallsLow, r.CallsHigh) }

// rate has the relative bounds of calls: it is of the whole run, too.
func (r estimateRow) rate() bounds {
	c, middle := r.calls(), r.Calls
	if middle == 0 {
		return bounds{r.Rate, r.Rate}
	}
	const rounding = 0.001
	return bounds{r.Rate * c.low / middle * (1 - rounding), r.Rate * c.high / middle * (1 + rounding)}
}

// total are the bounds that are stated of the time in calls.
func (r estimateRow) total() (b bounds, ok bool) {
	return r.boundsOf(r.NS.Sum, r.Low.Sum, r.High.Sum), r.NS.Sum != nil || r.Seen != nil
}

func (r estimateRow) sum() (b bounds, ok bool) {
	if r.SumOf == nil {
		return b, false
	}
	return r.boundsOf(r.SumOf.Sum, r.SumOf.Low, r.SumOf.High), true
}

func tallying(mode string) func(t *testing.T) *tallyRun {
	return func(t *testing.T) *tallyRun {
		file := filepath.Join(t.TempDir(), "counts")
		s := startSelftimed(t, fixture.Build(t, "tally"), file, mode)
		f, err := os.Open(file)
		check(t, err)
		defer f.Close()
		memory, err := syscall.Mmap(int(f.Fd()), 0, len(s.begun.Rows)*int(unsafe.Sizeof(tallyCounts{})), syscall.PROT_READ, syscall.MAP_SHARED)
		check(t, err)
		table := unsafe.Slice((*tallyCounts)(unsafe.Pointer(&memory[0])), len(s.begun.Rows))
		w := &tallyRun{pid: s.pid, rows: s.begun.Rows, times: true, every: 2 * time.Millisecond, slack: time.Millisecond, end: s.end}
		w.read = func() []tallyCounts {
			now := make([]tallyCounts, len(table))
			for i := range table {
				now[i] = tallyCounts{atomic.LoadUint64(&table[i].calls), atomic.LoadUint64(&table[i].ns), atomic.LoadUint64(&table[i].timed)}
			}
			return now
		}
		w.begin()
		return w
	}
}

// around are the last sample before a moment and the first after it.
func around(samples []tallySample, at time.Time) (before, after tallySample) {
	i, _ := slices.BinarySearchFunc(samples, at, func(s tallySample, at time.Time) int { return s.at.Compare(at) })
	return samples[max(0, min(i, len(samples))-1)], samples[min(i, len(samples)-1)]
}

// stretch is what the program did in some time.
type stretch struct {
	seconds, cpu, work float64
	rows               []tallyCounts
}

func (s stretch) efficiency() float64 { return s.work / s.cpu }

// lost is the share of the CPU time that the work would not have taken at an efficiency. A budget is a share of what the program uses, or
// of a tenth of a CPU if that is more.
func (s stretch) lost(efficiency float64) float64 {
	return (s.cpu - s.work/efficiency) / max(s.cpu, s.seconds/10)
}

func (s stretch) speed() float64 { return s.work / s.seconds }

func (c tallyCounts) minus(o tallyCounts) tallyCounts {
	return tallyCounts{c.calls - o.calls, c.ns - o.ns, c.timed - o.timed}
}

// estimating runs ftgo to its end, and returns what it says of functions, and of the run.
func estimating(t *testing.T, args []string) (said []estimateRow, run estimateRun) {
	o, err := command(t, time.Minute, fixture.Command(t, "cmd/ftgo"), append(args, "-q", "-o", "json")...).run()
	check(t, err)
	for line := range strings.Lines(o.stdout) {
		if strings.HasPrefix(line, `{"type":"summary"`) {
			check(t, json.Unmarshal([]byte(line), &run))
		} else {
			var r estimateRow
			check(t, json.Unmarshal([]byte(line), &r))
			said = append(said, r)
		}
	}
	return said, run
}

// estimateRun is its summary.
type estimateRun struct {
	Began   time.Time
	Seconds float64
	Hits    uint64
	Pass    time.Duration `json:"pass_ns"`
	Probing struct{ Share float64 }
}
