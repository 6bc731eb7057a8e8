package uprobe

import (
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/offsets"
)

// firstSched is the minor version of the first Go whose scheduler addSchedProbes knows.
const firstSched = 17

// ErrNoSched: it is not known, or not to be seen, what the scheduler of a binary does.
var ErrNoSched = errors.New("can't follow goroutines")

// addSchedProbes probes where goroutines change their status (runtime/proc.go, Go 1.17
// to 1.26). casgstatus(gp, oldval, newval) is the one way to do it, with these exceptions:
//
//   - preemptPark, for a goroutine that is to stop for the garbage collector; the way on
//     leads through ready, and so through casgstatus;
//   - coroswitch_m (since 1.23), which makes a thread change between two goroutines, and
//     goes on with the next by its call of gogo;
//   - entersyscall and exitsyscall (since 1.26), which is no loss: a goroutine in a system
//     call stays on its thread, and what that does the kernel tells;
//   - the bit _Gscan, and _Gcopystack, in which a goroutine stays where it is.
func (c *planner) addSchedProbes() error {
	b := c.plan.Binary
	minor, version := b.GoVersion()
	if minor == 0 {
		return fmt.Errorf("%w: not a Go program", ErrNoSched)
	}
	if minor < firstSched {
		return fmt.Errorf("%w of %s: the scheduler is known from Go 1.%d on", ErrNoSched, version, firstSched)
	}
	status, ok1 := b.Lookup("runtime.casgstatus")
	park, ok2 := b.Lookup("runtime.preemptPark")
	if !ok1 || !ok2 {
		return fmt.Errorf("%w of %s: no runtime.casgstatus or no runtime.preemptPark", ErrNoSched, version)
	}
	code, err := b.Decode(status)
	if err != nil {
		return fmt.Errorf("%w: runtime.casgstatus: %w", ErrNoSched, err)
	}
	s, err := code.Sites()
	if err != nil {
		return fmt.Errorf("%w: runtime.casgstatus: %w", ErrNoSched, err)
	}
	site := s.Entry
	if !c.emulated(site) {
		// Up to 1.20 it begins with a SUB, which is single-stepped.
		if jump, err := code.FirstBranch(); err == nil && c.emulated(jump) {
			site = jump
		}
	}
	c.add(shape{kind: Status, id: byG}, -1, site)
	if s, err = b.Sites(park); err != nil {
		return fmt.Errorf("%w: runtime.preemptPark: %w", ErrNoSched, err)
	}
	c.add(shape{kind: Park, id: byG}, -1, s.Entry)
	coro, ok := b.Lookup("runtime.coroswitch_m")
	if !ok {
		return nil // the program has no coroutines
	}
	gogo, ok := b.Lookup("runtime.gogo")
	if !ok || gogo.ABI != offsets.ABI0 {
		return fmt.Errorf("%w of %s: no runtime.gogo", ErrNoSched, version)
	}
	calls, err := callsOf(b, coro, gogo)
	if err == nil && len(calls) == 0 {
		err = errors.New("no call of runtime.gogo")
	}
	if err != nil {
		return fmt.Errorf("%w: runtime.coroswitch_m: %w", ErrNoSched, err)
	}
	for _, s := range calls {
		c.add(shape{kind: Switch, id: byG}, -1, s)
	}
	return nil
}
