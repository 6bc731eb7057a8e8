package offsets

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"

	"github.com/ftgo/ftgo/internal/arch/amd64"
	"github.com/ftgo/ftgo/internal/arch/arm64"
)

// swept decodes the code of a Go function.
func swept(t *testing.T, text string) (*decoder, error) {
	t.Helper()
	code, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	fixture.NoError(t, err)
	d := &decoder{processor: amd64.Processor, fn: &Func{}}
	if err := d.decodePart(part{code: code}); err != nil {
		return d, err
	}
	return d, d.findTails()
}

// TestLateEntry checks that the entry is after instructions that can't be probed, unless something jumps there.
func TestLateEntry(t *testing.T) {
	for _, c := range []struct {
		scenario, code string
		at             int
		err            string
	}{
		{"takes one", "55 c3", 0, ""},
		{"behind lock inc", "f0 ff 07 31 c0 c3", 3, ""},
		{"behind two of AVX-512", "62 f1 7c 48 10 07 c5 f8 77 c3", 9, ""},
		{"loop to what is behind", "f0 ff 07 31 c0 75 fc c3", 0, "lock prefix"},
		{"nothing behind", "f0 ff 07", 0, "lock prefix"},
		{"a trap", "0f 0b c3", 0, "raises an exception"},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			f, err := swept(t, c.code)
			fixture.NoError(t, err)
			s, late, err := f.entrySite(0)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil || int(s.Addr()) != c.at || late != (c.at > 0) {
				t.Errorf("at +%#x, late %v, error %v; want +%#x", s.Addr(), late, err, c.at)
			}
		})
	}
}

