package debug

import (
	"debug/elf"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestUnwindAgainstReadelf compares the extent of each entry, and the frame at each row of
// its table, with binutils' reader.
func TestUnwindAgainstReadelf(t *testing.T) {
	readelf, err := exec.LookPath("readelf")
	if err != nil {
		t.Skip("readelf (binutils) is not installed")
	}
	path := fixture.Compile(t, "gcc", "c/flow.c", "-O2", "-static")
	table := ReadUnwind(openPath(t, path))
	out, err := exec.Command(readelf, "--debug-dump=frames-interp", path).Output()
	fixture.NoError(t, err)
	extent := regexp.MustCompile(`FDE .* pc=([0-9a-f]+)\.\.([0-9a-f]+)$`)
	row := regexp.MustCompile(`^([0-9a-f]{16}) ((?:r\w+\+\d+)|exp)`)
	registers := map[string]uint64{"rax": 0, "rdx": 1, "rcx": 2, "rbx": 3, "rsi": 4, "rdi": 5, "rbp": 6, "rsp": 7, "r10": 10, "r13": 13}
	entries, rows := 0, 0
	inEntry := false
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\n")
		if m := extent.FindStringSubmatch(line); m != nil {
			from, err1 := strconv.ParseUint(m[1], 16, 64)
			to, err2 := strconv.ParseUint(m[2], 16, 64)
			if err1 != nil || err2 != nil {
				t.Fatal(line)
			}
			inEntry = true
			entries++
			if e, ok := table.At(from); !ok || e.Addr != from || e.Size != to-from {
				t.Errorf("entry at %#x: %+v, want %#x to %#x", from, e, from, to)
			}
			continue
		}
		if strings.Contains(line, " CIE") {
			inEntry = false
		}
		m := row.FindStringSubmatch(line)
		if m == nil || !inEntry {
			continue
		}
		addr, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			t.Fatal(line)
		}
		got, ok := table.FrameAt(addr)
		if !ok {
			t.Errorf("no frame at %#x", addr)
			continue
		}
		rows++
		if m[2] == "exp" {
			if !got.Computed {
				t.Errorf("%#x: %+v, want an expression", addr, got)
			}
			continue
		}
		name, offset, _ := strings.Cut(m[2], "+")
		want, known := registers[name]
		n, err := strconv.ParseInt(offset, 10, 64)
		if err != nil || !known {
			t.Fatalf("row %q", line)
		}
		if got.Register != want || got.offset != n || got.Computed {
			t.Errorf("%#x: %+v, want %s", addr, got, m[2])
		}
	}
	if entries != len(table) || entries < 500 || rows < 2*entries {
		t.Errorf("%d entries and %d rows compared, %d entries read", entries, rows, len(table))
	}
}

// FuzzUnwind: no section makes the reader panic, and its entries are in order.
func FuzzUnwind(f *testing.F) {
	tool, err := exec.LookPath("readelf")
	if err == nil {
		if ef, err := elf.Open(tool); err == nil {
			if s := ef.Section(".eh_frame"); s != nil {
				if data, err := s.Data(); err == nil {
					f.Add(data[:min(len(data), 4096)])
				}
			}
			ef.Close()
		}
	}
	f.Add([]byte("\x14\x00\x00\x00\x00\x00\x00\x00\x01zR\x00\x01\x78\x10\x01\x1b\x0c\x07\x08\x90\x01\x00\x00\x10\x00\x00\x00\x1c\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x41\x0e\x10"))
	f.Fuzz(func(t *testing.T, data []byte) {
		table := parseUnwind(data, 0x1000)
		for i, e := range table {
			if i > 0 && table[i-1].Addr > e.Addr {
				t.Fatal("not sorted")
			}
			table.FrameAt(e.Addr)
			table.FrameAt(e.Addr + e.Size - 1)
		}
	})
}
