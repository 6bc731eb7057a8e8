package ftrace

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
	data          []byte
	from          *kernelFormats
}

// AppendFields appends the event's values in the order in which the kernel describes them.
// They are valid as long as the event.
func (e *KernelEvent) AppendFields(out []KernelField) []KernelField {
	return e.from.appendFields(out, e.Event, e.data)
}

// Number is the value of a number by its name.
func (e *KernelEvent) Number(name string) (n uint64, ok bool) {
	for i := range e.from.events[e.Event] {
		if f := &e.from.events[e.Event][i]; f.kind == numberField && f.name == name {
			return f.number(e.data, f.at), true
		}
	}
	return 0, false
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

// kernelReader reads events of the kernel itself, and puts hits in between.
type kernelReader struct {
	kernelMerge
	src  KernelSource
	sink Sink
	ev   KernelEvent
}

func newKernelReader(src KernelSource, sink Sink) (*kernelReader, error) {
	texts, err := src.Formats()
	if err != nil {
		return nil, err
	}
	formats, err := newKernelFormats(src.Names(), texts)
	if err != nil {
		return nil, err
	}
	return &kernelReader{kernelMerge: kernelMerge{formats: formats, pages: rawMerge{formats: formats.raw}}, src: src, sink: sink}, nil
}

// read takes the kernel events that are there; idle: there was no hit.
func (k *kernelReader) read(idle bool) error {
	if idle {
		k.hitsEmpty()
	}
	_, err := k.pass()
	k.release(k.sink.Hit, k.tell)
	return err
}

func (k *kernelReader) pass() (n int, err error) {
	k.begin()
	n, err = k.src.Pages(k.pages.add)
	k.end()
	return n, err
}

// finish takes the last: the source has stopped.
func (k *kernelReader) finish() {
	// What can't be read is missing, as is what was never recorded.
	for n, err := k.pass(); n > 0 && err == nil; {
		n, err = k.pass()
	}
	k.flush(k.sink.Hit, k.tell)
}

func (k *kernelReader) tell(ev *Event) {
	k.ev = KernelEvent{Event: ev.Format, Time: ev.Time, CPU: ev.CPU, TID: ev.TID, PID: k.src.Process(ev.TID), data: ev.data, from: k.formats}
	k.sink.Kernel(&k.ev)
}
