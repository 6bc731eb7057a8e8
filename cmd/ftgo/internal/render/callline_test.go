package render

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/madeup"
)

var callStart = time.Date(2024, 2, 29, 12, 0, 0, 123456789, time.UTC)

// get returns a call as most are: with two arguments and results.
func get() Line {
	return Line{
		Time: callStart, Function: "main.get", Thread: Thread{Goid: 1, PID: 4711, TID: 4712, CPU: 1},
		NS: 12300, End: "return",
		Args:    []capture.Value{madeup.Named("key", madeup.Str("bob")), madeup.Named("n", madeup.Num("int", 3))},
		Results: []capture.Value{madeup.Named("r0", madeup.Str("hi bob")), madeup.Named("r1", capture.Value{Type: madeup.Basic("error")})},
	}
}

func begin(c Line) Line {
	c.NS, c.End, c.Results = 0, "", nil
	return c
}

func ended(c Line, how string) Line {
	c.NS, c.End, c.Results = 0, how, nil
	return c
}

// calls returns calls with all ends and all kinds of missing values.
func calls() []Line {
	serve := Line{Time: callStart, Function: "main.(*Server).serve", Thread: Thread{Goid: 1, PID: 4711, TID: 4711}, NS: 4_350_000_000, End: "return"}
	inner := get()
	inner.Depth = 1
	deep := Line{
		Time: callStart.Add(time.Second), Function: "main.parse", Thread: Thread{Goid: 18, PID: 4712, TID: 4713, CPU: 3}, Depth: 2,
		Args: []capture.Value{madeup.Named("b", madeup.ByteSlice("\x00\xff=", 90, 128)), madeup.Named("f", madeup.Unfetched("in a floating-point register")), madeup.Named("p", madeup.Unreadable("no valid pointer"))},
		NS:   812, End: "return",
		Results: []capture.Value{madeup.Named("n", madeup.Ints(100, 128, 1, 2)), madeup.Named("err", madeup.ErrorString(madeup.Str("not\nfound")))},
	}
	asm := Line{Time: callStart, Function: "runtime.memmove", Thread: Thread{TID: 99, PID: 4711}, NS: 95, End: "return", ArgsNote: "no debug information"}
	half := get()
	half.ArgsNote = "2 more do not fit"
	single, long, none := get(), get(), get()
	single.Results = single.Results[:1]
	long.NS, long.Low, long.High = math.MaxInt64, 1, 2
	none.Args, none.Results = nil, nil
	recursion := ended(get(), "open")
	recursion.Depth = 1_000_000
	return []Line{
		inner, deep, asm, half, single, ended(get(), "unwound"), recursion, ended(get(), "lost"), serve, long, none,
	}
}

func writeCalls(b *bytes.Buffer, o LineOptions, calls ...Line) error {
	w := NewCallWriter(b, o)
	if err := w.Header(); err != nil {
		return err
	}
	for i := range calls {
		if err := w.Line(&calls[i]); err != nil {
			return err
		}
	}
	return nil
}

// line returns the text of a call without its newline. The test fails if the text has no newline at the end.
func line(t *testing.T, o LineOptions, c Line) string {
	t.Helper()
	var b bytes.Buffer
	fixture.NoError(t, NewCallWriter(&b, o).Line(&c))
	text, ok := strings.CutSuffix(b.String(), "\n")
	if !ok {
		t.Fatalf("no line: %q", b.String())
	}
	return text
}

// TestCallFits checks that shortened values use the whole width, and that arguments use the columns that the results do not
// need.
func TestCallFits(t *testing.T) {
	long := madeup.Str(strings.Repeat("x", 300))
	for _, results := range [][]capture.Value{nil, {madeup.Named("n", madeup.Num("int", 0))}, get().Results, {madeup.Named("s", long), madeup.Named("s", long)}} {
		c := get()
		c.Args, c.Results = []capture.Value{madeup.Named("a", long), madeup.Named("b", long)}, results
		for _, width := range []int{100, 120, 200} {
			if n := utf8.RuneCountInString(line(t, LineOptions{Style: Style{Width: width}}, c)); n > width || n < width-4 {
				t.Errorf("%d columns of %d: %s", n, width, line(t, LineOptions{Style: Style{Width: width}}, c))
			}
		}
	}
}

// TestCallKeepsToWidth checks that a line with many arguments, wide runes and a note is not wider than the terminal.
func TestCallKeepsToWidth(t *testing.T) {
	many := get()
	many.Args = nil
	for range 9 {
		many.Args = append(many.Args, madeup.Named("key", madeup.Str("世界 世界 世界")))
	}
	noted := get()
	noted.ArgsNote = capture.NotKnown + "what follows"
	noted.Args = append(noted.Args, madeup.Named("last", madeup.Str(strings.Repeat("x", 300))))
	outlived := noted
	outlived.Outlived = time.Millisecond
	tree := Tree{Root: &Line{Function: "main.root"}, First: &noted, Lines: []*Line{&outlived}}
	var b bytes.Buffer
	fixture.NoError(t, NewCallWriter(&b, LineOptions{Style: Style{Width: 120}}).Tree(&tree))
	if got, ok := strings.CutSuffix(b.String(), " outlived main.root by 1.00ms\n"); !ok {
		t.Errorf("the end is missing: %s", got)
	}
	for _, c := range []Line{many, noted, begin(many)} {
		for _, width := range []int{40, 80, 100} {
			got := line(t, LineOptions{Style: Style{Width: width}}, c)
			if n := printable.Columns(got); n > width || n < width-1 {
				t.Errorf("%d columns of %d: %s", n, width, got)
			}
		}
	}
}

// TestCallAllocates checks that a line of JSON does not allocate.
func TestCallAllocates(t *testing.T) {
	w := NewCallWriter(io.Discard, LineOptions{Style: Style{Format: JSON}})
	c := begin(get())
	if n := testing.AllocsPerRun(100, func() { _ = w.Line(&c) }); n > 0 {
		t.Errorf("a line takes %v allocations", n)
	}
}
