package tracefs

import (
	"errors"
	"strings"
	"testing"
)

func TestHistogramsMissing(t *testing.T) {
	f, fake := newFake(t)
	if got := strings.Join(f.HistogramsMissing(), " "); got != "CONFIG_HIST_TRIGGERS CONFIG_SYNTH_EVENTS" {
		t.Errorf("of a kernel with neither: %s", got)
	}
	err := f.CheckHistograms()
	if !errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), "CONFIG_HIST_TRIGGERS and CONFIG_SYNTH_EVENTS") {
		t.Errorf("error %v", err)
	}
	fake.put("README", "\t    Format: hist:keys=<field1[,field2,...]>\n")
	if got := strings.Join(f.HistogramsMissing(), " "); got != "CONFIG_SYNTH_EVENTS" {
		t.Errorf("with hist triggers: %s", got)
	}
	fake.put("synthetic_events", "")
	if got := f.HistogramsMissing(); len(got) > 0 {
		t.Errorf("with both: %s", got)
	}
	if err := f.CheckHistograms(); !errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), "5.4") {
		t.Errorf("without appending: %v", err)
	}
}
