package tracefs

import (
	"fmt"
	"strings"
)

// HistogramsMissing names the kernel's options without which it can't keep histograms of
// latencies by itself, none if it can: CONFIG_HIST_TRIGGERS, which its README tells of
// (kernel/trace/trace.c, readme_msg), and CONFIG_SYNTH_EVENTS, which makes a file. Sites
// must share an event, too ([Features].Append).
func (f *FS) HistogramsMissing() []string {
	var missing []string
	readme, _ := f.ops.Read(f.path("README"))
	if lineWith(string(readme), "hist:keys=") == "" {
		missing = append(missing, "CONFIG_HIST_TRIGGERS")
	}
	if !f.exists("synthetic_events") {
		missing = append(missing, "CONFIG_SYNTH_EVENTS")
	}
	return missing
}

// CheckHistograms is an error that explains what is missing, and is [ErrNotSupported].
func (f *FS) CheckHistograms() error {
	if missing := f.HistogramsMissing(); len(missing) > 0 {
		return fmt.Errorf("keep histograms in the kernel: %w: it was built without %s", ErrNotSupported, strings.Join(missing, " and "))
	}
	if !f.Features().Append {
		return fmt.Errorf("keep histograms in the kernel: %w: it takes Linux 5.4", ErrNotSupported)
	}
	// Before, set_event_pid does not keep probes from triggers: those of all processes would be
	// counted, and paired with each other (kernel commit b7d5eb267f8c, "tracing/uprobes: Use
	// trace_event_buffer_reserve() helper").
	if KernelOlder(5, 17) {
		return fmt.Errorf("keep histograms in the kernel: %w: before Linux 5.17 they don't tell processes apart", ErrNotSupported)
	}
	return nil
}
