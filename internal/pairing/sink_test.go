package pairing

import "cmp"

// returns is a Sink that takes calls that have ended.
type returns func(*Call)

func (returns) Counted(int, int)     {}
func (returns) Entry(*Call)          {}
func (returns) Kernel(*KernelEvent)  {}
func (returns) Goroutine(*Goroutine) {}
func (r returns) Return(c *Call)     { r(c) }

// entrySink is a Sink that takes calls that begin, too.
type entrySink struct {
	returns
	entry func(*Call)
}

func (e *entrySink) Entry(c *Call) { e.entry(c) }

// noCalls is a Sink that ignores everything.
var noCalls = returns(func(*Call) {})

// testProcesses are Processes that believe what is printed, want all and load files at 0 where
// nothing else is said.
type testProcesses struct {
	of     func(tid, printed int) int
	wanted int // 0 for all
	bias   func(pid int, addr uint64) (uint64, bool)
}

func (p *testProcesses) Of(tid, printed int) int {
	if p.of == nil {
		return printed
	}
	return p.of(tid, printed)
}

func (p *testProcesses) Wanted(_, pid int) (int, bool) { return pid, cmp.Or(p.wanted, pid) == pid }

func (p *testProcesses) Bias(pid int, addr uint64) (uint64, bool) {
	if p.bias == nil {
		return 0, true
	}
	return p.bias(pid, addr)
}
