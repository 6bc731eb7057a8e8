package parse

// KernelEvent is an event of the kernel itself.
type KernelEvent struct {
	// Event is its index in the list of names that the source has.
	Event int
	// Time is in the units of the trace clock.
	Time uint64
	// TID is the thread that ran when it happened, PID its process: 0 is the idle thread, or
	// a process that is not known. Of an event that is about another thread, like
	// sched:sched_waking, it is the one that did it.
	CPU, TID, PID int
	// Where is what the thread is known to have been doing.
	Where Where
	data  []byte
	from  *kernelFormats
}

// AppendFields appends the event's values in the order in which the kernel describes them.
// They are valid as long as the event.
func (e *KernelEvent) AppendFields(out []KernelField) []KernelField {
	return e.from.appendFields(out, e.Event, e.data)
}

// Where is what a thread was doing at some time.
type Where struct {
	// Known: it is known which stack the thread was on.
	Known bool
	// Goid is the goroutine; 0 if that is not known, or if there was none.
	Goid uint64
	// Func is the index in Plan.Funcs of the innermost traced call that was open there, Depth
	// the number of those that it was inside of; Func is -1 if none was.
	Func, Depth int
	// Start is when that call began, Inside what its Call.Inside is.
	Start  uint64
	Inside bool
}

// KernelSource is where kernel events come from: a tracefs.KernelSession.
type KernelSource interface {
	// Names and Formats are the events and the kernel's descriptions of them.
	Names() []string
	Formats() ([]string, error)
	// Pages makes a pass over all CPUs: see [Source]. It never waits.
	Pages(page func(cpu int, page []byte)) (n int, err error)
	// Process returns the process of a thread.
	Process(tid int) int
}

// kernelStream is the part of a Stream that has kernel events.
type kernelStream struct {
	src   KernelSource
	merge kernelMerge
	sink  Sink
	ev    KernelEvent
	sched schedFormats
}

// with adds kernel events: the sink gets each at its place among the calls, by time.
func (s *Stream) with(src KernelSource, sink Sink) error {
	texts, err := src.Formats()
	if err != nil {
		return err
	}
	formats, err := newKernelFormats(src.Names(), texts)
	if err != nil {
		return err
	}
	s.kernel = &kernelStream{src: src, sink: sink}
	s.kernel.merge.formats = formats
	s.kernel.sched = newSchedFormats(src.Names(), formats)
	s.kernel.merge.pages.formats = formats.raw
	s.pairer.threads = make(map[threadKey]*thread)
	return nil
}

// readKernel takes the kernel events that are there; idle: there was no hit.
func (s *Stream) readKernel(idle bool) error {
	m := &s.kernel.merge
	if idle {
		m.hitsEmpty()
	}
	m.begin()
	_, err := s.kernel.src.Pages(m.pages.add)
	m.end()
	m.release(s.event, s.kernelEvent)
	return err
}

// finishKernel takes the last: the source has stopped.
func (s *Stream) finishKernel() {
	if s.kernel == nil {
		return
	}
	m := &s.kernel.merge
	for {
		m.begin()
		// What can't be read is missing, as is what was never recorded.
		n, err := s.kernel.src.Pages(m.pages.add)
		m.end()
		if n == 0 || err != nil {
			break
		}
	}
	m.flush(s.event, s.kernelEvent)
}

func (s *Stream) kernelEvent(ev *Event) {
	k := s.kernel
	k.ev = KernelEvent{Event: ev.Format, Time: ev.Time, CPU: ev.CPU, TID: ev.TID, PID: k.src.Process(ev.TID), data: ev.data, from: k.merge.formats}
	k.sched.happened(s.pairer.sched, &k.ev)
	k.ev.Where = s.pairer.where(k.ev.PID, ev.TID)
	k.sink.Kernel(&k.ev)
}

// KernelUnparsed is the number of records of kernel events that could not be read.
func (s *Stream) KernelUnparsed() uint64 {
	if s.kernel == nil {
		return 0
	}
	return s.kernel.merge.pages.unreadable
}
