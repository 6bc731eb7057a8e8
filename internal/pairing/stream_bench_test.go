package pairing

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// benchPlan returns testPlan with sites at addresses as in a real program. Calls are paired or, with only the first
// event, counted.
func benchPlan(paired bool) *uprobe.Plan {
	plan := testPlan()
	if !paired {
		plan.Mode = uprobe.CountRecorded
		plan.Events = plan.Events[:1]
		plan.Events[0].Fields, plan.Events[0].Args = noFields, nil
	}
	for i := range plan.Events {
		plan.Events[i].Sites = append(plan.Events[i].Sites, uprobe.Site{Kind: plan.Events[i].Sites[0].Kind, Addr: benchAddr(i), Func: 0})
	}
	return plan
}

func benchAddr(event int) uint64 { return 0x4a7100 + 0x10*uint64(event) }

// benchWords are the words that the events fetch.
var benchWords = []uint64{824635817728, 824635826176, 824635817848, 824635801600, 1}

// benchEvent returns the index of the event of the i-th hit, so that calls begin and end alternately.
func benchEvent(plan *uprobe.Plan, i int) int { return 2 * (i % 2) % len(plan.Events) }

const benchEvents = 300

// benchSource returns the same text or pages at each read.
type benchSource struct {
	text    []byte // fits into one read
	given   bool
	formats []string
	pages   [][]byte
}

func (s *benchSource) Read(_ context.Context, buf []byte) (int, error) {
	if s.given = !s.given; !s.given {
		return 0, nil
	}
	if buf[0] == 0 { // otherwise buf has the text from the previous read
		copy(buf, s.text)
	}
	return len(s.text), nil
}

func (s *benchSource) Formats() ([]string, error) { return s.formats, nil }

func (s *benchSource) ReadPages(_ context.Context, page func(int, []byte)) (n int, err error) {
	for _, p := range s.pages {
		page(0, p)
	}
	return len(s.pages), nil
}

// rawFormats returns the formats of raw records of a plan's events, all of whose arguments are words.
func rawFormats(plan *uprobe.Plan) (formats []string) {
	for i := range plan.Events {
		var text strings.Builder
		text.WriteString(fmt.Sprintf("ID: %d\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"+
			"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\tfield:unsigned long __probe_ip;\toffset:8;\tsize:8;\tsigned:0;\n", 100+i))
		for k, a := range plan.Events[i].Args {
			text.WriteString(fmt.Sprintf("\tfield:s64 %s;\toffset:%d;\tsize:8;\tsigned:1;\n", a.Name, 16+8*k))
		}
		formats = append(formats, text.String())
	}
	return formats
}

// rawRecord returns a record of an event on thread 9. The words are the address and the arguments.
func rawRecord(event int, words ...uint64) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(2+2*len(words)))
	b = append(b, byte(100+event), 0, 0, 0, 9, 0, 0, 0)
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}

// rawPage returns a page with records.
func rawPage(stamp uint64, records []byte) []byte {
	b := binary.LittleEndian.AppendUint64(nil, stamp)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(records)))
	return append(b, records...)
}

// BenchmarkStream measures parsing or decoding of events, merging, and pairing.
func BenchmarkStream(b *testing.B) {
	for _, paired := range []bool{false, true} {
		name := map[bool]string{false: "count", true: "pair"}[paired]
		plan := benchPlan(paired)
		b.Run(name+"/text", func(b *testing.B) {
			var src benchSource
			for i := range benchEvents {
				ev := benchEvent(plan, i)
				src.text = fmt.Appendf(src.text, "             hot-14713   (  14713) [001] d....  %d: %s: (%#x)", 3459387221845+i*1741, plan.Events[ev].Name, benchAddr(ev))
				for k, a := range plan.Events[ev].Args {
					src.text = fmt.Appendf(src.text, " %s=%d", a.Name, benchWords[k])
				}
				src.text = append(src.text, '\n')
			}
			benchStream(b, plan, &src, 2)
		})
		b.Run(name+"/raw", func(b *testing.B) {
			src := benchSource{formats: rawFormats(plan)}
			var records []byte
			for i := range benchEvents {
				ev := benchEvent(plan, i)
				record := rawRecord(ev, append([]uint64{benchAddr(ev)}, benchWords[:len(plan.Events[ev].Args)]...)...)
				if 16+len(records)+len(record) > 4096 {
					src.pages, records = append(src.pages, rawPage(1e9, records)), nil
				}
				records = append(records, record...)
			}
			src.pages = append(src.pages, rawPage(1e9, records))
			benchStream(b, plan, &src, 1)
		})
	}
}

func benchStream(b *testing.B, plan *uprobe.Plan, src parse.Source, reads int) {
	calls := 0
	s := open(b, plan, src, Options{Of: func(int, int) (int, bool) { return 14713, true }})
	b.ReportAllocs()
	for b.Loop() {
		for range reads {
			for it, err := range s.Read(b.Context()) {
				if err != nil {
					b.Fatal(err)
				}
				if it.Kind == Ended && it.Call.Outcome == Returned {
					calls++
				}
			}
		}
	}
	events := s.account.delivered()
	if want := uint64(b.N * benchEvents); events != want || s.Counts(Counters{}).Unparsed > 0 || len(plan.Events) > 1 && calls != int(events/2) {
		b.Fatalf("%d events of %d, %d calls, %d unparsed, %+v", events, want, calls, s.Counts(Counters{}).Unparsed, s.account)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
}
