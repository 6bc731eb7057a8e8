package trials

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// estimated are the workloads of testdata/tally, and what ftgo looks at in each.
var estimated = []struct {
	name, mode string
	ftgo       []string
}{
	{"equal", "equal", []string{"main.f??"}},
	{"hot", "hot", []string{"main.f??"}},
	{"bursts", "bursts", []string{"main.f??"}},
	{"sleeps", "sleeps", []string{"main.f??", "main.nap"}},
	{"mixed", "mixed", []string{"main.f??", "main.handle", "main.slow"}},
	{"by", "mixed", []string{"--by", "route", "--sum", "size", "main.handle"}},
}

const (
	estimateAlone  = 3 * time.Second // a whole number of the bursts' seconds, like the next
	estimateProbed = 4 * time.Second
	// timeSlack is how far the mean time of a call in tally may be from the time between its two probes:
	// the call, the return and the clock's steps are in it.
	timeSlack = 0.1
	timeStep  = 6.0                   // ns
	timeSlice = 3e6                   // ns that a call may take longer because others had the CPU
	passLimit = 50 * time.Millisecond // readings of two functions may be so far apart
	tallyStep = time.Millisecond      // tally may count a call so long after ftgo does
)

// estimates compares the numbers of a run under a budget with what the program knows: the bounds that
// ftgo states must contain the truth in 19 of 20 rows, and the program must not lose more than one and a
// half times the budget, in all of the run and in its first second, nor be said to.
func estimates(t *testing.T) {
	for _, e := range estimated {
		for _, percent := range []int{0, 1, 5, 25} { // 0 is no budget, and tries the trial itself
			t.Run(fmt.Sprintf("%s/%d%%", e.name, percent), func(t *testing.T) {
				j := judgement{T: t, kinds: make(map[string]*held)}
				for range cmp.Or(*runs, 3) {
					j.run(percent, e.mode, e.ftgo)
				}
				fmt.Printf("%-8s %2d%%  %s\n", e.name, percent, j.line(float64(percent)))
			})
		}
	}
}

// held counts the rows of a number: those whose bounds contain the truth, all, and those without an upper bound.
type held struct{ held, judged, open int }

// judgement is the comparison of some runs.
type judgement struct {
	*testing.T
	kinds              map[string]*held
	widths             []float64 // of CALLS: the bounds' distance from their middle, relative
	loss, first, share []float64 // percent: measured, measured in the first second, and as ftgo says
}

