package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/stats"
)

type functionLine struct {
	Type     string `json:"type"`
	Function string `json:"function"`
	PID      *int   `json:"pid,omitempty"`
	countsLine
	Rate float64 `json:"rate"`
	latenciesLine
	// Events has no entry for what never happened; it is left out without --with.
	Events map[string]uint64 `json:"events,omitzero"`
}

// countsLine is what became of the calls of a function.
type countsLine struct {
	Calls     uint64 `json:"calls"`
	Completed uint64 `json:"completed"`
	// Unfinished are Unwound and Open where these are not told apart.
	Unwound    *uint64 `json:"unwound,omitempty"`
	Open       *uint64 `json:"open,omitempty"`
	Unfinished *uint64 `json:"unfinished,omitempty"`
	Lost       uint64  `json:"lost"`
	Unsure     uint64  `json:"unsure,omitempty"`
	Errors     *uint64 `json:"errors,omitempty"`
	// CountedOnly is there where calls were counted first.
	CountedOnly *uint64 `json:"counted_only,omitempty"`
	TooOften    float64 `json:"too_often,omitempty"`
}

// latenciesLine is how long they took.
type latenciesLine struct {
	NS any `json:"ns,omitempty"`
	// Between Low and High are what the calls took without probes; Raw is with them, and so
	// is NS if IsRaw.
	Low   *latencyNS `json:"ns_low,omitempty"`
	High  *latencyNS `json:"ns_high,omitempty"`
	Raw   *latencyNS `json:"ns_raw,omitempty"`
	IsRaw bool       `json:"raw,omitempty"`
	// Sched divides the sum of NS.
	Sched     *splitNS     `json:"sched,omitempty"`
	AtMost    *atMostNS    `json:"ns_at_most,omitempty"`
	Histogram []bucketLine `json:"histogram,omitempty"`
}

type latencyNS struct {
	Min  int64 `json:"min"`
	Mean int64 `json:"mean"`
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	Max  int64 `json:"max"`
	Sum  int64 `json:"sum"`
}

func newLatencyNS(of func(stats.Statistic) int64) *latencyNS {
	var n latencyNS
	for i, to := range [...]*int64{&n.Min, &n.Mean, &n.P50, &n.P90, &n.P99, &n.Max, &n.Sum} {
		*to = of(stats.Statistics[i])
	}
	return &n
}

// exactNS is what is exact where the kernel has kept latencies, atMostNS what is not.
type exactNS struct {
	Mean int64 `json:"mean"`
	Sum  int64 `json:"sum"`
}

