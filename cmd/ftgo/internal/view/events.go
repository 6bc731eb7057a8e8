package view

import (
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/parse"
)

// Kernel gets a kernel event.
func (v *Lines) Kernel(ev *parse.KernelEvent) error {
	o, w := &v.opt.Lines, &ev.Where
	if o.Goid != 0 && (!w.Known || w.Goid != o.Goid) || v.opt.Inside && !v.isInside(w) {
		return nil
	}
	line := v.eventLine(ev)
	if v.trees != nil {
		if taken, err := v.trees.happened(ev, line); taken {
			return err
		}
	}
	if v.chrome != nil {
		return v.chrome.Event(line)
	}
	return v.calls.Event(line)
}

// isInside tells whether a thread was inside of what --inside names.
func (v *Lines) isInside(w *parse.Where) bool {
	return w.Func >= 0 && (w.Inside || v.Target.Roles[v.Plan.Funcs[w.Func].Func].Inside)
}

func (v *Lines) eventLine(ev *parse.KernelEvent) *render.EventLine {
	line := &render.EventLine{
		Time: v.Clock.Wall(ev.Time), Name: v.Events[ev.Event],
		Known: ev.Where.Known, Goid: ev.Where.Goid, PID: ev.PID, TID: ev.TID, CPU: ev.CPU,
		Fields: ev.AppendFields(nil),
	}
	if ev.Where.Func >= 0 {
		line.Function = v.Plan.Funcs[ev.Where.Func].Name
	}
	return line
}