// TestBranchSite checks that a Branch site is found only if every call executes it exactly once.
func TestBranchSite(t *testing.T) {
	const none = -1
	for _, c := range []struct {
		scenario, code string
		at             int
		writes         bool
	}{
		{"test, jump if equal, taken to the second return", "48 85 c0  74 01  c3  c3", 3, false},
		{"compare arguments", "48 39 c3  7f 01  c3  c3", 3, false},
		{"a register written before", "31 c9  48 85 c0  74 01  c3  c3", 5, true},
		{"jump over the loop's step", "48 8d 0c 40  eb 03  48 ff c1  48 83 f9 03  7f f7  c3", 4, true},
		{"loop back to between start and branch", "31 c9  48 ff c1  48 39 c1  7c f8  c3", none, false},
		{"loop back to the branch", "48 85 c0  74 03  48 ff c8  74 f9  c3", none, false},
		{"loop back to behind the branch", "48 85 c0  74 05  48 ff c8  75 fb  c3", 3, false},
		{"loop back to the start", "48 85 c0  74 02  eb f9  c3", 3, false},
		{"jump table", "48 83 f8 03  77 07  48 8d 15 00 10 00 00  ff 24 c2  c3", none, false},
		{"load through a pointer", "48 8b 08  48 85 c9  74 01  c3  c3", none, false},
		{"compare through a pointer", "48 39 18  7e 01  c3  c3", none, false},
		{"nil check", "84 00  48 85 db  74 01  c3  c3", none, false},
		{"store through a pointer", "48 89 18  48 85 db  74 01  c3  c3", none, false},
		{"variable of the program", "48 83 3d 00 10 00 00 00  74 01  c3  c3", 8, false},
		{"variable of the program written", "c6 05 00 10 00 00 01  48 85 c0  74 01  c3  c3", 10, true},
		{"variable of the thread", "64 48 8b 0c 25 f8 ff ff ff  48 85 c9  74 01  c3  c3", none, false},
		{"fixed address", "48 8b 0c 25 00 10 00 00  48 85 c9  74 01  c3  c3", none, false},
		{"argument on the stack", "48 8b 44 24 08  48 85 c0  74 01  c3  c3", 8, true},
		{"argument on the stack compared", "48 83 7c 24 08 00  74 01  c3  c3", 6, false},
		{"argument spilled", "48 89 44 24 08  48 85 c0  74 01  c3  c3", 8, true},
		{"element on the stack, anywhere", "48 83 3c c4 00  74 01  c3  c3", none, false},
		{"bit on the stack, anywhere", "48 0f a3 04 24  72 01  c3  c3", none, false},
		{"far up the stack", "48 83 bc 24 00 00 01 00 00  74 01  c3  c3", none, false},
		{"return address written", "48 89 04 24  48 85 c0  74 01  c3  c3", none, false},
		{"return address written in part", "66 0f d6 44 24 fc  48 85 c0  74 01  c3  c3", none, false},
		{"division", "48 f7 f3  48 85 d2  74 01  c3  c3", none, false},
		{"multiplication", "48 f7 e3  70 01  c3  c3", 3, true},
		{"comparison of floating point", "66 0f 2e c1  76 01  c3  c3", none, false},
		{"aligned vector", "0f 28 04 24  48 85 c0  74 01  c3  c3", none, false},
		{"vectors shuffled", "66 48 0f 6e c0  66 0f 60 c0  66 0f 70 c0 00  48 83 fb 10  7c 01  c3  c3", 18, false},
		{"vectors shuffled, of memory", "66 0f 60 04 24  48 83 fb 10  7c 01  c3  c3", none, false},
		{"vector to a register", "66 48 0f 7e c0  48 83 fb 10  7c 01  c3  c3", 9, true},
		{"system call", "0f 05  48 85 c0  74 01  c3  c3", none, false},
		{"interrupt", "cd 80  48 85 c0  74 01  c3  c3", none, false},
		{"trap", "48 85 c0  0f 0b", none, false},
		{"lock", "f0 48 83 05 00 10 00 00 01  74 01  c3  c3", none, false},
		{"undecoded by one of two", "c5 f8 77  48 85 c0  74 01  c3  c3", none, false},
		{"SP moved", "48 83 ec 08  48 85 c0  74 04  48 83 c4 08  c3", none, false},
		{"frame pointer used", "31 ed  48 85 c0  74 01  c3  c3", none, false},
		{"g replaced", "49 89 c6  48 85 c0  74 01  c3  c3", none, false},
		{"segment register", "8e d8  48 85 c0  74 01  c3  c3", none, false},
		{"register with a high byte", "88 c4  84 e4  74 01  c3  c3", 4, true},
		{"conditional on a register", "48 89 c1  e3 01  c3  c3", none, false},
		{"pushed", "89 c1  53  5b  c3", 2, true},
		{"pushed behind endbr64", "f3 0f 1e fa  55  5d  c3", 4, false},
		{"pushed twice: the first", "f3 0f 1e fa  41 57  55  5d 41 5f  c3", 4, false},
		{"called", "89 c1  e8 00 00 00 00  c3", none, false},
		{"called through a pointer", "89 c1  ff d0  c3", none, false},
		{"returns at once", "48 8d 04 40  c3", none, false},
		{"returns before the branch", "48 85 c0  c3  74 01  c3  c3", none, false},
		{"tail jump", "48 ff c0  e9 00 00 01 00", 3, true},
		{"tail jump through a pointer", "48 ff c0  74 02  ff e2  c3", none, false},
	} {
		t.Run(c.scenario, func(t *testing.T) {
			f, err := swept(t, c.code)
			fixture.NoError(t, err)
			s, intact := f.branchSite(0)
			at := none
			if s != nil {
				at = int(s.Addr())
			}
			if at != c.at || s != nil && intact == c.writes {
				t.Errorf("at %+d, intact %v; want %+d, %v", at, intact, c.at, !c.writes)
			}
		})
	}
}

