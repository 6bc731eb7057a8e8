package tracefs

import (
	"context"
	"fmt"
)

// Extension is a set of events that join a running session.
//
// They are events of their own: a site that is appended to an enabled event never
// fires.
type Extension struct {
	session *Session
	events  []Event
}

// Extend defines more events in a running session, and leaves them off. It may be called
// beside Read, and takes its time: the kernel compares each new site with all that are
// there. If it fails, some of the events may be defined; Close removes them with the
// others.
func (s *Session) Extend(ctx context.Context, events []Event) (*Extension, error) {
	for i := range events {
		if err := s.check(&events[i]); err != nil {
			return nil, err
		}
	}
	if err := s.defineAll(ctx, events); err != nil {
		return nil, err
	}
	return &Extension{s, events}, nil
}

// Join makes the events the session's, behind those that it has: Profile and Formats
// tell of them from now on, and the end disarms them, before all that were there
// earlier. It must not be called beside other methods of the session.
func (s *Session) Join(x *Extension) {
	s.joined = append(s.joined, len(s.events))
	s.events = append(s.events, x.events...)
}

// Arm puts the probes of an extension that has joined into place, those of the last
// event first. It may be called beside Read.
func (x *Extension) Arm(ctx context.Context) error { return x.session.enableAll(ctx, x.events) }

// Disarm takes them out again, those of the first event first, for good. It may be
// called beside Read, and returns when no hit is under way any more, after some 45 ms an
// event.
func (x *Extension) Disarm() error { return x.session.disableAll(x.events) }

// check refuses events that can't be defined.
func (s *Session) check(ev *Event) error {
	if err := ev.Check(); err != nil {
		return err
	}
	if len(ev.Sites) > 1 && !s.features.Append {
		return fmt.Errorf("define event %s with %d sites: %w", ev.Name, len(ev.Sites), ErrNotSupported)
	}
	return nil
}
