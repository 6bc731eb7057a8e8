package session

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/engine"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/offsets"
)

// Heap are the flags of the command heap.
type Heap struct {
	*Options
	lines bool
}

// Define defines the flags of rows.
func (h *Heap) Define(fs *cli.Flags) {
	h.Sort = "inuse_space"
	fs.IntVarP(&h.TableFlags.Top, "top", "t", 0, "show only the first `N` rows")
	cli.Define(fs, &h.Sort, "sort", "", "sort rows by `KEY`, which is also the value of folded stacks", cli.OneOf("KEY", "order", stats.AllocationValues...))
	fs.BoolVar(&h.lines, "lines", false, "show a row for each source line")
}

// ReadProcess reads FUNC... of a command that reads the memory of one process.
func (o *Options) ReadProcess(command string, words, _ []string) error {
	if err := o.Target.ReadArgs(command, words, false); err != nil {
		return err
	}
	if len(o.PIDs) != 1 {
		return cli.Usage("%s: takes one process: -p PID (see ftgo %s -h)", command, command)
	}
	return nil
}

// OpenProcess opens the memory of the process of -p, and the binary that it executes. The caller closes both.
func (o *Options) OpenProcess() (*engine.Process, error) {
	if err := o.CheckProcesses(); err != nil {
		return nil, err
	}
	o.Live = true
	t, err := o.resolve()
	if err != nil {
		return nil, err
	}
	p, err := engine.OpenProcess(t.Binary, o.PIDs[0])
	if err != nil {
		t.Binary.Close()
	}
	if errors.Is(err, fs.ErrPermission) {
		err = cli.WithStatus(cli.ExitKernel, fmt.Errorf("%w: root, or CAP_SYS_PTRACE, may read it", err))
	}
	return p, err
}

// Run reads the profile of a process, and writes it.
func (h *Heap) Run() error {
	stop := h.Progress("reading " + h.Binary)
	defer stop()
	h.Wrappers = true // stacks do not have them
	selected := make(map[string]bool)
	if len(h.Funcs) > 0 {
		list, err := h.List(h.Say, false) // also functions that are always inlined, which have no code
		if err != nil {
			return err
		}
		for _, f := range list {
			selected[f.Name] = true
		}
		h.Funcs = nil
	}
	p, err := h.OpenProcess()
	if err != nil {
		return err
	}
	defer p.Binary.Close()
	defer p.Close()
	began := time.Now()
	heap, err := engine.ReadHeap(p)
	if errors.Is(err, engine.ErrNoHeap) {
		err = cli.WithStatus(cli.ExitNothing, err)
	}
	if err != nil {
		return err
	}
	stop()
	value := slices.Index(stats.AllocationValues, h.Sort)
	return h.Write(h.Env, []string{h.Binary}, func(out io.Writer) error {
		switch {
		case h.Format == render.Folded:
			return render.FoldedAllocations(out, heap.Allocs, value)
		case h.Format == render.Pprof:
			return render.PprofAllocations(out, heap.Allocs, value, heap.Rate, render.NewProfiled(p.Binary, p.Binary.Funcs()[0].Addr, began))
		}
		o := render.AllocationOptions{Style: h.StyleFor(out), Lines: h.lines, Sort: value, Changing: heap.Changing}
		var rows []stats.Allocations
		rows, o.Total = h.rows(heap.Allocs, selected, value)
		compact := func(n int64) string { return printable.Compact(float64(n)) }
		h.Say("%sB in use, %sB allocated, estimated from one object for each %sB, as of the last garbage collection",
			compact(o.Total.Values[3]), compact(o.Total.Values[1]), compact(heap.Rate))
		if heap.Changing {
			h.Warn("counts changed whenever they were read: they may be of different moments")
		}
		return render.Allocations(out, rows, o)
	})
}

// rows adds up allocations by their place, and sorts the sums by a value. The place is the innermost function, or the
// innermost one that is selected, and for JSON also its callers.
func (h *Heap) rows(all []stats.Allocations, selected map[string]bool, value int) (rows []stats.Allocations, total stats.Allocations) {
	at := make(map[string]int)
	for _, a := range all {
		total.Add(&a)
		i := slices.IndexFunc(a.Stack, func(l stats.Location) bool { return len(selected) == 0 || selected[l.Frames[0].Function] })
		if i < 0 || a.Values == [4]int64{} {
			continue
		}
		if a.Stack = a.Stack[i:]; h.Format != render.JSON {
			f := a.Stack[0].Frames[0]
			if !h.lines {
				f = offsets.Frame{Function: f.Function}
			}
			a.Stack = []stats.Location{{Frames: []offsets.Frame{f}}}
		}
		key := fmt.Sprint(a.Stack)
		if n, known := at[key]; known {
			rows[n].Add(&a)
			continue
		}
		at[key], rows = len(rows), append(rows, a)
	}
	slices.SortStableFunc(rows, func(a, b stats.Allocations) int { return cmp.Compare(b.Values[value], a.Values[value]) })
	if top := h.TableFlags.Top; top > 0 {
		rows = rows[:min(top, len(rows))]
	}
	return rows, total
}
