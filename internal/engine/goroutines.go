package engine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
)

// Goroutines reads the goroutines of a running process from its memory. The process continues meanwhile. So Goroutines reads
// the runtime.g of a goroutine before and after its stack, until both readings are the same.
type Goroutines struct {
	*Process
	stacks        *Stacks
	at            [len(fieldNames)]int64 // offsets in runtime.g, -1 for a field that this version does not have
	size          int                    // the number of bytes of a runtime.g to read
	reasons       []string               // names of wait reasons
	lists         []uint64               // addresses, one of which is the address of runtime.allgs
	cycles        []uint64               // addresses, one of which is the address of runtime.work.tstart
	lr            bool                   // the processor has a link register
	key           []byte
	window        window
	before, after []byte // a runtime.g and a runtime.m before their stack is read, and after it
}

// Snapshot is the result of one reading of all goroutines.
type Snapshot struct {
	Groups []stats.Goroutines // by growth, then by size
	// Hidden is the number of goroutines of the runtime itself, which stack dumps leave out.
	Hidden int
	// Moving is the number of goroutines without a stack because they ran during each reading. Unreadable is the number of
	// goroutines that could not be read.
	Moving, Unreadable int
}

// fieldNames are the fields of runtime.g that are read. The constants are their indexes.
var fieldNames = [...]string{
	"stack.lo", "stack.hi", "m", "sched.sp", "sched.pc", "sched.lr", "syscallsp", "syscallpc", "stktopsp",
	"atomicstatus", "goid", "waitsince", "waitreason", "lockedm", "parentGoid", "gopc", "startpc",
}

const (
	stackLo, stackHi, threadM, schedSP, schedPC, schedLR, syscallSP, syscallPC, topSP = 0, 1, 2, 3, 4, 5, 6, 7, 8
	status, goid, waitSince, waitReason, lockedM, parentID, goPC, startPC             = 9, 10, 11, 12, 13, 14, 15, 16
)

// stateNames are the names of states of goroutines. Others are an error.
var stateNames = map[uint64]string{
	pairing.StatusRunnable: "runnable", pairing.StatusRunning: "running", pairing.StatusSyscall: "syscall",
	pairing.StatusWaiting: "waiting", pairing.StatusLeaked: "waiting", pairing.StatusDead: "dead", pairing.StatusDeadExtra: "dead",
	pairing.StatusCopystack: "copystack", pairing.StatusPreempted: "preempted",
}

const (
	// maxTries is the number of times to read memory that changes.
	maxTries = 10
	// maxGoroutines limits the number of goroutines, and maxStackBytes the bytes of their stacks, because the memory of a hostile
	// program may hold any numbers, and its goroutines may share a stack.
	maxGoroutines = 1 << 24
	maxStackBytes = 1 << 36
)

// NewGoroutines finds the goroutines of a process.
func NewGoroutines(p *Process) (*Goroutines, error) {
	in := p.Binary.Internals()
	at, err := in.Goroutine()
	if err != nil {
		return nil, err
	}
	g := &Goroutines{Process: p, stacks: NewStacks(p.Binary)}
	g.lr = !p.Binary.File().Processor.Machine().Frame.AtTop
	_, g.reasons, _ = in.WaitReason()
	for i, name := range fieldNames {
		offset, ok := at[name]
		if g.at[i] = offset; !ok {
			g.at[i] = -1
		}
		g.size = max(g.size, int(offset)+8)
	}
	g.before, g.after = make([]byte, g.size+threadBytes), make([]byte, g.size+threadBytes)
	g.cycles, _ = p.Variables("runtime.gcMark") // without them, times are unknown
	g.lists, err = p.Variables("runtime.allgadd")
	return g, err
}

// list returns the addresses of all runtime.g. The first goroutine of a program has ID 1, and stays the first. The slice allgs
// gets a new capacity before a new array, and that before a new length (append in cmd/compile/internal/ssagen/ssa.go).
func (g *Goroutines) list() (addrs []uint64, err error) {
	for range maxTries {
		for _, slice := range g.lists {
			w := g.Words(slice, 3)
			if w == nil || w[1] == 0 || w[1] > min(w[2], maxGoroutines) || g.Word(g.Word(w[0])+uint64(g.at[goid])) != 1 {
				continue
			}
			if addrs = g.Words(w[0], int(w[1])); addrs != nil && slices.Equal(w, g.Words(slice, 3)) {
				slices.Sort(addrs)
				return addrs, nil
			}
		}
		time.Sleep(time.Millisecond)
	}
	return nil, fmt.Errorf("read the goroutines of process %d: their list is damaged, or the process has ended", g.PID)
}

