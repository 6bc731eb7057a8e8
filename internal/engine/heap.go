package engine

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/stats"
)

// ErrNoHeap means that a program has no profile of allocations.
var ErrNoHeap = errors.New("no profile of allocations")

// Heap is the profile of allocations that Go's runtime keeps of a process.
type Heap struct {
	Allocs   []stats.Allocations // each Location of a stack has one function
	Rate     int64               // the runtime records an object for each so many bytes (runtime.MemProfileRate)
	Changing bool                // the counts changed whenever they were read, so they may be of different moments
}

// bucket is the data of a runtime.bucket: the objects of one size that were allocated from one stack.
type bucket struct {
	addr  uint64
	stack []uint64 // return addresses
	// counts are the objects and bytes, allocated and in use, that the runtime has recorded and publishes. all also has
	// those that it will publish after the next garbage collections.
	counts, all [4]int64
}

const (
	headerWords    = 6       // words of a runtime.bucket before its stack: next, allnext, typ, hash, size, nstk
	memBucket      = 1       // runtime.memProfile, the typ of a bucket of allocations
	maxBucketStack = 2048    // more than the longest stack has (maxProfStackDepth in runtime/mprof.go)
	maxHeapWords   = 1 << 24 // limits the words of all buckets, because a damaged list may be endless
	maxHeapPasses  = 20      // limits how often the list is read while its counts change
)

// heapReader reads runtime.mbuckets, the list of all buckets, the newest first (runtime/mprof.go, Go 1.17 to 1.27).
type heapReader struct {
	*Process
	buckets, cycle, rate uint64 // addresses of runtime.mbuckets, runtime.mProfCycle and runtime.MemProfileRate
	minor                int    // the minor version of Go
	cell                 int    // words of a runtime.memRecordCycle
	functions            *Stacks
}

// ReadHeap reads the profile of a process as runtime/pprof writes it at the same moment. The runtime publishes counts
// after each garbage collection. If they change while ReadHeap reads them, it reads them again, until two readings are
// equal and so show a state that existed between them.
func ReadHeap(p *Process) (*Heap, error) {
	r, err := newHeapReader(p)
	if err != nil {
		return nil, err
	}
	h := new(Heap)
	var list []bucket
	for pass := range maxHeapPasses {
		before := list
		var moving bool
		if list, moving, err = r.pass(); err != nil {
			return nil, fmt.Errorf("read the allocations of process %d: %w", p.PID, err)
		}
		if h.Changing = pass == 0 || moving || !sameCounts(before, list); !h.Changing {
			break
		}
		time.Sleep(time.Duration(pass) * time.Millisecond)
	}
	rate := p.Words(r.rate, 1)
	if rate == nil {
		return nil, fmt.Errorf("read the allocations of process %d: it has ended", p.PID)
	}
	if h.Rate = int64(rate[0]); h.Rate <= 0 {
		why := "the program has set runtime.MemProfileRate to 0"
		_, linked := p.Binary.Lookup("runtime.MemProfile")
		if _, internal := p.Binary.Lookup("runtime.memProfileInternal"); !linked && !internal { // cmd/link/internal/ld/lib.go, disableMemoryProfiling
			why = "Go's linker has switched it off, because nothing in the program uses runtime.MemProfile, as net/http/pprof does"
		}
		return nil, fmt.Errorf("process %d: %w: %s", p.PID, ErrNoHeap, why)
	}
	for _, b := range list {
		a := stats.Allocations{Stack: r.locations(b.stack), Size: b.counts[1] / max(b.counts[0], 1)}
		for i := 0; i < len(a.Values); i += 2 {
			a.Values[i], a.Values[i+1] = scaleHeap(b.counts[i], b.counts[i+1], h.Rate)
		}
		h.Allocs = append(h.Allocs, a)
	}
	return h, nil
}

// sameCounts reports whether two readings have the same counts. Buckets that are only in the later one must have none.
func sameCounts(before, list []bucket) bool {
	added := max(len(list)-len(before), 0)
	return !slices.ContainsFunc(list[:added], func(b bucket) bool { return b.counts != [4]int64{} }) &&
		slices.EqualFunc(list[added:], before, func(a, b bucket) bool { return a.addr == b.addr && a.counts == b.counts })
}

// scaleHeap estimates the number and the bytes of all objects from those that were recorded (scaleHeapSample in
// runtime/pprof/protomem.go, Go 1.17 to 1.27).
func scaleHeap(count, size, rate int64) (int64, int64) {
	if count == 0 || size == 0 {
		return 0, 0
	} else if rate <= 1 {
		return count, size
	}
	scale := 1 / (1 - math.Exp(-float64(size)/float64(count)/float64(rate)))
	return int64(float64(count) * scale), int64(float64(size) * scale)
}

