package uprobe

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/offsets"
)

// ProgramStart is the [Site.Func] of the probe in Go's startup code, which a process passes once, when it begins to run
// the program: runtime.rt0_go, in assembly, for every link mode. A hit ends all calls that are open under the process
// number, made by another program or by an earlier process of this number.
const ProgramStart = -2

// firstSched is the minor version of the first Go whose scheduler addSchedProbes supports.
const firstSched = 11

// firstPark is the minor version of the first Go that can stop goroutines at any instruction.
const firstPark = 14

// ErrNoSched: the scheduler of a binary is not supported, or can't be probed.
var ErrNoSched = errors.New("can't follow goroutines")

// runtimeProbe is a probe in a function of Go's runtime.
type runtimeProbe struct {
	kind Kind
	name string
	at   func(*offsets.Func, *offsets.Sites) []offsets.Site
}

// addRuntime adds runtime probes, with fn as Site.Func. If a probe can't be placed, it adds none and returns an error.
func (c *planner) addRuntime(fn int, probes ...runtimeProbe) error {
	found := make([][]offsets.Site, len(probes))
	for i, p := range probes {
		f, ok := c.plan.Binary.Lookup(p.name)
		if !ok {
			return fmt.Errorf("no %s", p.name)
		}
		sites, err := c.plan.Binary.Sites(f)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if found[i] = p.at(f, sites); len(found[i]) == 0 {
			return fmt.Errorf("%s: no such site", p.name)
		}
	}
	for i, p := range probes {
		for _, s := range found[i] {
			c.add(shape{kind: p.kind}, fn, s, nil)
		}
	}
	return nil
}

// has reports whether the binary contains a function.
func (c *planner) has(name string) bool {
	_, ok := c.plan.Binary.Lookup(name)
	return ok
}

// atEntry returns the entry of a function, or the stack check if the function begins with it. A call may run the stack check
// more than once, if the check fails. This does no harm: a GoroutineEnd that is hit twice counts once. The other functions do
// not check the stack, or run on the threads' system stacks, which are large enough.
func atEntry(_ *offsets.Func, s *offsets.Sites) []offsets.Site {
	if s.CheckOnly {
		return []offsets.Site{*s.Check}
	}
	return []offsets.Site{s.Entry}
}

func atReturns(_ *offsets.Func, s *offsets.Sites) []offsets.Site { return s.Returns }

func atCheck(_ *offsets.Func, s *offsets.Sites) []offsets.Site {
	if s.Check == nil {
		return nil
	}
	return []offsets.Site{*s.Check}
}

// atGogo returns the calls of runtime.gogo, which resumes a goroutine, in a function. A runtime.gogo that is not in assembly
// is another function with this name.
func (c *planner) atGogo(f *offsets.Func, _ *offsets.Sites) []offsets.Site {
	gogo, ok := c.plan.Binary.Lookup("runtime.gogo")
	if !ok || gogo.ABI != offsets.ABI0 {
		return nil
	}
	calls, _ := c.plan.Binary.Internals().CallsOf(f, gogo) // after an error there are none
	return calls
}

// atStatus returns the entry of casgstatus. Up to Go 1.20, it begins with a SUB, which the kernel single-steps. Then
// atStatus returns a conditional jump instead, if the kernel emulates it.
func (c *planner) atStatus(f *offsets.Func, s *offsets.Sites) []offsets.Site {
	entry := atEntry(f, s)
	if !c.emulated(entry[0]) {
		if jump, err := c.plan.Binary.Internals().FirstBranch(f); err == nil && c.emulated(jump) {
			return []offsets.Site{jump}
		}
	}
	return entry
}

// addEndProbes adds probes in Go's runtime where calls end without a return: the end of a goroutine, also by Goexit,
// and the place where execution resumes after a recovered panic. If stacks identify goroutines, a third probe observes
// moves of stacks.
//
// A binary may lack these functions, because it is not a Go program or lacks names. Then the next event on the goroutine
// shows that such calls have ended. In gccgo's programs, the functions with these names are different ones. They are not
// probed, because no register holds g.
func (c *planner) addEndProbes() {
	if c.conv.G == "" && !c.plan.ByStack {
		return
	}
	end := runtimeProbe{GoroutineEnd, "runtime.goexit1", atEntry}
	if c.plan.ByStack {
		end.at = atCheck
	}
	if c.addRuntime(-1, end) == nil {
		// The start of the program ends all calls, too. This probe is optional.
		_ = c.addRuntime(ProgramStart, runtimeProbe{GoroutineEnd, "runtime.rt0_go", atEntry})
	}
	_ = c.addRuntime(-1, runtimeProbe{Recovery, "runtime.recovery", c.atGogo})
	if c.plan.ByStack {
		_ = c.addRuntime(-1, runtimeProbe{StackMove, "runtime.copystack", atReturns})
	}
}

