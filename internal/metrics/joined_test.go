package metrics

import (
	"encoding/hex"
	"testing"

	"github.com/ftgo/ftgo/internal/pairing"
)

// TestJoined checks to which trace and parent calls belong whose program has spans.
func TestJoined(t *testing.T) {
	const trace, other = "00000000000000000000000000000007", "00000000000000000000000000000008"
	s := &Spans{seeds: [3]uint64{1 << 63, 1 << 63, 1 << 63}}
	own := func(id uint64) string { return hex.EncodeToString(s.spanID(id)) }
	for _, c := range []struct {
		id, parent          uint64
		traceparent         string
		wantTrace, wantSpan string
	}{
		{1, 0, "00-" + trace + "-0000000000000001-01", trace, "0000000000000001"},
		{2, 1, "", trace, own(1)}, // no context
		{3, 2, "00-" + trace + "-0000000000000001-01", trace, own(2)},
		{4, 3, "00-" + trace + "-0000000000000002-01", trace, "0000000000000002"}, // the program began a span in between
		{5, 4, "00-" + other + "-0000000000000003-00", other, "0000000000000003"},
		{6, 0, "00-nonsense", hex.EncodeToString(s.traceID(6)), ""},
		{7, 6, "", hex.EncodeToString(s.traceID(6)), own(6)},
	} {
		call := &pairing.Call{ID: c.id, Parent: c.parent, Root: max(c.id/6*6, 1)}
		s.Begin(call, []byte(c.traceparent))
		gotTrace, gotSpan := s.identity(call)
		if hex.EncodeToString(gotTrace) != c.wantTrace || hex.EncodeToString(gotSpan) != c.wantSpan {
			t.Errorf("call %d: %x below %x, want %s below %s", c.id, gotTrace, gotSpan, c.wantTrace, c.wantSpan)
		}
	}
	// A call that goes on is not forgotten while it begins others, others are.
	for id := uint64(10); id < 10+3*maxJoined; id++ {
		s.Begin(&pairing.Call{ID: id, Parent: 1}, nil)
	}
	_, knows := s.joined.of(1)
	if _, forgot := s.joined.of(2); !knows || forgot || len(s.joined.newer)+len(s.joined.older) > 2*maxJoined {
		t.Errorf("%v, %v, %d", knows, forgot, len(s.joined.newer)+len(s.joined.older))
	}
}
