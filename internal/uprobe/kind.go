package uprobe

// Kind is what a hit of an event means.
type Kind uint8

const (
	// Entry: a call begins.
	Entry Kind = iota
	// EntryJump: a call begins if the stack check has passed, as the flags tell;
	// else the function is about to start again on a larger stack.
	EntryJump
	// Point: an instruction that was asked for by its place is executed. It is counted
	// as a call that nothing more is known of.
	Point
	// Return: a call ends by a RET.
	Return
	// TailJump: a call ends by a jump into another function, which returns for both.
	TailJump
	// CondTail: the same by a conditional jump, if the flags say that it is taken.
	CondTail
	// GoroutineEnd: the goroutine will not return into any of its calls.
	GoroutineEnd
	// Recovery: a panic was recovered, and all calls deeper than the one that
	// recovered it are gone.
	Recovery
	// StackMove: the stack of a goroutine has got new bounds.
	StackMove
	// Resume: the thread is about to go on with a goroutine.
	Resume
	// Yield: the thread has left its goroutine, or will for one that is not known.
	Yield
	// Status: a goroutine gets another status.
	Status
	// Park: a goroutine stops for the garbage collector.
	Park
	// Switch: the thread goes on with another goroutine, in whose favour its own waits.
	Switch
	// Counter: a call begins. It is counted, whether others time it or not.
	Counter
	// CounterJump is a Counter at a stack check's jump, as EntryJump is.
	CounterJump
)

// IsEntry tells whether a hit may begin a call.
func (k Kind) IsEntry() bool { return k <= Point }

// Counts tells whether hits are counted, rather than paired.
func (k Kind) Counts() bool { return k >= Counter }