// addThreadProbes adds probes where Go's scheduler makes a thread run a goroutine, and where the scheduler searches for
// the next goroutine (runtime/proc.go). A goroutine always leaves its thread through schedule. Only coroutines also change
// places in coroswitch_m (since Go 1.23). addThreadProbes returns false if the binary lacks these functions.
func (c *planner) addThreadProbes() bool {
	probes := []runtimeProbe{{Resume, "runtime.execute", atEntry}, {Yield, "runtime.schedule", atEntry}}
	if c.has("runtime.coroswitch_m") {
		probes = append(probes, runtimeProbe{Yield, "runtime.coroswitch_m", atEntry})
	}
	return c.addRuntime(-1, probes...) == nil
}

// FirstFollowed is the minor version of the first Go whose go statements can be followed: its newproc1 returns the new
// goroutine.
const FirstFollowed = 15

// addCreation adds a probe where goroutines are created: go statements and coroutines all call newproc1
// (runtime/proc.go and coro.go, Go 1.15 to 1.26). addCreation returns false if the binary or the kernel does not
// support the probe.
func (c *planner) addCreation() bool {
	minor, _ := c.plan.Binary.GoVersion()
	if minor < FirstFollowed || c.m == 0 || !c.plan.Features.Memory {
		return false
	}
	c.plan.Runtime = runtimeCode(c.plan.Binary.Funcs())
	return c.addRuntime(-1, runtimeProbe{Creation, "runtime.newproc1", atReturns}) == nil
}

// runtimeCode returns the address ranges of package runtime, without corostart, with which coroutines begin.
func runtimeCode(funcs []offsets.Func) (code [][2]uint64) {
	joins := false
	for i := range funcs {
		f := &funcs[i]
		if !inRuntime(f) || f.Name == "runtime.corostart" {
			joins = false
			continue
		}
		if !joins {
			code = append(code, [2]uint64{f.Addr})
		}
		code[len(code)-1][1], joins = f.Addr+f.Size, true
	}
	return code
}

// InRuntime reports whether an address in the file is in Runtime.
func (p *Plan) InRuntime(addr uint64) bool {
	return slices.ContainsFunc(p.Runtime, func(code [2]uint64) bool { return code[0] <= addr && addr < code[1] })
}

// addSchedProbes adds probes where goroutines change their status (runtime/proc.go, Go 1.11 to 1.26). All code calls
// casgstatus(gp, oldval, newval) for this, with these exceptions:
//
//   - preemptPark (since 1.14) stops a goroutine for the garbage collector. The goroutine continues through ready, which
//     calls casgstatus.
//   - coroswitch_m (since 1.23) switches a thread between two goroutines, and resumes the second by a call of gogo.
//   - entersyscall and exitsyscall (since 1.26) are not needed: a goroutine in a system call stays on its thread, which
//     the kernel's scheduler events follow.
//   - With the bit _Gscan and the status _Gcopystack, a goroutine stays where it is.
func (c *planner) addSchedProbes() error {
	minor, version := c.plan.Binary.GoVersion()
	probes := []runtimeProbe{{Status, "runtime.casgstatus", c.atStatus}}
	if len(c.conv.Ints) == 0 { // the arguments are found by SP, which has changed at a jump
		probes[0].at = atEntry
	}
	if minor >= firstPark {
		probes = append(probes, runtimeProbe{Park, "runtime.preemptPark", atEntry})
	}
	if c.has("runtime.coroswitch_m") { // else the program has no coroutines
		probes = append(probes, runtimeProbe{Switch, "runtime.coroswitch_m", c.atGogo})
	}
	switch {
	case minor == 0:
		return fmt.Errorf("%w: not a Go program", ErrNoSched)
	case minor < firstSched:
		return fmt.Errorf("%w of %s: the scheduler is known from Go 1.%d on", ErrNoSched, version, firstSched)
	}
	offset, names, known := c.plan.Binary.Internals().WaitReason()
	if !known {
		return fmt.Errorf("%w of %s: the field with the reason why a goroutine waits is unknown", ErrNoSched, version)
	}
	c.waitReason = offset
	c.plan.Reasons = slices.Concat([]string{"waiting"}, names[min(1, len(names)):], []string{"syscall"})
	if err := c.addRuntime(-1, probes...); err != nil {
		return fmt.Errorf("%w of %s: %w", ErrNoSched, version, err)
	}
	return nil
}

// addWaits adds a function for each wait reason, with the name that stack dumps show for the reason. If the plan fetches
// callers, addWaits also adds probes in the functions that goroutines call before they wait (runtime/proc.go): gopark, and
// entersyscall if the thread blocks. A goroutine may wait without such a call, like a coroutine. Then its wait has no stack.
func (c *planner) addWaits() {
	for _, name := range c.plan.Reasons {
		c.plan.Funcs = append(c.plan.Funcs, Probe{
			Func: &offsets.Func{Name: "[" + name + "]"}, Sites: &offsets.Sites{}, Returns: true,
		})
	}
	if c.plan.Stack == 0 {
		return
	}
	if !c.plan.ByStack { // with ByStack, g is known only at stack checks, and entersyscall and exitsyscall have none
		_ = c.addRuntime(-1, runtimeProbe{Waiter, "runtime.entersyscall", atEntry}, runtimeProbe{WaitOver, "runtime.exitsyscall", atEntry})
	}
	_ = c.addRuntime(-1, runtimeProbe{Waiter, "runtime.gopark", atCheck})
}
