package view

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/stats"
)

// grow plays a program to the trees: "f" begins a call of f, "." ends the innermost, "!"
// unwinds it, "-" ends it unwanted; "2:" before any of these is for another goroutine.
func grow(t *testing.T, trees *callTrees, play string) {
	t.Helper()
	now := uint64(0)
	stacks := make(map[uint64][]pairing.Call)
	for word := range strings.FieldsSeq(play) {
		goid := uint64(1)
		if rest, other := strings.CutPrefix(word, "2:"); other {
			goid, word = 2, rest
		}
		now++
		shown := render.CallLine{Thread: render.Thread{Goid: goid, TID: int(9 + goid)}, Time: time.Unix(0, int64(now)*1000).UTC()}
		stack := stacks[goid]
		if strings.ContainsAny(word[:1], ".!-") {
			c := stack[len(stack)-1]
			stacks[goid] = stack[:len(stack)-1]
			shown.Function, shown.End, shown.NS = string(rune(c.Func)), "return", int64(now-c.Start)*1000
			shown.Time = time.Unix(0, int64(c.Start)*1000).UTC()
			shown.Ended = time.Unix(0, int64(now)*1000).UTC()
			line := &shown
			switch word {
			case "!":
				shown.End = "unwound"
			case "-":
				line = nil
			}
			if err := trees.end(&c, line); err != nil {
				t.Fatal(err)
			}
			continue
		}
		c := pairing.Call{Func: int(word[0]), Goid: goid, TID: int(9 + goid), Start: now, Depth: len(stack)}
		stacks[goid] = append(stack, c)
		if err := trees.begin(&c, word, shown.Time); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCallTrees(t *testing.T) {
	for _, c := range []struct {
		name         string
		depth, limit int
		play, want   string
	}{
		{"nested", 0, 100, "a b c . . d . .", `
goroutine 1  00:00:00.000001  thread 10
  7.00µs   100%  a()
  3.00µs    42%    b()
  1.00µs    14%      c()
  1.00µs    14%    d()
`},
		{"goroutines apart", 0, 100, "a 2:x b 2:y . 2:. . 2:.", `
goroutine 1  00:00:00.000001  thread 10
  6.00µs   100%  a()
  2.00µs    33%    b()
goroutine 2  00:00:00.000002  thread 11
  6.00µs   100%  x()
  2.00µs    33%    y()
`},
		{"unwound", 0, 100, "a b c ! ! d . .", `
goroutine 1  00:00:00.000001  thread 10
  7.00µs   100%  a()
       -      -    b() = unwound
       -      -      c() = unwound
  1.00µs    14%    d()
`},
		{"unwound root", 0, 100, "a b . !", `
goroutine 1  00:00:00.000001  thread 10
       -      -  a() = unwound
  1.00µs      -    b()
`},
		{"unwanted between", 0, 100, "a b c . - .", `
goroutine 1  00:00:00.000001  thread 10
  5.00µs   100%  a()
  1.00µs    20%    c()
`},
		{"nothing wanted", 0, 100, "a b - -", ""},
		{"levels", 2, 100, "a b c . . .", `
goroutine 1  00:00:00.000001  thread 10
  5.00µs   100%  a()
  3.00µs    60%    b()
`},
		{"in parts", 0, 4, "a b . c . d e . . .", `
goroutine 1  00:00:00.000001  thread 10
       …      -  a(…)
  1.00µs      -    b()
  1.00µs      -    c()
       …      -    d(…)
goroutine 1  00:00:00.000001  thread 10  continued
  9.00µs   100%  a()
  3.00µs    33%    d()
  1.00µs    11%      e()
`},
		{"deeper than a part", 0, 2, "a b c d . . . .", `
goroutine 1  00:00:00.000001  thread 10
  7.00µs   100%  a()
  5.00µs    71%    b()
  3.00µs    42%      c()
  1.00µs    14%        d()
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			trees := newCallTrees(c.depth, render.NewCallWriter(&out, render.CallOptions{}).Tree)
			trees.limit = c.limit
			grow(t, trees, c.play)
			if got := out.String(); got != strings.TrimPrefix(c.want, "\n") {
				t.Errorf("got\n%s\nwant%s", got, c.want)
			}
			if len(trees.trees) != 0 || len(trees.open) != 0 || trees.lines != 0 {
				t.Errorf("%d trees, %d calls, %d lines are kept", len(trees.trees), len(trees.open), trees.lines)
			}
		})
	}
}

// TestCallTreesAreBounded: a call that lasts for ever does not keep what it has called.
func TestCallTreesAreBounded(t *testing.T) {
	most, parts := 0, 0
	trees := newCallTrees(0, nil)
	trees.write = func(_ *render.CallLine, _ bool, lines []render.TreeLine) error {
		most, parts = max(most, len(lines)), parts+1
		return nil
	}
	grow(t, trees, "a"+strings.Repeat(" b . c d . .", 20_000))
	if most != maxTree || trees.lines > maxTree || parts < 5 {
		t.Errorf("%d parts of at most %d lines, %d still held", parts, most, trees.lines)
	}
	if got := fmt.Sprint(len(trees.open)); got != "1" {
		t.Errorf("%s calls are open", got)
	}
}

// TestCallTreesOfManyOpenCalls: what begins while too many calls are open is left out and
// counted; the others are whole.
func TestCallTreesOfManyOpenCalls(t *testing.T) {
	var out bytes.Buffer
	trees := newCallTrees(0, render.NewCallWriter(&out, render.CallOptions{}).Tree)
	trees.branches = 3
	grow(t, trees, "a b c d . e . . . 2:x 2:. .")
	want := `
goroutine 2  00:00:00.000010  thread 11
  1.00µs   100%  x()
goroutine 1  00:00:00.000001  thread 10
  11.0µs   100%  a()
  7.00µs    63%    b()
  5.00µs    45%      c()
`
	if got := out.String(); got != want[1:] || trees.leftOut != 2 || len(trees.open)+len(trees.trees) != 0 {
		t.Errorf("%d left out, %d open, %d trees\n%s\nwant%s", trees.leftOut, len(trees.open), len(trees.trees), got, want)
	}
}

// TestChromeInParts: a call that outlasts a part of its tree begins and ends for itself.
func TestChromeInParts(t *testing.T) {
	for _, limit := range []int{2, 4, 7, 100} {
		var out bytes.Buffer
		w := render.NewChromeWriter(&out, time.Unix(0, 0))
		trees := newCallTrees(0, w.Tree)
		trees.limit = limit
		grow(t, trees, "a b . 2:x 2:y 2:. c . d e f . . g . . h . 2:. k l . . . m .")
		if err := w.Close(stats.Summary{Hits: 1}); err != nil {
			t.Fatal(err)
		}
		if ended := strings.Count(out.String(), `"ph":"X"`) + strings.Count(out.String(), `"ph":"E"`); ended != 13 {
			t.Errorf("parts of %d: %d calls\n%s", limit, ended, out.String())
		}
	}
}
