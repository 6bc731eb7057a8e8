package view

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/top"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestOverviewHead checks that a function that FUNC names has a row even without calls, and that the head counts only
// functions with calls as called.
func TestOverviewHead(t *testing.T) {
	scene := &Scene{Plan: &uprobe.Plan{}, Target: &target.Target{}}
	table := &trace.Reading{Summary: stats.Summary{Functions: 3}}
	for i, f := range []stats.Func{{Name: "main.called", Calls: 2}, {Name: "main.named"}, {Name: "main.wild"}} {
		scene.Plan.Funcs = append(scene.Plan.Funcs, uprobe.Probe{Func: &offsets.Func{Name: f.Name}, Role: uprobe.Role{Named: i == 1}})
		f.Func = i
		table.Whole = append(table.Whole, f.Over(1))
	}
	table.Since = table.Whole
	var p top.Page
	v := NewOverview(&Options{}, func(shown top.Page) { p = shown })
	fixture.NoError(t, v.Begin(scene))
	fixture.NoError(t, v.Interval(table))
	if len(p.Rows) != 2 || !strings.Contains(p.Head[0], "3 functions, 1 of them called") {
		t.Errorf("%d rows, %q", len(p.Rows), p.Head[0])
	}
}