type atMostNS struct {
	P50 int64 `json:"p50"`
	P90 int64 `json:"p90"`
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// bucketLine counts latencies of at least From and less than To.
type bucketLine struct {
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Count uint64 `json:"count"`
}

type summaryLine struct {
	Type string `json:"type"`
	auditLine
	Probes    int             `json:"probes"`
	Functions int             `json:"functions"`
	Skipped   []stats.Skipped `json:"skipped"`
	Seconds   float64         `json:"seconds"`
	Events    *eventAudit     `json:"events,omitempty"`
	Probing   *probingLine    `json:"probing,omitempty"`
}

// auditLine is what became of hits.
type auditLine struct {
	Hits      uint64  `json:"hits"`
	Delivered uint64  `json:"delivered"`
	Lost      uint64  `json:"lost"`
	Filtered  uint64  `json:"filtered,omitempty"`
	Before    uint64  `json:"before,omitempty"`
	After     uint64  `json:"after,omitempty"`
	Pass      int64   `json:"pass_ns,omitempty"`
	Vanished  []int   `json:"vanished,omitempty"`
	Counted   uint64  `json:"counted,omitempty"`
	MaxRate   float64 `json:"max_rate,omitempty"`
	Unparsed  uint64  `json:"unparsed"`
}

// eventAudit says what became of kernel events, which are no part of hits.
type eventAudit struct {
	Delivered uint64 `json:"delivered"`
	Lost      uint64 `json:"lost"`
	Unparsed  uint64 `json:"unparsed"`
}

func functionsJSON(w io.Writer, rows []stats.Row, o Options) error {
	lines := jsonLines{}
	for _, row := range rows {
		line := functionLine{
			Type: "function", Function: row.Name, Rate: row.Rate,
			countsLine: countsLine{Calls: row.Calls, Completed: row.Completed, Lost: row.Lost, Unsure: row.Unsure},
		}
		if line.Unwound, line.Open = &row.Unwound, &row.Open; o.Bucketed {
			line.Unwound, line.Open, line.Unfinished = nil, nil, &row.Unfinished
		}
		if o.Processes {
			line.PID = &row.PID
		}
		line.Events = eventObject(row, o.Events)
		if o.CountFirst {
			line.CountedOnly = &row.CountedOnly
			line.TooOften = row.TooOften
		}
		if row.ReturnsErrors {
			line.Errors = &row.Errors
		}
		if h := row.Latency; o.Latency && h != nil && h.Count() > 0 {
			all := newLatencyNS(func(s stats.Statistic) int64 { return s.Of(h) })
			if line.NS = all; o.Bucketed {
				line.NS, line.AtMost = &exactNS{all.Mean, all.Sum}, &atMostNS{all.P50, all.P90, all.P99, all.Max}
			}
			if b := row.Bounds; b != nil {
				line.IsRaw = row.Raw
				line.Low = newLatencyNS(func(s stats.Statistic) int64 { low, _ := b.Of(s); return low })
				line.High = newLatencyNS(func(s stats.Statistic) int64 { _, high := b.Of(s); return high })
				line.Raw = newLatencyNS(func(s stats.Statistic) int64 { return s.Of(&b.Raw) })
			}
			if o.Sched {
				line.Sched = newSplitNS(row.Split)
			}
			for _, b := range h.Buckets(1) {
				line.Histogram = append(line.Histogram, bucketLine(b))
			}
		}
		lines.add(line)
	}
	return lines.write(w)
}

// SummaryJSON writes the object that ends a stream of JSON lines. The other
// formats have no summary among the data; for them there is [Footer].
func SummaryJSON(w io.Writer, s stats.Summary) error {
	lines := jsonLines{}
	var events *eventAudit
	if k := s.Kernel; k != nil {
		events = &eventAudit{k.Delivered, k.Lost, k.Unparsed}
	}
	lines.add(summaryLine{
		Type: "summary",
		auditLine: auditLine{
			Hits: s.Hits, Delivered: s.Delivered, Lost: s.Lost, Filtered: s.Filtered, Before: s.Before, After: s.After, Pass: s.Pass.Nanoseconds(),
			Vanished: s.Vanished, Counted: s.Counted, MaxRate: s.MaxRate, Unparsed: s.Unparsed,
		},
		Probes: s.Probes, Functions: s.Functions,
		// A list without elements is [], not null.
		Skipped: append([]stats.Skipped{}, s.Skipped...),
		Seconds: s.Seconds, Events: events, Probing: newProbingLine(s.Probing),
	})
	return lines.write(w)
}

// jsonLines collects objects, one a line, to write them at once.
type jsonLines struct {
	text bytes.Buffer
	err  error
}

func (l *jsonLines) add(object any) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(object); err != nil && l.err == nil {
		l.err = fmt.Errorf("encode json: %w", err)
	}
	// encoding/json makes strings valid UTF-8 and escapes C0 controls, but passes
	// DEL, C1 controls and bidirectional overrides on to the reader's terminal. Such
	// runes occur in strings only, where \u is the same rune to a JSON parser.
	for text := bytes.TrimSuffix(line.Bytes(), []byte("\n")); len(text) > 0; {
		r, size := utf8.DecodeRune(text)
		switch {
		case unicode.IsPrint(r):
			l.text.Write(text[:size])
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&l.text, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&l.text, `\u%04x`, r)
		}
		text = text[size:]
	}
	l.text.WriteByte('\n')
}

func (l *jsonLines) write(w io.Writer) error {
	if l.err != nil {
		return l.err
	}
	if _, err := w.Write(l.text.Bytes()); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}
