package parse

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ftgo/ftgo/tracefs/uprobe"
)

// benchPlan is testPlan with sites at the addresses of a real program, where calls are
// paired or, like the first event alone, only counted.
func benchPlan(paired bool) *uprobe.Plan {
	plan := testPlan()
	if !paired {
		plan.Mode = uprobe.CountRecorded
		plan.Events = plan.Events[:1]
		plan.Events[0].Fields, plan.Events[0].Args = uprobe.NoFields, nil
	}
	for i := range plan.Events {
		plan.Events[i].Add(uprobe.Place{Kind: plan.Events[i].Kind(0), Addr: benchAddr(i), Func: 0})
	}
	return plan
}

func benchAddr(event int) uint64 { return 0x4a7100 + 0x10*uint64(event) }

// benchWords are what benchPlan's events fetch.
var benchWords = []uint64{824635817728, 824635826176, 824635817848, 824635801600, 1}

// benchEvent is the event of the i-th hit: calls begin and end in turn.
func benchEvent(plan *uprobe.Plan, i int) int { return 2 * (i % 2) % len(plan.Events) }

const benchEvents = 400

// BenchmarkStream is all that happens to an event between the reader and the statistics:
// text is parsed, raw pages are decoded and merged, and begins and ends are paired.
func BenchmarkStream(b *testing.B) {
	for _, paired := range []bool{false, true} {
		name := map[bool]string{false: "count", true: "pair"}[paired]
		plan := benchPlan(paired)
		b.Run(name+"/text", func(b *testing.B) {
			var text []byte
			for i := range benchEvents {
				ev := benchEvent(plan, i)
				text = fmt.Appendf(text, "             hot-14713   (  14713) [001] d....  %d: %s: (%#x)", 3459387221845+i*1741, plan.Events[ev].Name, benchAddr(ev))
				for k, a := range plan.Events[ev].Args {
					text = fmt.Appendf(text, " %s=%d", a.Name, benchWords[k])
				}
				text = append(text, '\n')
			}
			benchStream(b, plan, nil, func(s *Stream) {
				s.feed(text)
				s.idle()
			})
		})
		b.Run(name+"/raw", func(b *testing.B) {
			texts, hit := rawPlan(b)
			formats := slices.Clone(texts[:len(plan.Events)])
			if !paired {
				formats = []string{"ID: 100\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" +
					"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n"}
			}
			var pages [][]byte
			var records [][]byte
			size := rawPageHeader
			for i := range benchEvents {
				ev := benchEvent(plan, i)
				record := hit(ev, append([]uint64{benchAddr(ev)}, benchWords[:len(plan.Events[ev].Args)]...)...)
				if size+len(record) > 4096 {
					pages, records, size = append(pages, page(1e9, 0, records...)), nil, rawPageHeader
				}
				records, size = append(records, record), size+len(record)
			}
			pages = append(pages, page(1e9, 0, records...))
			benchStream(b, plan, &rawSource{formats: formats}, func(s *Stream) {
				for _, p := range pages {
					s.raw.add(0, p)
				}
				s.raw.pass(s.rawEvent)
			})
		})
	}
}

// benchProcesses are one that is wanted.
type benchProcesses struct{}

func (benchProcesses) Of(int, int) int                 { return 14713 }
func (benchProcesses) Wanted(pid int) bool             { return pid == 14713 }
func (benchProcesses) Bias(int, uint64) (uint64, bool) { return 0, true }

func benchStream(b *testing.B, plan *uprobe.Plan, src Source, round func(*Stream)) {
	calls := 0
	s, err := NewStream(plan, src, benchProcesses{}, returns(func(c *Call) {
		if c.Outcome == Returned {
			calls++
		}
	}), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		round(s)
	}
	var events uint64
	for _, sites := range s.pairer.account.delivered {
		for _, n := range sites {
			events += n
		}
	}
	if want := uint64(b.N * benchEvents); events != want || s.Unparsed()+s.pairer.account.unmatched > 0 || len(plan.Events) > 1 && calls != int(events/2) {
		b.Fatalf("%d events of %d, %d calls, %d unparsed, %+v", events, want, calls, s.Unparsed(), s.pairer.account)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
