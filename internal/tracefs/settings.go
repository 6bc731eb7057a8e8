package tracefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// setting is a file and its value.
type setting struct{ file, value string }

// plainOptions are the trace options that the parsers of text and pages need. A new instance copies the options of the
// top level (kernel/trace/trace.c, trace_array_create), which another user may have changed.
var plainOptions = []setting{
	{"latency-format", "0"}, {"raw", "0"}, {"hex", "0"}, {"bin", "0"}, {"fields", "0"},
	{"stacktrace", "0"}, {"userstacktrace", "0"}, // these add a record to each event
	{"context-info", "1"}, {"irq-info", "1"}, {"markers", "1"},
}

// setOptions sets plainOptions in the session's instance. Before Linux 4.4, instances share one set of options, which
// has no files in the instance and stays unchanged.
func (s *Session) setOptions() error {
	for _, o := range plainOptions {
		now, err := s.fs.files.Read(s.file("options", o.file))
		if err == nil && strings.TrimSpace(string(now)) != o.value {
			err = s.write(o.value, "options", o.file)
		} else if isNotExist(err) {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// useTopLevel checks that no other program uses the top level, and saves the settings that the session will change. A note,
// an event that is never enabled, shows Sweep that the settings of a killed run were changed. When the session changes these
// settings, the top level's buffer loses its contents.
func (s *Session) useTopLevel(opt Options) error {
	if !opt.TopLevel {
		return fmt.Errorf("record in an instance: %w (since Linux 3.14)", ErrNotSupported)
	}
	for _, idle := range []setting{{"current_tracer", "nop"}, {"set_event", ""}} {
		now, err := s.fs.readTrimmed(idle.file)
		if err != nil {
			return err
		}
		if now != idle.value {
			return fmt.Errorf("record at the top level of tracefs: it is in use: %s reads %q", s.file(idle.file), now)
		}
	}
	var saved []setting
	for _, initial := range topLevel {
		now, err := s.fs.readTrimmed(initial.file)
		if err != nil {
			return err
		}
		saved = append(saved, setting{initial.file, settingValue(now)})
	}
	s.defined = true
	note := fmt.Sprintf("p:%s/note /proc/self/exe:0x0\n", s.Name)
	if err := s.fs.files.Append(s.fs.path("uprobe_events"), note); err != nil {
		return fmt.Errorf("note the settings of the top level: %w", err)
	}
	s.savedSettings = saved
	return nil
}

// topLevel are the settings of the top level that a session changes, with their values after the boot.
var topLevel = []setting{{"trace_clock", "local"}, {"buffer_size_kb", "1408"}, {"tracing_on", "1"}}

// settingValue returns the value to write in order to restore a file that shows text: "global" for "local [global]",
// and for "7 (expanded: 1408)" the size that the buffer gets at its first use, "1408".
func settingValue(shown string) string {
	if _, rest, ok := strings.Cut(shown, "["); ok {
		shown, _, _ = strings.Cut(rest, "]")
	} else if _, rest, ok := strings.Cut(shown, "(expanded: "); ok {
		shown = strings.TrimSuffix(rest, ")")
	}
	return shown
}

// restoreTopLevel restores settings in reverse order. So the clock, which empties the buffer, comes last.
func (f *FS) restoreTopLevel(saved []setting) error {
	var errs []error
	for _, b := range slices.Backward(saved) {
		if b.value != "X" { // "X" means that the CPUs have buffers of different sizes
			errs = append(errs, f.files.Write(f.path(b.file), b.value))
		}
	}
	return errors.Join(errs...)
}

// sweepTopLevel disables the events that a killed run has left enabled at the top level, and resets the settings. It is for
// kernels without instances; on others, a session enables nothing at the top level.
func (f *FS) sweepTopLevel(group string) error {
	// If this read fails, checkDisabled reads the file again and returns the error.
	if now, err := f.readTrimmed("events", group, "enable"); err == nil && now != "0" {
		if err := f.files.Write(f.path("events", group, "enable"), "0"); err != nil {
			return err
		}
	}
	if !f.exists("events", group, "note") {
		return nil
	}
	return f.restoreTopLevel(topLevel)
}