// Executing returns the calls on the stacks of a process's goroutines, as far as they can be read.
func Executing(p *Process) (calls []stats.Location) {
	g, err := NewGoroutines(p)
	if err != nil {
		return nil
	}
	s, err := g.Snapshot(0, nil)
	if err != nil {
		return nil
	}
	for _, group := range s.Groups {
		if group.State != stateNames[pairing.StatusRunnable] { // a new goroutine is runnable, and has not executed its function
			calls = append(calls, group.Stack...)
		}
	}
	return calls
}

// Snapshot reads all goroutines. It leaves out goroutines that are not known to wait for at least since nanoseconds. It compares
// the groups with those of an earlier snapshot, unless this is nil.
func (g *Goroutines) Snapshot(since int64, earlier *Snapshot) (*Snapshot, error) {
	addrs, err := g.list()
	if err != nil {
		return nil, err
	}
	s, groups, ages := &Snapshot{}, make(map[string]*stats.Goroutines), []int64{}
	if earlier != nil {
		for _, group := range earlier.Groups {
			group.Change, group.Members = -len(group.Members), nil
			groups[group.Key] = &group
		}
	}
	g.window.left = maxStackBytes
	now := procfs.Monotonic(g.PID)
	for i, addr := range addrs {
		if addr == 0 { // append sets the length before the element
			continue
		}
		one, ok := g.read(addr)
		overlap := i > 0 && addr-addrs[i-1] < uint64(g.size)
		switch {
		case !ok, overlap:
			s.Unreadable++
		case one.state == stateNames[pairing.StatusDead]:
		case g.isRuntime(&one):
			s.Hidden++
		default:
			if one.moving {
				s.Moving++
			}
			member := stats.Goroutine{ID: one.w[goid], Parent: one.w[parentID]}
			if t := int64(one.w[waitSince]); 0 < t && t < now && one.waits {
				member.Stated = now - t
			}
			group := g.group(groups, &one)
			group.Members, ages = append(group.Members, member), append(ages, member.Stated)
		}
	}
	if _, err := g.list(); err != nil { // the process has ended meanwhile
		return nil, err
	}
	g.setWaited(groups, ages, now)
	for _, group := range groups {
		group.Members = slices.DeleteFunc(group.Members, func(m stats.Goroutine) bool { return m.Waited < since })
		slices.SortFunc(group.Members, func(a, b stats.Goroutine) int { return cmp.Compare(a.ID, b.ID) })
		group.Change += len(group.Members)
		group.Compared = earlier != nil
		if len(group.Members) > 0 || group.Change < 0 {
			s.Groups = append(s.Groups, *group)
		}
	}
	slices.SortFunc(s.Groups, func(a, b stats.Goroutines) int {
		return cmp.Or(cmp.Compare(b.Change, a.Change), cmp.Compare(len(b.Members), len(a.Members)), strings.Compare(a.Key, b.Key))
	})
	return s, nil
}

// setWaited sets Waited of goroutines. A cycle of the garbage collector that sees a waiting goroutine sets waitsince to the
// time at which the previous cycle ended its marking: work.tstart (markroot in runtime/mgcmark.go and gcMark in
// runtime/mgc.go, Go 1.17 to 1.27). The goroutine may have begun to wait later, but before its own cycle ended its marking.
// setWaited knows such times from waitsince of other goroutines, whose ages it gets, and the last one from the variable.
func (g *Goroutines) setWaited(groups map[string]*stats.Goroutines, ages []int64, now int64) {
	last := int64(0)
	for _, addr := range g.cycles {
		// Another number than the time can only be a later time, which makes Waited too short.
		if t := int64(g.Word(addr)); t < now {
			last = max(last, t)
		}
	}
	ages = append(ages, now-last)
	slices.Sort(ages)
	for _, group := range groups {
		for i := range group.Members {
			m := &group.Members[i]
			if n, _ := slices.BinarySearch(ages, m.Stated); n > 0 {
				m.Waited = ages[n-1]
			}
		}
	}
}

// goroutine is a reading of a runtime.g and its stack.
type goroutine struct {
	w      [len(fieldNames)]uint64
	state  string
	waits  bool // it waits, or is in a system call
	stands bool // its stack stays the same until its state changes
	moving bool
	pcs    []uint64 // return addresses in the file; nil if the stack is unknown
}

