package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/stats"
)

func TestFooterGolden(t *testing.T) {
	var skipped []stats.Skipped
	for i := range 8 {
		skipped = append(skipped, stats.Skipped{Function: fmt.Sprintf("main.f%d", i), Reason: "undecodable byte at +0x1a"})
	}
	probe := stats.Summary{Hits: 30002, Delivered: 30002, Seconds: 10, Clock: "x86-tsc", LatencyMeasured: true, HitCost: 11600.4}
	lossy := probe
	lossy.Hits, lossy.Delivered, lossy.Lost, lossy.Unparsed, lossy.Skipped = 900000, 504440, 395560, 1, skipped
	noted := probe
	noted.Skipped = []stats.Skipped{{Function: "main.exit", Reason: "no return site"}}
	for _, test := range []struct {
		name string
		rows []stats.Row
		s    stats.Summary
	}{
		{"ordinary", ordinary(), probe},
		{"eventful", eventful(), lossy},
		{"function both skipped and noted", eventful(), noted},
		{"never hit", nil, stats.Summary{Seconds: 0.5, LatencyMeasured: true, Clock: "x86-tsc"}},
		{"count", ordinary(), stats.Summary{Hits: 900000007, Seconds: 10, HitCost: 812}},
		{"one hit", ordinary()[3:4], stats.Summary{Hits: 1, Delivered: 1, Seconds: 3, LatencyMeasured: true}},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden(t, "footer-"+strings.ReplaceAll(test.name, " ", "-"), func(w *bytes.Buffer) error { return Footer(w, test.rows, test.s) })
		})
	}
}