// newHeapReader finds the runtime's variables by the code that uses them, which stripped programs have, too.
func newHeapReader(p *Process) (*heapReader, error) {
	r := &heapReader{Process: p, cell: 4, functions: NewStacks(p.Binary)}
	minor, version := p.Binary.GoVersion()
	if r.minor = minor; minor < 17 || minor > 27 {
		return nil, fmt.Errorf("%s: ftgo reads the allocations of programs of Go 1.17 to 1.27, not of %s", p.Binary.File().Path(), cmp.Or(version, "others"))
	}
	if minor >= 27 { // it has no bytes, because all objects of a bucket have the same size
		r.cell = 2
	}
	flush, first := "runtime.mProf_Flush", 0
	if minor < 19 { // both variables are in the same function
		flush, first = "runtime.mProf_FlushLocked", 1
	}
	for _, v := range []struct {
		to       *uint64
		function string
		n        int // the number of variables that the function uses before
	}{{&r.cycle, flush, 0}, {&r.buckets, "runtime.mProf_FlushLocked", first}, {&r.rate, "runtime.profilealloc", 1}} {
		addrs, err := p.Variables(v.function)
		if err == nil && len(addrs) <= v.n {
			err = fmt.Errorf("%s: the code of %s does not lead to the allocations", p.Binary.File().Path(), v.function)
		}
		if err != nil {
			return nil, err
		}
		*v.to = addrs[v.n]
	}
	return r, nil
}

// pass reads the whole list. moving is true if the runtime may be adding up counts meanwhile.
func (r *heapReader) pass() (list []bucket, moving bool, err error) {
	cycle := r.Word(r.cycle)
	index, flushed := int(uint32(cycle)>>1%3), cycle&1 != 0 // mProfCycleHolder in runtime/mprof.go, Go 1.19 to 1.27
	if r.minor < 19 {
		index, flushed = int(uint32(cycle)%3), cycle>>32&0xff != 0 // a struct of the cycle and a bool
	}
	words, published := 0, false
	for addr := r.Word(r.buckets); addr != 0; {
		b, next, unpublished, err := r.bucket(addr, index)
		if words += headerWords + len(b.stack) + 4*r.cell; err == nil && words > maxHeapWords {
			err = errors.New("the list does not end")
		}
		if err != nil {
			return nil, false, err
		}
		moving = moving || flushed && unpublished
		published = published || b.counts[0] != 0 || b.counts[2] != 0
		list, addr = append(list, b), next
	}
	for i := range list { // before the first garbage collection, runtime.MemProfile returns what is counted by then
		if !published {
			list[i].counts = list[i].all
		}
	}
	return list, moving, nil
}

// bucket reads a bucket. index is the cycle that the runtime publishes next to those that it has added up. unpublished is
// true if the bucket has counts of that cycle that are not added up.
func (r *heapReader) bucket(addr uint64, index int) (b bucket, next uint64, unpublished bool, err error) {
	bad := fmt.Errorf("no bucket of allocations at %#x", addr)
	header := r.Words(addr, headerWords)
	if header == nil || header[2] != memBucket || header[5] > maxBucketStack {
		return b, 0, false, bad
	}
	n, size := int(header[5]), header[4]
	words := r.Words(addr+8*headerWords, n+4*r.cell)
	if words == nil {
		return b, 0, false, bad
	}
	b = bucket{addr: addr, stack: words[:n:n]}
	for i := range 4 { // runtime.memRecord: active and future[3]
		cell := words[n+i*r.cell:]
		counts := [4]uint64{cell[0], cell[0] * size, cell[0] - cell[1], (cell[0] - cell[1]) * size}
		if r.cell == 4 {
			counts[1], counts[3] = cell[2], cell[2]-cell[3]
		}
		for j, v := range counts {
			if b.all[j] += int64(v); i == 0 || i == 1+index {
				b.counts[j] += int64(v)
			}
		}
		unpublished = unpublished || i == 1+index && counts != [4]uint64{}
	}
	return b, header[1], unpublished, nil
}

// locations returns the functions of a stack, as runtime/pprof shows them: without the runtime's functions that allocate. Each
// return address stands for one function, also if it is inlined, but the last one stands for all of its functions
// (writeHeapProto and appendLocsForStack in runtime/pprof, Go 1.17 to 1.27).
func (r *heapReader) locations(pcs []uint64) (stack []stats.Location) {
	for i, pc := range pcs {
		f := r.functions.location(pc-r.Bias+1, "").Frames // runtime/pprof does not subtract 1 here
		if len(f) == 0 {                                  // behind a call at the end of a function
			f = r.functions.location(pc-r.Bias, "").Frames
		}
		if len(f) == 0 || !strings.HasPrefix(f[0].Function, "runtime.") && !strings.HasPrefix(f[0].Function, "internal/runtime/") {
			pcs = pcs[i:]
			break
		}
	}
	for i, pc := range pcs {
		l := r.functions.location(pc-r.Bias, "")
		for j, f := range l.Frames {
			if f.Function != "runtime.goexit" && (j == 0 || i == len(pcs)-1) {
				stack = append(stack, stats.Location{Addr: l.Addr, Frames: l.Frames[j : j+1]})
			}
		}
	}
	return stack
}
