package render

import (
	"bytes"
	"testing"

	"github.com/ftgo/ftgo/internal/doctor"
)

func TestChecksGolden(t *testing.T) {
	checks := []doctor.Finding{
		{Check: "kernel", State: "ok", Text: "Linux 6.18.0"},
		{Check: "tracefs", State: "missing", Text: "not mounted", Fix: "mount -t tracefs tracefs /sys/kernel/tracing"},
		{Check: "append", State: "warning", Text: "since Linux 5.4: an event \x1b[31ma site"},
		{Check: "mount namespace", State: "unknown", Text: "may not be looked at"},
		{Check: "cost", State: "ok", Text: "a hit costs 593ns"},
	}
	for _, format := range []Format{Table, JSON, CSV} {
		golden(t, "checks-"+format.String(), func(w *bytes.Buffer) error {
			return Checks(w, format, checks, object{{"entry", 593.5}, {"return", 11000}, {"word", 41}, {"fault", 450}})
		})
	}
}
