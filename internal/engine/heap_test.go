package engine

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// madeHeap is the memory of a process with buckets of Go 1.26: a word of cycle at 8, of the list at 16, and a bucket at
// each address.
func madeHeap(t *testing.T, cycle uint64, buckets map[uint64][]uint64) *heapReader {
	t.Helper()
	memory := make([]byte, 1<<16)
	put := func(addr uint64, words ...uint64) {
		for i, w := range words {
			binary.LittleEndian.PutUint64(memory[addr+8*uint64(i):], w)
		}
	}
	put(8, cycle, 0x1000)
	for addr, words := range buckets {
		put(addr, words...)
	}
	path := filepath.Join(t.TempDir(), "memory")
	fixture.NoError(t, os.WriteFile(path, memory, 0o600))
	f, err := os.Open(path)
	fixture.NoError(t, err)
	t.Cleanup(func() { f.Close() })
	return &heapReader{Process: &Process{memory: f}, cycle: 8, buckets: 16, cell: 4, minor: 26}
}

// madeBucket is a bucket with objects of 10 bytes from one caller, and its record.
func madeBucket(next uint64, record ...uint64) []uint64 {
	return append([]uint64{0, next, memBucket, 7, 10, 1, 0x400000}, record...)
}

func TestHeapPass(t *testing.T) {
	active, future := []uint64{5, 2, 50, 20}, []uint64{1, 0, 10, 0, 2, 2, 20, 20, 4, 1, 40, 10}
	none := make([]uint64, 4)
	for name, test := range map[string]struct {
		cycle  uint64
		record []uint64
		want   [4]int64
		moving bool
	}{
		"published":              {2*3 | 1, slices.Concat(active, none, future[4:]), [4]int64{5, 50, 3, 30}, false},
		"not added up yet":       {2 * 4, slices.Concat(active, future), [4]int64{7, 70, 3, 30}, false},
		"while it is added up":   {2*4 | 1, slices.Concat(active, future), [4]int64{7, 70, 3, 30}, true},
		"before any cycle":       {0, slices.Concat(none, none, future[4:]), [4]int64{6, 60, 3, 30}, false},
		"nothing but an old one": {2*3 | 1, slices.Concat(none, none, none, none), [4]int64{}, false},
	} {
		r := madeHeap(t, test.cycle, map[uint64][]uint64{0x1000: madeBucket(0x2000, test.record...), 0x2000: madeBucket(0, make([]uint64, 16)...)})
		list, moving, err := r.pass()
		if err != nil || len(list) != 2 || list[0].counts != test.want || moving != test.moving || list[1].counts != [4]int64{} {
			t.Errorf("%s: %v, %v, %v", name, list, moving, err)
		}
	}
}

func TestHeapHostile(t *testing.T) {
	with := func(at int, value uint64) []uint64 {
		b := madeBucket(0, make([]uint64, 16)...)
		b[at] = value
		return b
	}
	for name, test := range map[string]struct {
		bucket []uint64
		want   string
	}{
		"cyclic":       {with(1, 0x1000), "does not end"},
		"long stack":   {with(5, 1<<60), "no bucket"},
		"other type":   {with(2, 2), "no bucket"},
		"next":         {with(1, math.MaxUint64-7), "no bucket of allocations at 0xfffffffffffffff8"},
		"next ends":    {with(1, 1<<16-8), "no bucket"},
		"many objects": {with(7, math.MaxUint64), ""},
	} {
		r := madeHeap(t, 1, map[uint64][]uint64{0x1000: test.bucket})
		_, _, err := r.pass()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSameCounts(t *testing.T) {
	a, b := bucket{addr: 1, counts: [4]int64{1}}, bucket{addr: 2}
	more, fresh := bucket{addr: 1, counts: [4]int64{2}}, bucket{addr: 3, counts: [4]int64{1}}
	for name, test := range map[string]struct {
		before, list []bucket
		want         bool
	}{
		"empty":  {nil, nil, true},
		"first":  {nil, []bucket{b, a}, false},
		"same":   {[]bucket{b, a}, []bucket{b, a}, true},
		"new":    {[]bucket{a}, []bucket{b, a}, true},
		"counts": {[]bucket{a}, []bucket{fresh, a}, false},
		"more":   {[]bucket{b, a}, []bucket{b, more}, false},
		"shrunk": {[]bucket{b, b, a}, []bucket{b, a}, false},
	} {
		if got := sameCounts(test.before, test.list); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestScaleHeap compares with values that scaleHeapSample of runtime/pprof returns.
func TestScaleHeap(t *testing.T) {
	for _, test := range [][5]int64{{0, 0, 524288, 0, 0}, {1, 0, 524288, 0, 0}, {1, 1024, 524288, 512, 524800}, {1, 524288, 524288, 1, 829411}, {3, 300, 1, 3, 300}, {3, 300, 0, 3, 300}} {
		if count, size := scaleHeap(test[0], test[1], test[2]); count != test[3] || size != test[4] {
			t.Errorf("%v: %d, %d", test, count, size)
		}
	}
}
