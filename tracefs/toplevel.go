package tracefs

import (
	"errors"
	"fmt"
	"strings"
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
		now, err := s.fs.readTrimmed(idle.file)
		if err != nil {
			return refused("read", s.file(idle.file), err)
		}
		if now != idle.value {
			return fmt.Errorf("record at the top level of tracefs: somebody uses it: %s reads %q", s.file(idle.file), now)
		}
	}
	changed := []string{"trace_clock", "buffer_size_kb", "tracing_on"}
	if s.features.RecordTGID {
		changed = append(changed, "options/record-tgid")
	}
	for _, file := range changed {
		now, err := s.fs.readTrimmed(file)
		if err != nil {
			return refused("read", s.file(file), err)
		}
		s.borrowed = append(s.borrowed, setting{file, settingOf(now)})
	}
	return nil
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
func (s *Session) returnTopLevel() error {
	var errs []error
	for i := len(s.borrowed) - 1; i >= 0; i-- {
		b := s.borrowed[i]
		if b.value == "X" { // sizes that differ from CPU to CPU
			continue
		}
		if err := s.fs.ops.Write(s.file(b.file), b.value); err != nil {
			errs = append(errs, refused("put back", s.file(b.file), err))
		}
	}
	s.borrowed = nil
	return errors.Join(errs...)
}

// switchOff disables what a run that was killed has left enabled at the top level, for want
// of instances. Elsewhere nothing of ours is ever enabled there.
func (f *FS) switchOff(group string) error {
	file := f.path("events", group, "enable")
	now, err := f.readTrimmed("events", group, "enable")
	if err != nil || now == "0" {
		return nil // removeGroup looks again, and tells
	}
	if err := f.ops.Write(file, "0"); err != nil {
		return refused("write", file, err)
	}
	return nil
}
