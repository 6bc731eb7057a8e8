package tracefs

import (
	"errors"
	"strings"
	"testing"
)

func TestCheckHistograms(t *testing.T) {
	f, fake := newFake(t)
	err := f.CheckHistograms()
	if !errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), "CONFIG_HIST_TRIGGERS and CONFIG_SYNTH_EVENTS") {
		t.Errorf("error %v", err)
	}
	fake.put("README", "\t    Format: hist:keys=<field1[,field2,...]>\n")
	if err := f.CheckHistograms(); err == nil || strings.Contains(err.Error(), "HIST") || !strings.Contains(err.Error(), "CONFIG_SYNTH_EVENTS") {
		t.Errorf("with hist triggers: %v", err)
	}
	fake.put("synthetic_events", "")
	if err := f.CheckHistograms(); !errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), "5.4") {
		t.Errorf("without appending: %v", err)
	}
}
