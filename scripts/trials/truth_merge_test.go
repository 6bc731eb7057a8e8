package trials

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

const (
	mergeFiles     = 200 // of one machine each
	mergeFunctions = 200
	mergeCalls     = 1000 // of each function on each machine
	mergeTime      = 10 * time.Second
)

// latenciesOf are latencies as -o json has them in buckets: each number up to 127 ns has one, each power of two above it 64.
type latenciesOf struct {
	min, max, sum int64
	counts        map[int64]int
}

func (l *latenciesOf) add(ns int64) {
	if l.counts == nil {
		*l = latenciesOf{min: ns, max: ns, counts: make(map[int64]int)}
	}
	l.min, l.max, l.sum = min(l.min, ns), max(l.max, ns), l.sum+ns
	shift := max(bits.Len64(uint64(ns))-7, 0)
	l.counts[ns>>shift<<shift]++
}

func (l *latenciesOf) String() string {
	var pairs []string
	for _, from := range slices.Sorted(maps.Keys(l.counts)) {
		pairs = append(pairs, fmt.Sprintf("[%d,%d]", from, l.counts[from]))
	}
	return fmt.Sprintf(`{"min":%d,"max":%d,"sum":%d,"counts":[%s]}`, l.min, l.max, l.sum, strings.Join(pairs, ","))
}

// merges has "ftgo report" add up what 200 machines have written, and compares it with the same calls put into one histogram of each
// function. It fails if these differ, or if it takes too long.
func merges(t *testing.T) {
	dir, random := t.TempDir(), rand.New(rand.NewPCG(18, 200))
	all := make([]latenciesOf, mergeFunctions)
	var files []string
	size := int64(0)
	for host := range mergeFiles {
		files = append(files, filepath.Join(dir, fmt.Sprintf("web%d.json", host)))
		f, err := os.Create(files[host])
		check(t, err)
		w := bufio.NewWriter(f)
		for i := range all {
			var net, low, high, raw latenciesOf
			for range mergeCalls {
				ns := int64(math.Exp(float64(9+i%8) + 0.5*random.NormFloat64()))
				all[i].add(ns)
				net.add(ns)
				low.add(max(ns-1500, 0))
				high.add(ns + 800)
				raw.add(ns + 3000)
			}
			fmt.Fprintf(w, `{"type":"function","function":"main.f%d","calls":%d,"completed":%[2]d,"buckets":{"ns":%v,"low":%v,"high":%v,"raw":%v}}`+"\n", i, mergeCalls, &net, &low, &high, &raw)
		}
		fmt.Fprintf(w, `{"type":"summary","host":"web%d","began":"2026-11-23T12:00:00Z","seconds":20,"functions":%d,"hits":%d,"delivered":%[3]d}`+"\n", host, mergeFunctions, 2*mergeFunctions*mergeCalls)
		check(t, w.Flush())
		at, err := f.Seek(0, io.SeekCurrent)
		check(t, err)
		check(t, f.Close())
		size += at
	}
	c := command(t, childLimit, fixture.Command(t, "cmd/ftgo"), append([]string{"report", "-o", "json"}, files...)...)
	o, err := c.run()
	check(t, err)
	took := o.ended.Sub(o.launched)
	fmt.Printf("%d files, %d MB: %.1f s, %.1f s of CPU time, %.0f MB of memory\n", mergeFiles, size>>20, took.Seconds(), (o.user + o.sys).Seconds(), o.maxRSS/(1<<20))
	if took > mergeTime {
		t.Errorf("it took %v, more than %v", took, mergeTime)
	}
	seen := 0
	for line := range strings.Lines(o.stdout) {
		var row struct {
			Type, Function string
			Calls, Lost    int
			Buckets        struct {
				NS struct {
					Min, Max, Sum int64
					Counts        json.RawMessage
				}
			}
		}
		check(t, json.Unmarshal([]byte(line), &row))
		if row.Type != "function" {
			continue
		}
		var i int
		_, err := fmt.Sscanf(row.Function, "main.f%d", &i)
		check(t, err)
		h := row.Buckets.NS
		if got := fmt.Sprintf(`{"min":%d,"max":%d,"sum":%d,"counts":%s}`, h.Min, h.Max, h.Sum, h.Counts); row.Calls != mergeFiles*mergeCalls || got != all[i].String() {
			t.Errorf("%s: %d calls, another histogram than that of all", row.Function, row.Calls)
		}
		seen++
	}
	if seen != mergeFunctions {
		t.Errorf("%d functions", seen)
	}
}
