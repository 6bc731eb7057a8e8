package parse

// Outcome is how a call ended, as far as it was seen.
type Outcome uint8

const (
	// Returned: by a RET, or by jumping into another function. Only then does the
	// call have a duration.
	Returned Outcome = iota
	// Unwound: it never returned, because a panic or Goexit went through it or its
	// goroutine is gone; or its return was lost, which the kernel's counts tell.
	Unwound
	// Open: nothing had ended it when tracing did.
	Open
	// Abandoned: the probes that would have told its end were taken out meanwhile.
	Abandoned
)

func (o Outcome) String() string {
	switch o {
	case Returned:
		return "return"
	case Unwound:
		return "unwound"
	case Abandoned:
		return "abandoned"
	}
	return "open"
}

// Call is one call of a function.
type Call struct {
	// Func is the function's index in Plan.Funcs.
	Func int
	// PID is the process, 0 where the kernel did not tell; TID and CPU are where
	// the call began. It may have ended on others.
	PID, TID, CPU int
	// Bias is the distance of addresses in the process, as it was when the call began, from
	// those in the file.
	Bias uint64
	// Goid is the goroutine's id, 0 on a thread's system stack and outside Go.
	Goid uint64
	// Depth is the number of traced calls that the call is nested in, on its
	// goroutine.
	Depth int
	// Start and End are time stamps of the trace clock. End is when the call
	// returned, or was first seen to be gone.
	Start, End uint64
	Outcome    Outcome
	// Split is what the time from Start to End was spent with, if the call has Returned and
	// the plan follows the scheduler ([uprobe.Options].Sched): its parts add up to it.
	Split Split
	// SP is the stack pointer when the call began.
	SP uint64
	// Hits are those of probes on its stack from Start on, its own where it began included,
	// before the one at End. What they cost the program is part of the time between.
	Hits Hits
	// Inside: on its goroutine, a call of one of the functions given to Stream.Inside was
	// open when it began.
	Inside bool
	// StackHi is the end of the stack that SP is on, 0 if that is not known; Stack the words
	// that tell the callers, for [uprobe.Callers].
	StackHi uint64
	Stack   []uint64
	// Args are the words that were fetched where the call began, Results those where it
	// ended, for the Decode of the function's captures; Results are nil if it did not end
	// by a RET.
	Args, Results []uint64
}
