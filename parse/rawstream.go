package parse

import "context"

// pageSource is a [Source] that may give raw pages.
type pageSource interface {
	// Formats are the kernel's descriptions of the plan's events, in its order; none if
	// the source gives text.
	Formats() ([]string, error)
	// ReadPages makes a pass over all CPUs and hands over their pages, and after the last
	// of a CPU, if it has no more, an empty one. n is the number of pages.
	ReadPages(ctx context.Context, page func(cpu int, page []byte)) (n int, err error)
}

// readRaw has the stream read raw pages, if its source gives any.
func (s *Stream) readRaw() error {
	pages, ok := s.src.(pageSource)
	if !ok {
		return nil
	}
	texts, err := pages.Formats()
	if err != nil || texts == nil {
		return err
	}
	formats, err := NewRawFormats(s.formats, texts)
	if err != nil {
		return err
	}
	s.pages, s.raw = pages, &rawMerge{formats: formats}
	return nil
}

// readPages takes what a pass over the source's CPUs finds.
func (s *Stream) readPages(ctx context.Context) (n int, err error) {
	n, err = s.pages.ReadPages(ctx, s.raw.add)
	if err == nil {
		s.raw.pass(s.rawEvent)
		if s.kernel != nil {
			s.kernel.merge.hitsTo = max(s.kernel.merge.hitsTo, s.raw.certain)
		}
	}
	return n, err
}

// rawEvent takes the next event in order of time.
func (s *Stream) rawEvent(ev *Event) {
	s.owned(ev)
	s.inOrder(ev)
}
