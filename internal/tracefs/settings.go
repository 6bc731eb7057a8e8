package tracefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// setting is a file and what it is set to.
type setting struct{ file, value string }

// plainOptions are how events are recorded and printed as this package reads them. A new
// instance has the options of the top level (kernel/trace/trace.c, trace_array_create), which
// somebody may have set for a trace of their own.
var plainOptions = []setting{
	{"latency-format", "0"}, {"raw", "0"}, {"hex", "0"}, {"bin", "0"}, {"fields", "0"},
	{"stacktrace", "0"}, {"userstacktrace", "0"}, // a record more for each event
	{"context-info", "1"}, {"irq-info", "1"}, {"markers", "1"},
}

// setPlain gives the session's own instance these options. Before Linux 4.4 there is one set
// for all instances, not in theirs, which is left alone.
func (s *Session) setPlain() error {
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

// borrowTopLevel makes the top level the session's own for a while, if nobody uses it. What
// the session will change there is noted first; what is in the buffer is lost.
func (s *Session) borrowTopLevel(opt Options) error {
	if !opt.TopLevel {
		return fmt.Errorf("record in an instance: %w (since Linux 3.14)", ErrNotSupported)
	}
	for _, idle := range []setting{{"current_tracer", "nop"}, {"set_event", ""}} {
		now, err := s.fs.readTrimmed(idle.file)
		if err != nil {
			return err
		}
		if now != idle.value {
			return fmt.Errorf("record at the top level of tracefs: somebody uses it: %s reads %q", s.file(idle.file), now)
		}
	}
	var borrowed []setting
	for _, file := range borrowedFiles {
		now, err := s.fs.readTrimmed(file)
		if err != nil {
			return err
		}
		borrowed = append(borrowed, setting{file, settingOf(now)})
	}
	s.defined = true
	note := fmt.Sprintf("p:%s/%s /proc/self/exe:0x0\n", s.Name, noteOf(borrowed))
	if err := s.fs.files.Append(s.fs.path("uprobe_events"), note); err != nil {
		return fmt.Errorf("note the settings of the top level: %w", err)
	}
	s.borrowed = borrowed
	return nil
}

// borrowedFiles are the settings of the top level that a session changes.
var borrowedFiles = []string{"trace_clock", "buffer_size_kb", "tracing_on"}

// notePrefix begins the name of a note of them for sweepers: an event that is never enabled.
const notePrefix = "before_"

func noteOf(borrowed []setting) string {
	values := []string{notePrefix}
	for _, b := range borrowed {
		values = append(values, strings.ReplaceAll(b.value, "-", "_"))
	}
	return strings.Join(values, "_")
}

// noted is what a note says, given the clocks that there are.
func noted(name, clocks string) ([]setting, bool) {
	text, isNote := strings.CutPrefix(name, notePrefix+"_")
	for clock := range strings.FieldsSeq(strings.NewReplacer("[", "", "]", "").Replace(clocks)) {
		rest, ok := strings.CutPrefix(text, strings.ReplaceAll(clock, "-", "_")+"_")
		if size, on, cut := strings.Cut(rest, "_"); isNote && ok && cut && !strings.Contains(on, "_") {
			return []setting{{borrowedFiles[0], clock}, {borrowedFiles[1], size}, {borrowedFiles[2], on}}, true
		}
	}
	return nil, false
}

// settingOf is the value of a file as it is written: of "local [global]" the one in
// brackets, of "7 (expanded: 1408)" the size that the buffer gets when it is first used.
func settingOf(shown string) string {
	if _, rest, ok := strings.Cut(shown, "["); ok {
		shown, _, _ = strings.Cut(rest, "]")
	} else if _, rest, ok := strings.Cut(shown, "(expanded: "); ok {
		shown = strings.TrimSuffix(rest, ")")
	}
	return shown
}

// returnTopLevel puts back what was changed; the clock, which empties the buffer, last.
func (f *FS) returnTopLevel(borrowed []setting) error {
	var errs []error
	for _, b := range slices.Backward(borrowed) {
		if b.value != "X" { // sizes that differ from CPU to CPU
			errs = append(errs, f.files.Write(f.path(b.file), b.value))
		}
	}
	return errors.Join(errs...)
}

// sweepTopLevel disables what a killed run has left enabled at the top level, for want of instances,
// and puts the settings back that it has noted. Elsewhere nothing of ours is ever enabled there.
func (f *FS) sweepTopLevel(group string) error {
	// What can't be read now, RemoveGroup looks at again, and tells.
	if now, err := f.readTrimmed("events", group, "enable"); err == nil && now != "0" {
		if err := f.files.Write(f.path("events", group, "enable"), "0"); err != nil {
			return err
		}
	}
	events, err := f.groupEvents(group)
	if err != nil {
		return err
	}
	clocks, err := f.readTrimmed("trace_clock")
	if err != nil {
		return err
	}
	for _, event := range events {
		if borrowed, ok := noted(strings.TrimPrefix(event, group+"/"), clocks); ok {
			return f.returnTopLevel(borrowed)
		}
	}
	return nil
}
