package view

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestWarnLeftOut checks the warnings about incomplete trees.
func TestWarnLeftOut(t *testing.T) {
	var stderr bytes.Buffer
	scene := &Scene{Env: &cli.Env{Stderr: &stderr}, Plan: &uprobe.Plan{Follows: true}}
	v := &Lines{stream: stream{Scene: scene, opt: &Options{}}, trees: newForest(0, nil)}
	if v.warnLeftOut(0); stderr.Len() > 0 {
		t.Errorf("%s", stderr.String())
	}
	v.incomplete.trees, v.incomplete.lines, v.trees.untimed = 2, 30, 4
	v.warnLeftOut(5)
	for _, want := range []string{"30 lines left out of 2 trees", "the limits are 10000 in a tree and 200000 in total", "events were lost", "4 trees without a duration"} {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("nothing says %q:\n%s", want, stderr.String())
		}
	}
}

// TestCallTreesOfManyOpenCalls checks that calls that begin while too many others are open are left out and counted.
func TestCallTreesOfManyOpenCalls(t *testing.T) {
	var out bytes.Buffer
	trees := newForest(0, render.NewCallWriter(&out, render.Options{}).Tree)
	trees.openLimit = 3
	grow(t, trees, "a b c d . e . . . 2:x 2:. .")
	want := `
goroutine 2  00:00:00.000010  thread 11
  1.00µs   100%  x()
goroutine 1  00:00:00.000001  thread 10
  11.0µs   100%  a()
  7.00µs    63%    b()
  5.00µs    45%      c()
`
	if got := out.String(); got != want[1:] || trees.leftOut != 2 || trees.open+len(trees.tracks) != 0 {
		t.Errorf("%d left out, %d open, %d trees\n%s\nwant%s", trees.leftOut, trees.open, len(trees.tracks), got, want)
	}
}

// TestChromeInParts checks that each call has one end event, even if its tree is written in parts.
func TestChromeInParts(t *testing.T) {
	for _, limit := range []int{2, 4, 7, 100} {
		var out bytes.Buffer
		w := render.NewChromeWriter(&out, time.Unix(0, 0))
		trees := newForest(0, w.Tree)
		trees.limit = limit
		grow(t, trees, "a b . 2:x 2:y 2:. c . d >3 e f 3:n . . g 3:o 3:. . . 3:. 3:~ h . 2:. k l . . . m .")
		fixture.NoError(t, w.Close(stats.Summary{Hits: 1}))
		if ended := strings.Count(out.String(), `"ph":"X"`) + strings.Count(out.String(), `"ph":"E"`); ended != 15 {
			t.Errorf("parts of %d: %d calls\n%s", limit, ended, out.String())
		}
	}
}
