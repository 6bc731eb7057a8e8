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

// From says where [Stream.Read] is to read, text or raw pages. It finds the processes of
// threads by src's Process, if it has one.
func (s *Stream) From(src Source) error {
	s.src = src
	if threads, ok := src.(interface{ Process(tid, printed int) int }); ok {
		s.Process = threads.Process
	}
	pages, ok := src.(pageSource)
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