// TestFirstBranch checks that no instruction before the branch changes a register.
func TestFirstBranch(t *testing.T) {
	for _, c := range []struct {
		name, code string
		at         int
		err        string
	}{
		// sub $0x40,%rsp; mov %rbp,0x38(%rsp); lea 0x38(%rsp),%rbp; mov %rax,0x48(%rsp);
		// mov %ebx,0x50(%rsp); bt $0xc,%ebx; nop; jb
		{name: "casgstatus of Go 1.18", code: "4883ec40 48896c2438 488d6c2438 4889442448 895c2450 0fbae30c 90 7200 90", at: 28},
		{name: "at once", code: "7500 90", at: 0},
		{name: "mov %rbx,%rax", code: "4889d8 7500 90", err: "before +0x0"},
		{name: "mov (%rbx),%rax", code: "488b03 7500 90", err: "before +0x0"},
		{name: "push %rbp; sub $8,%rax", code: "55 4883e808 7500 90", err: "before +0x1"},
		{name: "pop %rbp", code: "5d 7500 90", err: "before +0x0"},
		{name: "call", code: "e800000000 7500 90", err: "before +0x0"},
		{name: "loop", code: "55 85c0 75fb", err: "jump back"},
		{name: "loop to itself", code: "85c0 75fe", err: "jump back"},
		{name: "none", code: "55 90", err: "no conditional jump"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := swept(t, c.code)
			fixture.NoError(t, err)
			s, err := f.firstBranch()
			at := int(s.Addr())
			if c.err == "" && (err != nil || at != c.at) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
				t.Errorf("+%#x, %v; want +%#x, %q", at, err, c.at, c.err)
			}
		})
	}
}

// TestSweep checks that a function is decoded completely or rejected.
func TestSweep(t *testing.T) {
	for _, c := range []struct {
		name, code string
		err        string
		returns    []int
		tails      []int
	}{
		{"returns", "c3 90 c3", "", []int{0, 2}, nil},
		{"jump inside", "eb 01 90 c3", "", []int{3}, nil},
		{"tail jump", "e9 00 10 00 00", "", nil, []int{0}},
		{"jump through a register", "ff e0", "", nil, []int{0}},
		{"conditional jump out", "0f 84 00 10 00 00 c3", "conditional jump", nil, nil},
		{"undecodable", "06", "undecodable at +0x0", nil, nil},
		{"undecodable behind a stack check", "49 3b 66 10 76 0b 55 48 89 e5 e8 f1 ff ff ff 5d c3 e8 8a e6 02 00 eb e8 06", "undecodable at +0x18", nil, nil},
		{"cut in an instruction", "c3 e9 00", "undecodable at +0x1", nil, nil},
		// A jump over data that contains the byte of a RET.
		{"data among the code", "eb 01 48 c3 c3", "middle of an instruction", nil, nil},
		{"vector instructions", "c5 f8 77 62 f1 7c 48 28 c0 c3", "", []int{9}, nil},
		{"endbr64", "f3 0f 1e fa c3", "", []int{4}, nil},
		{"nothing", "", "no code", nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := swept(t, c.code)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want one with %q", err, c.err)
				}
				return
			}
			fixture.NoError(t, err)
			if !slices.Equal(f.parts[0].returns, c.returns) || !slices.Equal(f.tails, c.tails) {
				t.Errorf("returns %v, tails %v; want %v and %v", f.parts[0].returns, f.tails, c.returns, c.tails)
			}
		})
	}
}

// TestUnaligned checks that a function at an unaligned address or file offset is rejected.
func TestUnaligned(t *testing.T) {
	ret := []byte{0xc0, 0x03, 0x5f, 0xd6}
	for _, c := range []struct {
		addr, offset uint64
		ok           bool
	}{{0x1000, 0x1000, true}, {0x1004, 4, true}, {0x1002, 0x1002, false}, {0x1004, 2, false}} {
		code := &decoder{processor: arm64.Processor, fn: &Func{}}
		if err := code.decodePart(part{addr: c.addr, offset: c.offset, code: ret}); (err == nil) != c.ok {
			t.Errorf("at %#x, %#x in the file: %v", c.addr, c.offset, err)
		}
	}
}
