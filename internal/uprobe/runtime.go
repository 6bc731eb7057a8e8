package uprobe

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ftgo/ftgo/offsets"
)

// ProgramStart is what [Event.Func] gives for the place in Go's runtime that a process comes
// by once, when it begins to run the program (runtime.rt0_go in assembly, however
// the program was linked). What the process was doing before, as another program or the same,
// or an earlier process of its number, has ended without a trace.
const ProgramStart = -2

// firstSched is the minor version of the first Go whose scheduler addSchedProbes knows.
const firstSched = 11

// firstPark is that of the first Go that stops goroutines at any instruction.
const firstPark = 14

// ErrNoSched: it is not known, or not to be seen, what the scheduler of a binary does.
var ErrNoSched = errors.New("can't follow goroutines")

// runtimeProbe is a probe in a function of Go's runtime.
type runtimeProbe struct {
	kind Kind
	id   identity
	name string
	at   func(*offsets.Binary, *offsets.Func) ([]offsets.Site, error)
}

// addRuntime adds runtime probes: all of them, or none if any can't be.
func (c *planner) addRuntime(fn int, probes ...runtimeProbe) error {
	found := make([][]offsets.Site, len(probes))
	for i, p := range probes {
		f, ok := c.plan.Binary.Lookup(p.name)
		if !ok {
			return fmt.Errorf("no %s", p.name)
		}
		var err error
		if found[i], err = p.at(c.plan.Binary, f); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	for i, p := range probes {
		for _, s := range found[i] {
			c.add(shape{kind: p.kind, id: p.id}, fn, s, nil)
		}
	}
	return nil
}

// has tells whether the binary has a function.
func (c *planner) has(name string) bool {
	_, ok := c.plan.Binary.Lookup(name)
	return ok
}

// atSites is where calls begin and end, as far as pick takes it.
func atSites(pick func(*offsets.Sites) []offsets.Site) func(*offsets.Binary, *offsets.Func) ([]offsets.Site, error) {
	return func(b *offsets.Binary, f *offsets.Func) ([]offsets.Site, error) {
		sites, err := b.Sites(f)
		if err != nil {
			return nil, err
		}
		if picked := pick(sites); len(picked) > 0 {
			return picked, nil
		}
		return nil, errors.New("no such site")
	}
}

var (
	// atEntry is where a function is entered. At a stack check a goroutine's may come by more than once, and
	// an end that is told twice is one; threads' own stacks are large enough.
	atEntry = atSites(func(s *offsets.Sites) []offsets.Site {
		if s.CheckOnly {
			return []offsets.Site{*s.Check}
		}
		return []offsets.Site{s.Entry}
	})
	atReturns = atSites(func(s *offsets.Sites) []offsets.Site { return s.Returns })
	atCheck   = atSites(func(s *offsets.Sites) (sites []offsets.Site) {
		if s.Check != nil {
			sites = append(sites, *s.Check)
		}
		return sites
	})
)

// gogo is what goes on with a goroutine, if it is the runtime's.
func (c *planner) gogo() (f *offsets.Func, ok bool) {
	f, ok = c.plan.Binary.Lookup("runtime.gogo")
	return f, ok && f.ABI == offsets.ABI0
}

// atGogo is where gogo is called.
func (c *planner) atGogo(b *offsets.Binary, f *offsets.Func) ([]offsets.Site, error) {
	gogo, ok := c.gogo()
	if !ok {
		return nil, errors.New("no runtime.gogo")
	}
	calls, err := b.Internals().CallsOf(f, gogo)
	if err == nil && len(calls) == 0 {
		err = errors.New("no call of runtime.gogo")
	}
	return calls, err
}

// atStatus is the entry of casgstatus. Up to 1.20 it begins with a SUB, which is single-stepped;
// then it is a jump that the kernel emulates, if there is one.
func (c *planner) atStatus(b *offsets.Binary, f *offsets.Func) ([]offsets.Site, error) {
	sites, err := atEntry(b, f)
	if err == nil && !c.emulated(sites[0]) {
		if jump, err := b.Internals().FirstBranch(f); err == nil && c.emulated(jump) {
			sites[0] = jump
		}
	}
	return sites, err
}

// addEndProbes probes the places of Go's runtime that tell of calls which end without a return:
// where goroutines end, Goexit included, and where execution resumes after a recovered panic. A
// binary without them (not Go, stripped of the names) does without: such calls are then found
// unwound by the next event on their goroutine. Where goroutines are known by their stacks, a third
// one tells when a stack moves. gccgo's, with these names and no g in a register, is left out.
func (c *planner) addEndProbes() {
	if c.conv.G == "" && !c.plan.ByStack {
		return
	}
	end := runtimeProbe{GoroutineEnd, byG, "runtime.goexit1", atEntry}
	if c.plan.ByStack {
		end.id, end.at = byCheckG, atCheck
	}
	if c.addRuntime(-1, end) == nil {
		// Where the program begins is a case of it; without, all that follows is as good.
		_ = c.addRuntime(ProgramStart, runtimeProbe{GoroutineEnd, end.id, "runtime.rt0_go", atEntry})
	}
	_ = c.addRuntime(-1, runtimeProbe{Recovery, byG, "runtime.recovery", c.atGogo})
	if c.plan.ByStack {
		_ = c.addRuntime(-1, runtimeProbe{StackMove, byG, "runtime.copystack", atReturns})
	}
}

// addThreadProbes probes where Go's scheduler makes a thread go on with a goroutine, and
// where it looks for the next (runtime/proc.go): every way that a goroutine leaves its
// thread leads to schedule, but for coroutines, which change places in coroswitch_m (since
// Go 1.23). It reports whether the binary has them.
func (c *planner) addThreadProbes() bool {
	id := byG
	if c.plan.ByStack {
		id = byStack // the argument is on the stack
	}
	probes := []runtimeProbe{{Resume, id, "runtime.execute", atEntry}, {Yield, byG, "runtime.schedule", atEntry}}
	if c.has("runtime.coroswitch_m") {
		probes = append(probes, runtimeProbe{Yield, byG, "runtime.coroswitch_m", atEntry})
	}
	return c.addRuntime(-1, probes...) == nil
}

// FirstFollowed is the minor version of the first Go whose go statements can be followed: newproc1
// returns the goroutine since then.
const FirstFollowed = 15

// addCreation probes where goroutines are made: newproc1 is the one way for go statements, and for
// coroutines (runtime/proc.go and coro.go, Go 1.15 to 1.26). It reports whether the binary has it.
func (c *planner) addCreation() bool {
	minor, _ := c.plan.Binary.GoVersion()
	m, curg, known := c.plan.Binary.Internals().Running()
	if c.m, c.curg = m, curg; minor < FirstFollowed || !known || !c.features.Memory {
		return false
	}
	id := byG
	if c.plan.ByStack {
		id = byStack
	}
	c.plan.Runtime = runtimeCode(c.plan.Binary.Funcs())
	return c.addRuntime(-1, runtimeProbe{Creation, id, "runtime.newproc1", atReturns}) == nil
}

// runtimeCode is where functions of package runtime lie, but for the one that coroutines begin with.
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

// InRuntime tells whether an address in the file is in Runtime.
func (p *Plan) InRuntime(addr uint64) bool {
	return slices.ContainsFunc(p.Runtime, func(code [2]uint64) bool { return code[0] <= addr && addr < code[1] })
}

// addSchedProbes probes where goroutines change their status (runtime/proc.go, Go 1.11
// to 1.26). casgstatus(gp, oldval, newval) is the one way to do it, with these exceptions:
//
//   - preemptPark (since 1.14), for a goroutine that is to stop for the garbage collector; the
//     way on leads through ready, and so through casgstatus;
//   - coroswitch_m (since 1.23), which makes a thread change between two goroutines, and
//     goes on with the next by its call of gogo;
//   - entersyscall and exitsyscall (since 1.26), which is no loss: a goroutine in a system
//     call stays on its thread, and what that does the kernel tells;
//   - the bit _Gscan, and _Gcopystack, in which a goroutine stays where it is.
func (c *planner) addSchedProbes() error {
	minor, version := c.plan.Binary.GoVersion()
	probes := []runtimeProbe{{Status, byG, "runtime.casgstatus", c.atStatus}}
	if c.plan.ByStack {
		probes[0].id = byStack
	}
	if len(c.conv.Ints) == 0 { // a jump comes when SP has moved, from which arguments are counted
		probes[0].at = atEntry
	}
	if minor >= firstPark {
		probes = append(probes, runtimeProbe{Park, byG, "runtime.preemptPark", atEntry})
	}
	if c.has("runtime.coroswitch_m") { // else the program has no coroutines
		probes = append(probes, runtimeProbe{Switch, byG, "runtime.coroswitch_m", c.atGogo})
	}
	_, hasGogo := c.gogo()
	switch {
	case minor == 0:
		return fmt.Errorf("%w: not a Go program", ErrNoSched)
	case minor < firstSched:
		return fmt.Errorf("%w of %s: the scheduler is known from Go 1.%d on", ErrNoSched, version, firstSched)
	case !c.has("runtime.casgstatus") || minor >= firstPark && !c.has("runtime.preemptPark"):
		return fmt.Errorf("%w of %s: no runtime.casgstatus or no runtime.preemptPark", ErrNoSched, version)
	case len(probes) > 2 && !hasGogo:
		return fmt.Errorf("%w of %s: no runtime.gogo", ErrNoSched, version)
	}
	offset, names, known := c.plan.Binary.Internals().WaitReason()
	if !known {
		return fmt.Errorf("%w of %s: where it has the reasons why goroutines wait is not known", ErrNoSched, version)
	}
	c.waitReason = offset
	c.plan.Reasons = slices.Concat([]string{"waiting"}, names[min(1, len(names)):], []string{"syscall"})
	if err := c.addRuntime(-1, probes...); err != nil {
		return fmt.Errorf("%w: %w", ErrNoSched, err)
	}
	return nil
}

// addWaits adds the functions that stand for reasons, named as in stack dumps, and, if stacks are
// wanted, probes what goroutines go through that are about to wait (runtime/proc.go): gopark, and
// entersyscall for all that blocks a thread. What they did not come through, such as coroutines, has
// no stack.
func (c *planner) addWaits() {
	for _, name := range c.plan.Reasons {
		c.plan.Funcs = append(c.plan.Funcs, Probe{
			Func: &offsets.Func{Name: "[" + name + "]"}, Sites: &offsets.Sites{}, Returns: true,
		})
	}
	c.plan.Waits = len(c.plan.Reasons)
	if c.plan.Stack == 0 {
		return
	}
	id := byCheckG
	if !c.plan.ByStack { // else nothing tells g where there is no stack check
		id = byG
		_ = c.addRuntime(-1, runtimeProbe{Waiter, id, "runtime.entersyscall", atEntry}, runtimeProbe{WaitOver, id, "runtime.exitsyscall", atEntry})
	}
	_ = c.addRuntime(-1, runtimeProbe{Waiter, id, "runtime.gopark", atCheck})
}