// parse reads a runtime.g into b, and the runtime.m of a system call behind it. ok is false if it can't be one.
func (g *Goroutines) parse(addr uint64, b []byte) (one goroutine, ok bool) {
	clear(b[g.size:])
	if !g.Read(addr, b[:g.size]) {
		return one, false
	}
	for i, at := range g.at {
		if at >= 0 {
			one.w[i] = binary.LittleEndian.Uint64(b[at:])
		}
	}
	w := &one.w
	w[status] = w[status] &^ pairing.StatusScan & 0xffffffff
	parked := w[status] == pairing.StatusWaiting || w[status] == pairing.StatusLeaked
	one.waits = parked || w[status] == pairing.StatusSyscall
	// A waiting goroutine with a thread is about to park, or executes code of the runtime on the stack of the thread.
	one.stands = w[status] != pairing.StatusRunning && w[status] != pairing.StatusCopystack && !(parked && w[threadM] != 0)
	one.state = stateNames[w[status]]
	switch reason := int(b[g.at[waitReason]]); {
	case one.state == "", one.state != stateNames[pairing.StatusDead] && one.stands && w[stackLo] >= w[stackHi]:
		return one, false
	case w[status] == pairing.StatusSyscall:
		w[schedSP], w[schedPC], w[schedLR] = w[syscallSP], w[syscallPC], 0
		return one, g.Read(w[threadM], b[g.size:])
	case parked && 0 < reason && reason < len(g.reasons):
		one.state = g.reasons[reason]
	}
	return one, true
}

// threadBytes is the number of bytes of a runtime.m to compare. They include syscalltick, at offset 788 in Go 1.27. It is
// different in each system call. Since Go 1.26, nothing in runtime.g is.
const threadBytes = 832

// quick is too short for the counter trackingSeq of a runtime.g, a byte, to come back to its old value. The runtime increments
// it when the goroutine stops running, which takes more than 200 ns each time. A slower reading counts only if the next one
// is the same.
const quick = 50 * time.Microsecond

// read reads a goroutine until it does not change while its stack is read.
func (g *Goroutines) read(addr uint64) (one goroutine, ok bool) {
	for range maxTries {
		began, stack := time.Now(), one.pcs
		if one, ok = g.parse(addr, g.before); !ok { // words of two moments, perhaps
			continue
		} else if one.state == stateNames[pairing.StatusDead] {
			return one, true
		}
		whole := false
		if one.stands {
			one.pcs, whole = g.unwind(&one.w)
		}
		now, _ := g.parse(addr, g.after)
		switch {
		case !one.stands && now.w[goid] == one.w[goid] && now.w[goPC] == one.w[goPC] && now.w[status] == one.w[status]:
			return one, true
		case !bytes.Equal(g.before, g.after):
			one.pcs = nil
		case whole && time.Since(began) < quick || stack != nil && slices.Equal(stack, one.pcs):
			return one, true
		}
	}
	one.state, one.waits, one.moving, one.pcs = stateNames[pairing.StatusRunning], false, true, nil
	return one, ok
}

// isRuntime reports whether stack dumps leave out a goroutine, because its function belongs to the runtime
// (isSystemGoroutine in runtime/traceback.go). Dumps show the goroutines of finalizers and cleanups while they run one.
func (g *Goroutines) isRuntime(one *goroutine) bool {
	inRuntime := func(pc uint64) bool {
		f, ok := g.Binary.FuncAt(pc)
		return ok && strings.HasPrefix(f.Name, "runtime.")
	}
	f, ok := g.Binary.FuncAt(one.w[startPC] - g.Bias)
	switch {
	case !ok || !inRuntime(f.Addr) || f.Name == "runtime.main" || f.Name == "runtime.corostart":
		return false
	case f.Name == "runtime.runfinq", f.Name == "runtime.runFinalizers", f.Name == "runtime.runCleanups":
		return !slices.ContainsFunc(one.pcs, func(pc uint64) bool { return !inRuntime(pc - 1) })
	}
	return true
}

// group returns the group of a goroutine. It adds a new one to groups.
func (g *Goroutines) group(groups map[string]*stats.Goroutines, one *goroutine) *stats.Goroutines {
	g.key = fmt.Append(g.key[:0], one.state, one.w[lockedM] != 0, "\n")
	for _, pc := range append(one.pcs, one.w[goPC]) {
		g.key = binary.LittleEndian.AppendUint64(g.key, pc)
	}
	group := groups[string(g.key)]
	switch {
	case group != nil:
		return group
	case len(groups) > MaxStacks && !slices.Equal(one.pcs, unknown):
		one.pcs = unknown
		return g.group(groups, one)
	}
	group = &stats.Goroutines{Key: string(g.key), State: one.state, Locked: one.w[lockedM] != 0, Stack: g.stacks.Locations(one.pcs, "")}
	groups[group.Key] = group
	if at := g.Binary.Internals().Frames(one.w[goPC] - g.Bias - 1); len(at) > 0 && one.w[goid] != 1 {
		// As in stack dumps, the line is in the innermost inlined function (printcreatedby1 in runtime/traceback.go).
		group.Creator = offsets.Frame{Function: at[len(at)-1].Function, File: at[0].File, Line: at[0].Line}
	}
	return group
}
