package metrics

import (
	"encoding/hex"
	"slices"

	"github.com/ftgo/ftgo/internal/pairing"
)

// programSpan has the trace ID and the span ID of a span that the program itself began.
type programSpan [24]byte

// maxJoined is the number of calls in each of the two maps of joined.
const maxJoined = 1 << 16

// joined maps the IDs of the latest calls to the spans of the program in which they began. A full newer becomes older.
type joined struct{ newer, older map[uint64]programSpan }

func (j *joined) of(id uint64) (s programSpan, ok bool) {
	if s, ok = j.newer[id]; !ok {
		s, ok = j.older[id]
	}
	return s, ok
}

func (j *joined) put(id uint64, s programSpan) {
	if len(j.newer) >= maxJoined || j.newer == nil {
		j.older, j.newer = j.newer, make(map[uint64]programSpan)
	}
	j.newer[id] = s
}

// Begin notes the span of the program in which a call begins: traceparent, in the form of the W3C header. If traceparent is
// empty, the call belongs to the trace of the call around it.
func (s *Spans) Begin(c *pairing.Call, traceparent []byte) {
	var own programSpan
	if len(traceparent) == len("00-")+32+len("-")+16+len("-01") {
		if _, err := hex.Decode(own[:], slices.Concat(traceparent[3:35], traceparent[36:52])); err == nil {
			s.joined.put(c.ID, own)
			return
		}
	}
	if outer, ok := s.joined.of(c.Parent); ok {
		s.joined.put(c.Parent, outer) // again, because the call goes on
		s.joined.put(c.ID, outer)
	}
}

// identity returns the trace ID of the span of a call, and the ID of its parent. A call that began in a span of the program is
// in its trace. Its parent is this span, or the call around it if that began in the same span.
func (s *Spans) identity(c *pairing.Call) (trace, parent []byte) {
	own, ok := s.joined.of(c.ID)
	if !ok {
		return s.traceID(c.Root), s.spanID(c.Parent)
	}
	if outer, ok := s.joined.of(c.Parent); ok && outer == own {
		return own[:16], s.spanID(c.Parent)
	}
	return own[:16], own[16:]
}
