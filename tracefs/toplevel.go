package tracefs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/tracefs/internal/files"
)

// setting is a file and what it is set to.
type setting struct{ file, value string }

// borrowTopLevel makes the top level the session's own for a while, if nobody uses it. What
// the session will change there is noted first; what is in the buffer is lost.
func (s *Session) borrowTopLevel(opt Options) error {
	if !opt.TopLevel {
		return fmt.Errorf("record in an instance: %w (since Linux 3.14)", ErrNotSupported)
	}
	for _, idle := range []setting{{"current_tracer", "nop"}, {"set_event", ""}} {
		now, err := s.fs.tree.ReadTrimmed(idle.file)
		if err != nil {
			return files.Refused("read", s.file(idle.file), err)
		}
		if now != idle.value {
			return fmt.Errorf("record at the top level of tracefs: somebody uses it: %s reads %q", s.file(idle.file), now)
		}
	}
	var borrowed []setting
	for _, file := range borrowedFiles {
		now, err := s.fs.tree.ReadTrimmed(file)
		if err != nil {
			return files.Refused("read", s.file(file), err)
		}
		borrowed = append(borrowed, setting{file, settingOf(now)})
	}
	s.defined = true
	note := fmt.Sprintf("p:%s/%s /proc/self/exe:0x0\n", s.name, noteOf(borrowed))
	if err := s.fs.tree.Ops.Append(s.fs.tree.Path("uprobe_events"), note); err != nil {
		return fmt.Errorf("note the settings of the top level: %w", err)
	}
	s.borrowed = borrowed
	return nil
}

// borrowedFiles are the settings of the top level that a session changes.
var borrowedFiles = []string{"trace_clock", "buffer_size_kb", "tracing_on"}

// notePrefix begins the name of an event that is never enabled, which notes what they were, for
// who sweeps what a killed run has left.
const notePrefix = "before_"

func noteOf(borrowed []setting) string {
	var name strings.Builder
	name.WriteString(notePrefix)
	for _, b := range borrowed {
		name.WriteString("_" + strings.ReplaceAll(b.value, "-", "_"))
	}
	return name.String()
}

// noted is what a note says, given the clocks that there are.
func noted(name, clocks string) ([]setting, bool) {
	text, isNote := strings.CutPrefix(name, notePrefix+"_")
	for clock := range strings.FieldsSeq(strings.NewReplacer("[", "", "]", "").Replace(clocks)) {
		rest, ok := strings.CutPrefix(text, strings.ReplaceAll(clock, "-", "_")+"_")
		if size, on, cut := strings.Cut(rest, "_"); isNote && ok && cut && !strings.Contains(on, "_") {
			var borrowed []setting
			for i, value := range []string{clock, size, on} {
				borrowed = append(borrowed, setting{borrowedFiles[i], value})
			}
			return borrowed, true
		}
	}
	return nil, false
}

// settingOf is the value of a file as it is written: of "local [global]" the one in
// brackets, of "7 (expanded: 1408)" the size that the buffer gets when it is first used.
func settingOf(shown string) string {
	if _, rest, ok := strings.Cut(shown, "["); ok {
		value, _, _ := strings.Cut(rest, "]")
		return value
	}
	if _, rest, ok := strings.Cut(shown, "(expanded: "); ok {
		return strings.TrimSuffix(rest, ")")
	}
	return shown
}

// returnTopLevel puts back what was changed; the clock, which empties the buffer, last.
func (f *FS) returnTopLevel(borrowed []setting) error {
	var errs []error
	for _, b := range slices.Backward(borrowed) {
		if b.value == "X" { // sizes that differ from CPU to CPU
			continue
		}
		if err := f.tree.Ops.Write(f.tree.Path(b.file), b.value); err != nil {
			errs = append(errs, files.Refused("put back", f.tree.Path(b.file), err))
		}
	}
	return errors.Join(errs...)
}

// sweepTopLevel disables what a run that was killed has left enabled at the top level, for want
// of instances, and puts the settings back that it has noted. Elsewhere nothing of ours is ever
// enabled there.
func (f *FS) sweepTopLevel(group string) error {
	file := f.tree.Path("events", group, "enable")
	// What can't be read now, removeGroup looks at again, and tells.
	if now, err := f.tree.ReadTrimmed("events", group, "enable"); err == nil && now != "0" {
		if err := f.tree.Ops.Write(file, "0"); err != nil {
			return files.Refused("write", file, err)
		}
	}
	events, err := f.tree.Events(group)
	if err != nil {
		return err
	}
	clocks, err := f.tree.ReadTrimmed("trace_clock")
	if err != nil {
		return files.Refused("read", f.tree.Path("trace_clock"), err)
	}
	for _, event := range events {
		if borrowed, ok := noted(strings.TrimPrefix(event, group+"/"), clocks); ok {
			return f.returnTopLevel(borrowed)
		}
	}
	return nil
}
