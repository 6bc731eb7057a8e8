package ftrace

// Event is one hit of one of our probes, as a line of trace_pipe tells it.
type Event struct {
	// Format is the index of the event in the list that the reader was made with.
	Format int
	// Time is in the units of the trace clock: nanoseconds for clocks that print
	// seconds and microseconds, a bare count (x86-tsc: cycles) otherwise.
	Time uint64
	// CPU is where the probe was hit.
	CPU int
	// TID is the thread, PID its process; PID is 0 where the line has no TGID
	// column or the kernel had forgotten it ("-----").
	TID, PID int
	// Addr is the probed address in the process, load bias included.
	Addr uint64
	// Args are the fetched values in the order of the event's arguments, signed ones in
	// two's complement, an array's elements one after the other.
	Args []uint64
	// data is the record of an event of the kernel itself.
	data []byte
}

// eventFormat is what the lines of one event look like: the definition's event name
// and the names of its fetchargs, in order.
type eventFormat struct {
	Event string
	Args  []string
	// Len tells arrays: Len[i] is the number of elements of Args[i], 0 if it is
	// a plain value. Nil means plain values only.
	Len []int
}
