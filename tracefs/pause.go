package tracefs

// Pause takes the breakpoints out of the probed programs until Resume, which puts them
// in again: one hit every now and then is enough for some, and the rest would cost the
// programs for nothing. It takes some 45 ms an event, after which no hit is under way.
func (s *Session) Pause() error { return s.disable() }

// Resume ends a Pause.
func (s *Session) Resume() error {
	for i := len(s.events) - 1; i >= 0; i-- {
		if err := s.enable(&s.events[i]); err != nil {
			return err
		}
	}
	return nil
}
