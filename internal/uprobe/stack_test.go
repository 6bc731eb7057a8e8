package uprobe

import (
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
	"github.com/ftgo/ftgo/internal/arch/amd64"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestCallersAppend decodes invented stacks: functions at 0x1000, 0x2000, … with frames of given sizes, and the first
// function of a goroutine at 0xf000.
func TestCallersAppend(t *testing.T) {
	const sp, hi = 0x8000, 0x9000
	f := new(offsets.Func)
	sites := map[uint64]CallSite{
		0x1000: {Func: f, Sized: true, Size: 0x20},
		0x2000: {Func: f, Sized: true, Size: 0x40},
		0x3000: {Func: f},
		0x4000: {Func: f, Sized: true, Size: 0}, // no frame
		0x5000: {Func: f, Bare: true},
		0x6000: {Func: f},
		0xf000: {Func: f, Root: true},
		0xbad:  {},
	}
	// What the first frame ends with, and the next.
	const first = sp + 8 + 0x20 - 8
	const second = first + 16 + 0x40 - 8
	for _, c := range []struct {
		name  string
		words []uint64
		hi    uint64
		want  []uint64
	}{
		{"nothing fetched", nil, hi, []uint64{Cut}},
		{"caller alone", []uint64{0x1000}, hi, []uint64{0x1000, Cut}},
		{"called by nobody", []uint64{0xf000}, hi, []uint64{0xf000}},
		{"whole", []uint64{0x1000, first, second, 0x2000, 0, 0xf000}, hi, []uint64{0x1000, 0x2000, 0xf000}},
		{"more than were fetched", []uint64{0x1000, first, second, 0x2000}, hi, []uint64{0x1000, 0x2000, Cut}},
		{"garbage behind a nil frame pointer", []uint64{0x1000, 0, second, 0x2000}, hi, []uint64{0x1000, Cut}},
		{"what an earlier event left", []uint64{0x1000, first, 0, 0x2000, second, 0x1000}, hi, []uint64{0x1000, 0x2000, Cut}},
		{"frame pointer going back", []uint64{0x1000, first, first - 8, 0x2000, 0, 0xf000}, hi, []uint64{0x1000, 0x2000, Cut}},
		{"frame pointer below the frame's end", []uint64{0x1000, first - 8, 0, 0xf000}, hi, []uint64{0x1000, Cut}},
		{"odd frame pointer", []uint64{0x1000, first + 1, 0, 0xf000}, hi, []uint64{0x1000, Cut}},
		{"beyond the stack", []uint64{0x3000, hi - 8, 0, 0xf000}, hi, []uint64{0x3000, Cut}},
		{"at the end of the stack", []uint64{0x3000, hi - 16, 0, 0xf000}, hi, []uint64{0x3000, 0xf000}},
		{"end of the stack not known", []uint64{0x3000, hi - 8, 0, 0xf000}, 0, []uint64{0x3000, 0xf000}},
		{"too far to be a stack", []uint64{0x3000, sp + 2<<30, 0, 0xf000}, 0, []uint64{0x3000, Cut}},
		{"a function without a frame", []uint64{0x4000, first, second, 0x2000, 0, 0xf000}, hi, []uint64{0x4000, Cut, 0x2000, 0xf000}},
		{"without a frame pointer", []uint64{0x5000, first, second, 0x2000}, hi, []uint64{0x5000, Cut}},
		{"nothing known of the frame", []uint64{0x6000, first, second, 0x2000, 0, 0xf000}, hi, []uint64{0x6000, 0x2000, 0xf000}},
		{"return address that is none", []uint64{0x1000, first, second, 0xbad, 0, 0xf000}, hi, []uint64{0x1000, Cut}},
	} {
		t.Run(c.name, func(t *testing.T) {
			callers := &Callers{frames: amd64.Processor.Machine().Frames(26), calls: sites}
			if got := callers.Append(nil, c.words, sp, c.hi, 0); !slices.Equal(got, c.want) {
				t.Errorf("%#x, want %#x", got, c.want)
			}
			const bias = 0x7f0000000000
			moved := slices.Clone(c.words)
			for i := range moved {
				if i == 0 || i >= 3 && i%2 == 1 {
					moved[i] += bias // return addresses
				}
			}
			if got := callers.Append(nil, moved, sp, c.hi, bias); !slices.Equal(got, c.want) {
				t.Errorf("moved by %#x: %#x, want %#x", uint64(bias), got, c.want)
			}
		})
	}
}

// FuzzCallers checks that arbitrary words, which a program may have written, give a bounded number of callers.
func FuzzCallers(f *testing.F) {
	f.Add([]byte("\x00\x10abcdefgh"), uint64(0x8000), uint64(0x9000))
	f.Fuzz(func(t *testing.T, data []byte, sp, hi uint64) {
		callers := &Callers{frames: amd64.Processor.Machine().Frames(26), calls: make(map[uint64]CallSite)}
		words := make([]uint64, min(len(data), (&Plan{Options: Options{Stack: MaxStack}}).StackWords()))
		for i := range words {
			words[i] = sp + 8*uint64(data[i]) - 64
			callers.calls[words[i]] = CallSite{Func: []*offsets.Func{nil, {}}[min(data[i]%5, 1)], Root: data[i]%7 == 0, Sized: data[i]%4 == 1, Bare: data[i]%4 == 2, Size: uint64(data[i])}
		}
		got := callers.Append(nil, words, sp, hi, 0)
		if len(got) == 0 || len(got) > 2*MaxStack+1 {
			t.Errorf("%d callers of %d words", len(got), len(words))
		}
	})
}

// TestStackArgs checks that arguments for callers keep the kernel's limits, with and without arrays.
func TestStackArgs(t *testing.T) {
	for _, p := range arch.Processors {
		frames := p.Machine().Frames(26)
		for _, arrays := range []bool{false, true} {
			for depth := range deepest(frames) + 1 {
				checkStackArgs(t, frames, depth, arrays)
			}
		}
	}
	if got := deepest(amd64.Processor.Machine().Frames(26)); got != MaxStack {
		t.Errorf("%d callers, want %d", got, MaxStack)
	}
}

func checkStackArgs(t *testing.T, frames *arch.Frames, depth int, arrays bool) {
	t.Helper()
	words := 0
	for _, a := range stackArgs(frames, depth, arrays) {
		words += max(ArrayLen(a), 1)
		if n := len(a.Fetch) + 1 + len(a.Type); n > 63 {
			t.Errorf("%s: %d bytes", a, n)
		}
		nested := strings.Count(a.Fetch, "(")
		if ArrayLen(a) > 0 {
			nested++ // an array takes another instruction
		}
		if nested > 14 {
			t.Errorf("%s: too many dereferences", a)
		}
	}
	if want := (&Plan{Options: Options{Stack: depth}}).StackWords(); words != want {
		t.Errorf("depth %d: %d words, want %d", depth, words, want)
	}
}

// TestGarbageForgotten checks that words that are not return addresses are not cached, because their number is
// unlimited.
func TestGarbageForgotten(t *testing.T) {
	b := binaries.Open(t, fixture.Build(t, "flood"))
	f, _ := b.Lookup("main.framed")
	callers := NewCallers(b)
	for i := range uint64(1000) {
		if got := callers.Append(nil, []uint64{1<<60 + i}, 0, 0, 0); !slices.Equal(got, []uint64{Cut}) {
			t.Fatalf("%#x", got)
		}
		callers.Append(nil, []uint64{f.Addr + 1}, 0, 0, 0)
	}
	if n := len(callers.calls); n != 1 {
		t.Errorf("%d words are remembered, 1 is an address", n)
	}
}