// line is a line of the table. It fails the test by what is wrong.
func (j *judgement) line(percent float64) (text string) {
	for _, kind := range slices.Sorted(maps.Keys(j.kinds)) {
		h := j.kinds[kind]
		text += fmt.Sprintf("%s %d/%d", kind, h.held, h.judged)
		if h.open > 0 {
			text += fmt.Sprintf(" (%d open)", h.open)
		}
		if h.open*2 > h.judged || float64(h.held) < 0.95*float64(h.judged) {
			j.Errorf("%s: the truth is in %d of %d rows, and %d have no upper bound", kind, h.held, h.judged, h.open)
			text += "!"
		}
		text += " "
	}
	slices.Sort(j.widths)
	if n := len(j.widths); n > 0 {
		text += fmt.Sprintf("CALLS within ±%.1f%%; ", 100*j.widths[n/2])
	}
	text += fmt.Sprintf("loss %.1f%%, first second %.1f%%, said %.1f%%", mean(j.loss), mean(j.first), mean(j.share))
	if percent > 0 && max(mean(j.loss), mean(j.first), mean(j.share)) > 1.5*percent {
		j.Errorf("%s: too much", text)
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

// run runs ftgo once.
func (j *judgement) run(percent int, mode string, args []string) {
	w := startTally(j.T, mode)
	time.Sleep(estimateAlone)
	line := append([]string{"probe", "-p", strconv.Itoa(w.pid), "-d", estimateProbed.String(), "--budget", strconv.Itoa(percent), "-q", "-o", "json"}, args...)
	launched := time.Now()
	o, err := command(j, time.Minute, fixture.Command(j, "cmd/ftgo"), line...).run()
	check(j, err)
	ended := time.Now()
	time.Sleep(estimateAlone + 10*time.Millisecond)
	w.end()

	var functions []estimateRow
	for line := range strings.Lines(o.stdout) {
		var r estimateRow
		check(j, json.Unmarshal([]byte(line), &r))
		functions = append(functions, r)
	}
	last := len(functions) - 1
	run := functions[last] // the summary
	functions = functions[:last]
	x := truth{tally: w, from: run.Began, until: run.Began.Add(time.Duration(run.Seconds * float64(time.Second))), pass: min(run.Pass, passLimit) + tallyStep,
		alone: [2]stretch{w.between(launched.Add(-estimateAlone), launched), w.between(ended, ended.Add(estimateAlone))}}
	efficiency := (x.alone[0].work/x.alone[0].cpu + x.alone[1].work/x.alone[1].cpu) / 2
	all, first := w.between(x.from, x.until), w.between(x.from, x.from.Add(time.Second))
	x.hits, x.spent = run.Hits, max(0, all.cpu-all.work/efficiency)*1e9
	j.loss = append(j.loss, 100*all.lost(efficiency))
	j.first = append(j.first, 100*first.lost(efficiency))
	j.share = append(j.share, 100*run.Probing.Share)

	for _, r := range functions {
		rows := w.rowsOf(r)
		if rows == nil {
			continue
		}
		kind := ""
		if r.Value != "" {
			kind = "by "
		}
		said, calls := r.bounds(&r.Calls, r.CallsLow, r.CallsHigh), x.calls(rows)
		if said.high > 0 && !math.IsInf(said.high, 1) {
			j.widths = append(j.widths, (said.high-said.low)/(said.high+said.low))
		}
		j.judge(kind+"CALLS", r, said, calls)
		// The rate is of the whole run, and has the relative bounds of calls.
		const rounding = 0.001
		if r.Calls > 0 {
			said = bounds{r.Rate * said.low / r.Calls * (1 - rounding), r.Rate * said.high / r.Calls * (1 + rounding)}
			j.judge(kind+"RATE", r, said, bounds{calls.low / all.seconds, calls.high / all.seconds})
		}
		if r.NS.Sum != nil || r.Seen != nil {
			j.judge(kind+"TOTAL", r, r.bounds(r.NS.Sum, r.Low.Sum, r.High.Sum), x.total(rows))
		}
		if s := r.SumOf; s != nil {
			j.judge(kind+"SUM", r, r.bounds(s.Sum, s.Low, s.High), x.sum(rows))
		}
	}
	for i, row := range w.rows {
		asked := slices.ContainsFunc(args, func(pattern string) bool { ok, _ := path.Match(pattern, row.Function); return ok })
		shown := slices.ContainsFunc(functions, func(r estimateRow) bool { return r.Function == row.Function })
		if calls := x.calls([]int{i}); asked && !shown && calls.low > 0 {
			j.Errorf("%s has no row, and %.6g to %.6g calls are true", row.Function, calls.low, calls.high)
		}
	}
}

// judge compares the bounds of a number with those of the truth.
func (j *judgement) judge(kind string, r estimateRow, said, true bounds) {
	h := j.kinds[kind]
	if h == nil {
		h = new(held)
		j.kinds[kind] = h
	}
	h.judged++
	if math.IsInf(said.high, 1) {
		h.open++
	}
	if said.low <= true.high && true.low <= said.high {
		h.held++
	} else {
		j.Logf("%s of %s %s: %.6g to %.6g, and %.6g to %.6g is true", kind, r.Function, r.Value, said.low, said.high, true.low, true.high)
	}
}

// bounds are the least and the most that a number may be.
type bounds struct{ low, high float64 }

// estimateRow is a function's object in ftgo's JSON, or the summary.
type estimateRow struct {
	Function, Value string
	Calls           float64
	CallsLow        *float64 `json:"calls_low"`
	CallsHigh       *float64 `json:"calls_high"`
	Seen            *float64
	Rate            float64
	NS              struct{ Sum *float64 }
	Low             struct{ Sum *float64 } `json:"ns_low"`
	High            struct{ Sum *float64 } `json:"ns_high"`
	SumOf           *struct {
		Sum  *float64
		Low  *float64 `json:"sum_low"`
		High *float64 `json:"sum_high"`
	} `json:"sum_of"`

	Began   time.Time
	Seconds float64
	Hits    float64
	Pass    time.Duration `json:"pass_ns"`
	Probing struct{ Share float64 }
}

// bounds are the stated bounds of a number: an estimate without one has none, and every other number is exact.
func (r estimateRow) bounds(n, low, high *float64) bounds {
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
