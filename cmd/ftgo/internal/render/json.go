package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// writeObjects writes them a line each.
func writeObjects(w io.Writer, objects ...object) error {
	var text []byte
	for _, o := range objects {
		line, err := encode(o)
		if err != nil {
			return fmt.Errorf("encode json: %w", err)
		}
		// encoding/json makes strings valid UTF-8 and escapes C0 controls, but passes DEL, C1
		// controls and bidirectional overrides on to the reader's terminal.
		text = append(append(text, printable.JSON(line)...), '\n')
	}
	return write(w, "json", text)
}

// object is a JSON object whose members are in this order; those that are nil are left out.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON is for encoding/json.
func (o object) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for _, m := range o {
		if m.value == nil {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		value, err := encode(m.value)
		if err != nil {
			return nil, err
		}
		b = append(append(printable.AppendJSON(b, m.key), ':'), value...)
	}
	return append(b, '}'), nil
}

// encode leaves < and > as they are.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// SummaryJSON writes the object that ends a stream of JSON lines. The other
// formats have no summary among the data; for them there is [Footer].
func SummaryJSON(w io.Writer, s stats.Summary) error {
	summary := object{
		{"type", "summary"}, {"hits", s.Hits}, {"delivered", s.Delivered}, {"lost", s.Lost},
		{"filtered", nonzero(s.Filtered)}, {"before", nonzero(s.Before)}, {"after", nonzero(s.After)},
		{"pass_ns", nonzero(s.Pass.Nanoseconds())}, {"vanished", known(len(s.Vanished) > 0, s.Vanished)},
		{"counted", nonzero(s.Counted)}, {"max_rate", nonzero(s.MaxRate)},
		{"unparsed", s.Unparsed}, {"probes", s.Probes}, {"functions", s.Functions},
		{"skipped", append([]stats.Skipped{}, s.Skipped...)}, // without elements it is [], not null
		{"seconds", s.Seconds},
	}
	if k := s.Kernel; k != nil { // they are no part of hits
		events := object{{"delivered", k.Delivered}, {"lost", k.Lost}, {"unparsed", k.Unparsed}}
		summary = append(summary, member{"events", events})
	}
	if p := s.Probing; p != nil {
		round := func(ns float64) int64 { return int64(math.Round(ns)) }
		summary = append(summary, member{"probing", object{
			{"ns", round(p.NS)}, {"ns_low", round(p.Low)}, {"ns_high", round(p.High)},
			{"cpu_ns", nonzero(round(p.CPU))}, {"share", nonzero(p.Share(p.NS))},
			{"functions", known(len(p.Functions) > 0, p.Functions)}, {"others_ns", nonzero(round(p.Others))},
			{"emulated_hit_ns", round(p.Emulated)}, {"stepped_hit_ns", round(p.Stepped)},
		}})
	}
	return writeObjects(w, summary)
}
