package uprobe

// What sites and events cost, in nanoseconds: measured on Linux 6.18 in a virtual machine
// with 2 MB of second-level cache, 1 to 15,000 sites (scripts/bench -only split does it
// again). Only their ratio matters, and only by its root.
const (
	// compareCost is of one comparison with an earlier site of the same event: each
	// definition makes one with every one of them (kernel/trace/trace_uprobe.c,
	// trace_uprobe_has_same_uprobe).
	compareCost = 6.5
	// graceCost is of the grace period which each event takes when it is disarmed,
	// whatever it holds (trace_uprobe.c, __probe_event_disable). They come one after
	// the other: the kernel holds event_mutex meanwhile, so disabling the whole group,
	// removing the instance, or several threads don't make it one.
	graceCost = 55e6
)

// SitesPerEvent is how many sites to give each event at most for n of them to be armed and
// disarmed in the shortest time.
//
// In k events of n/k sites they cost n²/2k comparisons and k grace periods. That is least
// where one more event would save less in comparisons than it takes:
//
//	n²/2k·compareCost − n²/2(k+1)·compareCost ≤ graceCost
//
// The other costs don't depend on k, first of all that each definition is also compared
// with all others in the kernel (validate_ref_ctr_offset), the larger part from 15,000
// sites on.
func SitesPerEvent(n int) int {
	comparisons := float64(n) * float64(n) / 2
	k := 1
	for comparisons/float64(k*(k+1))*compareCost > graceCost {
		k++
	}
	return max(1, (n+k-1)/k)
}
