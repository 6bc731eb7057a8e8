package view

import (
	"testing"

	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// linesOf returns a view of the calls of one function.
func linesOf() *Lines {
	f := &offsets.Func{Name: "main.get"}
	scene := &Scene{
		Plan: &uprobe.Plan{Funcs: []uprobe.Probe{{Func: f}}}, Target: &target.Target{}, Clock: &trace.Clock{},
	}
	v := &Lines{stream: stream{common: common{opt: &Options{}, Scene: scene, memory: engine.NewMemories(nil, true)}}}
	v.funcs = map[*offsets.Func]*funcValues{f: {note: "not known"}}
	return v
}

// TestLineEnd checks that lines have the words of docs/schema for the end of a call.
func TestLineEnd(t *testing.T) {
	for outcome, want := range map[pairing.Outcome]string{pairing.Unwound: "unwound", pairing.Open: "open", pairing.Abandoned: "lost"} {
		if got := linesOf().line(&pairing.Call{Outcome: outcome}, true).End; got != want {
			t.Errorf("%v: %q, want %q", outcome, got, want)
		}
	}
}

// TestLineMemory checks that a line is reused, unless the view keeps lines.
func TestLineMemory(t *testing.T) {
	c := &pairing.Call{PID: 7, TID: 7, Goid: 1}
	v := linesOf()
	if n := testing.AllocsPerRun(100, func() { v.line(c, false) }); n > 0 {
		t.Errorf("a line takes %v allocations", n)
	}
	v.keeps = true
	if first, next := v.line(c, false), v.line(c, false); first == next {
		t.Error("two kept lines share memory")
	}
}
