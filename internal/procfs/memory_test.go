package procfs

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"unsafe"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func always() bool { return true }

// sample is memory of this process.
var sample [8]byte

// TestReadable asks for memory of this process.
func TestReadable(t *testing.T) {
	m, page := NewMemory(), os.Getpagesize()
	zeros, err := syscall.Mmap(-1, 0, 4*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS)
	fixture.NoError(t, err)
	defer syscall.Munmap(zeros)
	start := uint64(uintptr(unsafe.Pointer(&zeros[0])))
	protect := func(n, prot int) {
		fixture.NoError(t, syscall.Mprotect(zeros[n*page:(n+1)*page], prot))
	}
	// Pages 0 and 1 are mappings of their own that can be read, 2 can't be, 3 can.
	protect(1, syscall.PROT_READ)
	protect(2, syscall.PROT_NONE)
	p := uint64(page)
	for _, c := range []struct {
		scenario string
		addr     uint64
		n        int
		want     bool
	}{
		{"across two mappings", start + p - 4, 8, true},
		{"into what can't be read", start + 2*p - 4, 8, false},
		{"a variable", uint64(uintptr(unsafe.Pointer(&sample))), 8, true},
		{"nil", 0, 8, false},
		{"the end of all addresses", 1<<64 - 4, 8, false},
		{"nothing", start, 0, false},
		{"a negative length", start, -8, false},
	} {
		if got, known := m.Readable(os.Getpid(), c.addr, c.n, always); got != c.want || !known {
			t.Errorf("%s: %d bytes at %#x: %v, known %v; want %v", c.scenario, c.n, c.addr, got, known, c.want)
		}
	}
	protect(2, syscall.PROT_READ)
	if readable, _ := m.Readable(os.Getpid(), start, 4*page, always); !readable {
		t.Error("a mapping that was added since is not seen")
	}
}

// TestReadableOfEndedProcess checks that cached mappings are used after the process has ended.
func TestReadableOfEndedProcess(t *testing.T) {
	m := NewMemory()
	child := exec.Command("sleep", "60")
	fixture.NoError(t, child.Start())
	pid := child.Process.Pid
	maps, err := readMappings(pid, "r")
	if err != nil || len(maps) == 0 {
		t.Fatalf("mappings %v, %v", maps, err)
	}
	addr := maps[len(maps)-1].Start
	if readable, _ := m.Readable(pid, addr, 8, always); !readable {
		t.Errorf("%#x can't be read", addr)
	}
	child.Process.Kill()
	child.Wait()
	if readable, known := m.Readable(pid, addr, 8, always); !readable || !known {
		t.Errorf("%#x can't be read once the process has ended", addr)
	}
	for of, addr := range map[int]uint64{pid: 42, 1 << 30: addr} {
		if readable, known := m.Readable(of, addr, 8, always); readable || known {
			t.Errorf("%#x of process %d: readable %v, known %v", addr, of, readable, known)
		}
	}
}

// TestMemoryReadsOnce checks how often mappings are read: never for a cached range, and once for another one.
func TestMemoryReadsOnce(t *testing.T) {
	reads := 0
	maps := []Mapping{{Start: 0x1000, End: 0x2000}}
	const gone, ending, another = 1<<20 + 1, 1<<20 + 2, 1<<20 + 3
	m := Memory{mappings: make(map[int][]Mapping), read: func(pid int, _ string) ([]Mapping, error) {
		switch reads++; pid {
		case gone:
			return nil, errors.New("no such process")
		case ending:
			return nil, nil
		}
		if reads == 8 {
			return []Mapping{{Start: 0x3000, End: 0x4000}}, nil // of the program that it executes now
		}
		return maps, nil
	}}
	for _, c := range []struct {
		pid             int
		addr            uint64
		readable, known bool
		reads           int
	}{
		{1, 0x1000, true, true, 1}, {1, 0x1ff8, true, true, 1}, {1, 0x2000, false, true, 2}, {1, 0x1000, true, true, 2},
		{2, 0x1000, true, true, 3}, {gone, 0x1000, false, false, 4}, {ending, 0x1000, false, false, 5},
		{another, 0x1000, false, false, 6}, {another, 0x1000, false, false, 7},
		{1, 0x3000, false, false, 8}, {1, 0x1000, true, true, 8},
	} {
		if readable, known := m.Readable(c.pid, c.addr, 8, func() bool { return c.pid != another && c.addr != 0x3000 }); readable != c.readable || known != c.known || reads != c.reads {
			t.Errorf("%#x of %d: %v, known %v after %d reads; want %v, %v after %d", c.addr, c.pid, readable, known, reads, c.readable, c.known, c.reads)
		}
	}
	for pid := range 3 * maxRemembered {
		m.Readable(pid, 0x1000, 8, always)
	}
	if len(m.mappings) > maxRemembered {
		t.Errorf("remembers %d processes", len(m.mappings))
	}
}

func TestMonotonic(t *testing.T) {
	if now := Monotonic(os.Getpid()); now <= 0 || Monotonic(1<<30) != 0 {
		t.Errorf("time %d", now)
	}
}
