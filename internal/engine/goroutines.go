package engine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
)

// Goroutines reads the goroutines of a running process from its memory. The process continues meanwhile. So Goroutines reads
// the runtime.g of a goroutine before and after its stack, until both readings are the same.
type Goroutines struct {
	*Process
	stacks      *Stacks
	at          [len(fieldNames)]int64 // offsets in runtime.g, -1 for a field that this version does not have
	size        int                    // the number of bytes of a runtime.g to read
	reasons     []string               // names of wait reasons
	length, all uint64                 // the addresses of runtime.allglen and runtime.allgptr
	cycles      []uint64               // addresses, one of which is the address of runtime.work.tstart
	sites       map[uint64]stackSite
	lr          bool // the processor has a link register
	key         []byte
	window      window
	before      []byte // a runtime.g and a runtime.m before their stack is read, and after it
	after       []byte
	ms          [2][threadBytes]byte
	near        [8 << 10]byte // memory at the address nearAt: the runtime.g are mostly next to each other
	nearAt      uint64
}

// Snapshot is the result of one reading of all goroutines.
type Snapshot struct {
	Groups []stats.Goroutines // the largest first
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

// States of goroutines (runtime/runtime2.go, Go 1.17 to 1.27). Others are an error.
const (
	running   = 2
	inSyscall = 3
	waiting   = 4
	dead      = 6
	copying   = 8  // runs, and copies its stack
	leaked    = 10 // waits for an event that can't happen
	deadExtra = 11
	scanBit   = 0x1000
)

var stateNames = map[uint64]string{
	1: "runnable", running: "running", inSyscall: "syscall", waiting: "waiting", dead: "dead", copying: "copystack", 9: "preempted", leaked: "waiting", deadExtra: "dead",
}

// maxTries is the number of times to read memory that changes.
const maxTries = 10

// NewGoroutines finds the goroutines of a process.
func NewGoroutines(p *Process) (*Goroutines, error) {
	in := p.Binary.Internals()
	at, err := in.Goroutine()
	if err != nil {
		return nil, err
	}
	g := &Goroutines{Process: p, stacks: NewStacks(p.Binary), sites: make(map[uint64]stackSite)}
	g.lr = !p.Binary.File().Processor.Machine().Frame.AtTop
	_, g.reasons, _ = in.WaitReason()
	for i, name := range fieldNames {
		offset, ok := at[name]
		if g.at[i] = offset; !ok {
			g.at[i] = -1
		}
		g.size = max(g.size, int(offset)+8)
	}
	g.before, g.after = make([]byte, g.size), make([]byte, g.size)
	g.cycles, _ = p.Variables("runtime.gcMark") // without them, times are unknown
	refers, err := p.Variables("runtime.allgadd")
	if err != nil {
		return nil, err
	}
	for range maxTries {
		if g.find(refers) {
			return g, nil
		}
		time.Sleep(time.Millisecond)
	}
	return nil, fmt.Errorf("find the goroutines of process %d: runtime.allgs has an unknown form", p.PID)
}

// find finds the variables of allgadd: the slice allgs, and allgptr and allglen, which hold its address and its length for
// readers without a lock. The first goroutine of a program has ID 1, and stays the first.
func (g *Goroutines) find(refers []uint64) bool {
	for _, slice := range refers {
		w := g.Words(slice, 3)
		if w == nil || w[0] == 0 || w[1] == 0 || w[1] > w[2] || g.Word(g.Word(w[0])+uint64(g.at[goid])) != 1 {
			continue
		}
		for _, addr := range refers {
			switch got := g.Word(addr); {
			case addr-slice < 24:
			case got == w[0]:
				g.all = addr
			case got == w[1]:
				g.length = addr
			}
		}
	}
	return g.all != 0 && g.length != 0
}

// Snapshot reads all goroutines. It leaves out goroutines that are not known to wait for at least since nanoseconds.
func (g *Goroutines) Snapshot(since int64) (*Snapshot, error) {
	limit := procfs.MemorySize(g.PID)
	// allglen is set after allgptr, so it must be read first.
	n, first := g.Word(g.length), g.Word(g.all)
	if n == 0 || n > limit/uint64(g.size) {
		return nil, fmt.Errorf("read the goroutines of process %d: their number %d is impossible, or the process has ended", g.PID, n)
	}
	addrs := g.Words(first, int(n))
	if addrs == nil {
		return nil, fmt.Errorf("read the goroutines of process %d: can't read the list of %d", g.PID, n)
	}
	slices.Sort(addrs)
	s, groups := &Snapshot{}, make(map[string]*stats.Goroutines)
	g.window.left = limit + windowSize
	now := procfs.Monotonic(g.PID)
	for i, addr := range addrs {
		if i > 0 && addr-addrs[i-1] < uint64(g.size) { // the runtime's structs do not overlap
			s.Unreadable++
			continue
		}
		one, err := g.read(addr)
		switch {
		case err != nil:
			s.Unreadable++
		case one.state == stateNames[dead]:
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
			group.Members = append(group.Members, member)
		}
	}
	if g.Word(g.length) == 0 { // ReadAll may have read another program that the process executes now
		return nil, fmt.Errorf("read the goroutines of process %d: it has ended", g.PID)
	}
	g.setWaited(groups, now)
	for _, group := range groups {
		group.Members = slices.DeleteFunc(group.Members, func(m stats.Goroutine) bool { return m.Waited < since })
		slices.SortFunc(group.Members, func(a, b stats.Goroutine) int { return cmp.Compare(a.ID, b.ID) })
		if len(group.Members) > 0 {
			s.Groups = append(s.Groups, *group)
		}
	}
	s.sort()
	return s, nil
}

// setWaited sets Waited of goroutines. A cycle of the garbage collector that sees a waiting goroutine sets waitsince to the
// time at which the previous cycle ended its marking: work.tstart (markroot in runtime/mgcmark.go and gcMark in
// runtime/mgc.go, Go 1.17 to 1.27). The goroutine may have begun to wait later, but before its own cycle ended its marking.
// setWaited knows such times from waitsince of other goroutines, and the last one from the variable.
func (g *Goroutines) setWaited(groups map[string]*stats.Goroutines, now int64) {
	last := int64(0)
	for _, addr := range g.cycles {
		// Another number than the time can only be a later time, which makes Waited too short.
		if t := int64(g.Word(addr)); t < now {
			last = max(last, t)
		}
	}
	ages := []int64{now - last} // of the known times
	for _, group := range groups {
		for _, m := range group.Members {
			if m.Stated > ages[0] {
				ages = append(ages, m.Stated)
			}
		}
	}
	slices.Sort(ages)
	for _, group := range groups {
		for i := range group.Members {
			if n, _ := slices.BinarySearch(ages, group.Members[i].Stated); n > 0 && last > 0 {
				group.Members[i].Waited = ages[n-1]
			}
		}
	}
}

// sort sorts groups: by growth, then by size.
func (s *Snapshot) sort() {
	slices.SortFunc(s.Groups, func(a, b stats.Goroutines) int {
		return cmp.Or(cmp.Compare(b.Change, a.Change), cmp.Compare(len(b.Members), len(a.Members)), strings.Compare(a.Key, b.Key))
	})
}

// Compare adds the numbers of an earlier snapshot to the groups. Groups that only the earlier one has get no members.
func (s *Snapshot) Compare(earlier *Snapshot) {
	before := make(map[string]stats.Goroutines)
	for _, g := range earlier.Groups {
		before[g.Key] = g
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		g.Change, g.Compared = len(g.Members)-len(before[g.Key].Members), true
		delete(before, g.Key)
	}
	for _, g := range before {
		g.Change, g.Compared, g.Members = -len(g.Members), true, nil
		s.Groups = append(s.Groups, g)
	}
	s.sort()
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

var errGoroutine = errors.New("not a goroutine")

// parse interprets the bytes of a runtime.g.
func (g *Goroutines) parse(b []byte) (one goroutine, err error) {
	for i, at := range g.at {
		if at >= 0 {
			one.w[i] = binary.LittleEndian.Uint64(b[at:])
		}
	}
	w := &one.w
	w[status] = w[status] &^ scanBit & 0xffffffff
	parked := w[status] == waiting || w[status] == leaked
	one.waits = parked || w[status] == inSyscall
	// A waiting goroutine with a thread is about to park, or executes code of the runtime on the stack of the thread.
	one.stands = w[status] != running && w[status] != copying && !(parked && w[threadM] != 0)
	one.state = stateNames[w[status]]
	switch reason := int(b[g.at[waitReason]]); {
	case one.state == "", one.state != stateNames[dead] && one.stands && w[stackLo] >= w[stackHi]:
		return one, errGoroutine
	case w[status] == inSyscall:
		w[schedSP], w[schedPC], w[schedLR] = w[syscallSP], w[syscallPC], 0
	case parked && 0 < reason && reason < len(g.reasons):
		one.state = g.reasons[reason]
	case parked && reason > 0:
		one.state = fmt.Sprintf("wait reason %d", reason)
	}
	return one, nil
}

// threadBytes is the number of bytes of a runtime.m to compare. They include syscalltick, at offset 788 in Go 1.27. It is
// different in each system call. Since Go 1.26, nothing in runtime.g is.
const threadBytes = 832

// quick is too short for the counter trackingSeq of a runtime.g, a byte, to come back to its old value. The runtime increments
// it when the goroutine stops running, which takes more than 200 ns each time. A slower reading counts only if the next one
// is the same.
const quick = 50 * time.Microsecond

// read reads a goroutine until it does not change while its stack is read. ReadAll reads the parts in order.
func (g *Goroutines) read(addr uint64) (one goroutine, err error) {
	if addr-g.nearAt > uint64(len(g.near)-g.size) {
		if g.nearAt = addr; !g.Read(addr, g.near[:]) && !g.Read(addr, g.near[:g.size]) {
			g.nearAt = 0
			return one, errGoroutine
		}
	}
	// The first reading only says where the stack is.
	one, err = g.parse(g.near[addr-g.nearAt:])
	for range maxTries {
		before, w := one, &g.window
		w.start, w.size, w.more = one.w[schedSP], 0, false
		if one.stands && err == nil && one.w[stackLo] <= w.start && w.start <= one.w[stackHi] {
			w.size = min(one.w[stackHi]-w.start, windowSize)
		}
		ms := [2][]byte{}
		if one.w[status] == inSyscall {
			ms = [2][]byte{g.ms[0][:], g.ms[1][:]}
		}
		m, began := one.w[threadM], time.Now()
		ok := g.ReadAll([]uint64{m, addr, w.start, addr, m}, [][]byte{ms[0], g.before, w.buf[:w.size], g.after, ms[1]})
		if !ok && !g.Read(addr, g.before) {
			return one, errGoroutine
		}
		one, err = g.parse(g.before)
		now, _ := g.parse(g.after)
		switch {
		case !ok:
			err = cmp.Or(err, errGoroutine)
		case err != nil: // words of two moments, perhaps
		case one.state == stateNames[dead]:
			return one, nil
		case !one.stands:
			if now.w[goid] == one.w[goid] && now.w[goPC] == one.w[goPC] && now.w[status] == one.w[status] {
				return one, nil
			}
		case one.w[schedSP] == before.w[schedSP] && one.w[status] == before.w[status] && one.w[threadM] == m && g.unchanged(ms):
			whole := false
			one.pcs, whole = g.unwind(&one.w)
			if w.more && !(g.ReadAll([]uint64{addr, m}, [][]byte{g.after, ms[1]}) && g.unchanged(ms)) {
				one.pcs = nil
			} else if whole && time.Since(began) < quick || before.pcs != nil && slices.Equal(before.pcs, one.pcs) {
				return one, nil
			}
		}
	}
	one.state, one.waits, one.moving, one.pcs = stateNames[running], false, true, nil
	return one, err
}

// unchanged reports whether the readings before and after a stack are the same.
func (g *Goroutines) unchanged(ms [2][]byte) bool {
	return bytes.Equal(g.before, g.after) && bytes.Equal(ms[0], ms[1])
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
