package view

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// TestWarnLeftOut checks the warnings about incomplete trees.
func TestWarnLeftOut(t *testing.T) {
	var stderr bytes.Buffer
	scene := &Scene{Env: &cli.Env{Stderr: &stderr}, Plan: &uprobe.Plan{Options: uprobe.Options{RuntimeProbes: uprobe.RuntimeProbes{Follow: true}}}}
	v := &Lines{stream: stream{common: common{Scene: scene, opt: &Options{}}}, trees: newForest(0, nil)}
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
	trees := newForest(0, render.NewCallWriter(&out, render.LineOptions{}).Tree)
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
