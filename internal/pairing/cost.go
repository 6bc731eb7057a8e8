package pairing

import "github.com/ftgo/ftgo/internal/uprobe"

// HitCost is the cost of hits for the program, in nanoseconds per unit of each field of [Hits].
type HitCost struct{ Emulated, Stepped, Word, Fault float64 }

// UsualCost is the assumed cost where it can't be measured. Stepped is the cost of a single-step in a virtual machine.
var UsualCost = HitCost{Emulated: 1000, Stepped: 10_000, Word: 100, Fault: 1000}

// Of returns the cost of hits.
func (c HitCost) Of(h Hits) float64 {
	return float64(h.Emulated)*c.Emulated + float64(h.Stepped)*c.Stepped + float64(h.Words)*c.Word + float64(h.Faults)*c.Fault
}

// Times returns n times the cost.
func (c HitCost) Times(n float64) HitCost {
	return HitCost{c.Emulated * n, c.Stepped * n, c.Word * n, c.Fault * n}
}

// Change returns the cost of placing or removing a probe, on each CPU that the program uses: the kernel replaces the
// page of code, and interrupts these CPUs to flush the old one (uprobe_write_opcode and ptep_clear_flush,
// kernel/events/uprobes.c of 6.12). The estimate is half of a single-step, because both are expensive in a virtual
// machine that must exit for them. A measurement of 100,000 changes gave 0.44 of a single-step each.
func (c HitCost) Change() float64 { return c.Stepped / 2 }

// Max returns the largest possible cost of a hit of an event.
func (c HitCost) Max(ev *uprobe.Event) float64 {
	var most float64
	for i := range ev.Sites {
		var hit Hits
		hit.add(1, &ev.Sites[i], ev.Words, ev.Reads(&ev.Sites[i]).MaxFaults())
		most = max(most, c.Of(hit))
	}
	return most
}

// Net returns the measured duration ns of a call without the cost of its hits, at least 0.
func (c HitCost) Net(call *Call, ns int64) int64 { return max(ns-int64(c.Of(call.Hits)), 0) }

// HitCosts holds the measured cost with its bounds.
type HitCosts struct{ Least, Typical, Most HitCost }
