package pairing

import "github.com/ftgo/ftgo/internal/uprobe"

// HitCost is what a hit costs the program, in nanoseconds: where the kernel emulates the
// instruction under the probe, where it single-steps it, each word fetched for a value, and what it
// takes more where a pointer leads nowhere.
type HitCost struct{ Emulated, Stepped, Word, Fault float64 }

// UsualCost is what hits are taken to cost where that can't be measured: where the kernel
// single-steps in a virtual machine it is as much.
var UsualCost = HitCost{Emulated: 1000, Stepped: 10_000, Word: 100, Fault: 1000}

// Of is what hits cost.
func (c HitCost) Of(h Hits) float64 {
	return float64(h.Emulated)*c.Emulated + float64(h.Stepped)*c.Stepped + float64(h.Words)*c.Word + float64(h.Faults)*c.Fault
}

// Times is so many times the cost.
func (c HitCost) Times(n float64) HitCost {
	return HitCost{c.Emulated * n, c.Stepped * n, c.Word * n, c.Fault * n}
}

// Change is what it takes to place or to remove a probe, on each CPU that the program uses: the kernel puts
// another page of code there, and interrupts the program to make it known (uprobe_write_opcode and
// ptep_clear_flush, kernel/events/uprobes.c of 6.12). It goes by the single-step, because both are dear where
// a virtual machine has to be left for them; where 100,000 changes were measured each took 0.44 of one.
func (c HitCost) Change() float64 { return c.Stepped / 2 }

// Dearest is what a hit of an event costs at most.
func (c HitCost) Dearest(ev *uprobe.Event) float64 {
	var dearest float64
	for i := range ev.Sites {
		var hit Hits
		hit.add(1, &ev.Sites[i], ev.Words, ev.Reads(&ev.Sites[i]).Most())
		dearest = max(dearest, c.Of(hit))
	}
	return dearest
}

// Left is what is left of a call that was seen to take ns, without its hits.
func (c HitCost) Left(call *Call, ns int64) int64 { return max(ns-int64(c.Of(call.Hits)), 0) }

// HitCosts are what is known of it.
type HitCosts struct{ Least, Typical, Most HitCost }
