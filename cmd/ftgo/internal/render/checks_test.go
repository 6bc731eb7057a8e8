package render

import (
	"bytes"
	"testing"
)

func TestChecksGolden(t *testing.T) {
	checks := []Check{
		{Check: "kernel", State: "ok", Text: "Linux 6.18.0"},
		{Check: "tracefs", State: "missing", Text: "not mounted", Fix: "mount -t tracefs tracefs /sys/kernel/tracing"},
		{Check: "hist", State: "warning", Text: "CONFIG_HIST_TRIGGERS is not set: no \x1b[31mhistograms"},
		{Check: "mount namespace", State: "unknown", Text: "may not be looked at"},
		{Check: "cost", State: "ok", Text: "a hit costs 593ns", NS: &CostNS{593.5, 11000, 41}},
	}
	for _, format := range []Format{Table, JSON, CSV} {
		golden(t, "checks-"+format.String(), func(w *bytes.Buffer) error { return Checks(w, format, checks) })
	}
}
