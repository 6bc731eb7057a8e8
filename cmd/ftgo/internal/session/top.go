package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/top"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Top is the command top: a full screen, or a stream of what that would show.
func (o *Options) Top(ctx context.Context) error {
	o.OwnFuncs, o.Errors, o.Summaries, o.Sole = true, true, true, true
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	switch {
	case o.Format != render.Table && o.Binary == "":
		return cli.Usage("top: no BINARY (see ftgo top -h)")
	case o.Format != render.Table || o.DryRun:
		return o.Observe(ctx, view.NewTable(o.View(), uprobe.Latency))
	case !cli.IsTerminal(o.Stdout):
		return cli.Usage("top: standard output is no terminal: -o json writes what the screen shows")
	}
	jobs, cancel := context.WithCancel(ctx)
	s := &topScreen{o: o, ctx: jobs, wake: make(chan struct{}, 1), model: top.New(render.TopOrder), open: true}
	s.shown, s.close = context.WithCancel(ctx)
	defer s.wait()
	defer cancel()
	s.update(func() {
		if s.choosing = o.Binary == ""; s.choosing {
			s.model = top.New(cpuColumn)
			s.listProcesses()
		} else {
			s.overview()
		}
	})
	err := top.Show(s.shown, s.use, s.wake)
	s.mu.Lock()
	s.open = false
	s.mu.Unlock()
	cancel()
	s.wait()
	return errors.Join(s.failed, err)
}

// alone tells whether the processes of -p are all that run their file: then the kernel's counters
// are of them alone, and calls need not be recorded to be counted.
func (o *Options) alone() bool {
	if !o.Target.BinaryFromPID {
		return false
	}
	running := procfs.Running(o.Binary)
	slices.Sort(running)
	return slices.Equal(running, slices.Sorted(slices.Values(o.PIDs)))
}

// topScreen is the screen of top, with what is going on behind it: a run of all functions, and one of the
// function that is open. What runs tell comes at any time, so that all is locked.
type topScreen struct {
	o        *Options
	ctx      context.Context // of the runs
	shown    context.Context // of the screen
	close    context.CancelFunc
	wake     chan struct{}
	mu       sync.Mutex
	model    *top.Model
	open     bool   // the screen has not ended
	choosing bool   // of a process
	title    string // of what is looked at
	list     *beside
	one      *beside
	runs     []*beside
	failed   error
}

// update changes what is on the screen.
func (s *topScreen) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// start starts a run of a view; ended gets how it has ended.
func (s *topScreen) start(o *Options, v view.View, ended func(error)) *beside {
	r := o.start(s.ctx, v, &topTalk{s: s, stderr: o.Stderr}, func(r *beside) {
		s.update(func() {
			switch {
			case r.panicked.Happened():
				s.close() // [topScreen.wait] goes on with that
			case !r.canceled():
				ended(r.err)
			case !errors.Is(r.err, context.Canceled): // else it had not begun
				s.failed = errors.Join(s.failed, r.err)
			}
		})
	})
	s.runs = append(s.runs, r)
	return r
}

// wait waits until all runs have ended, whose probes are gone then.
func (s *topScreen) wait() {
	for _, r := range s.runs {
		<-r.ended
	}
	for _, r := range s.runs {
		r.panicked.Raise()
	}
	s.runs = nil
}

// topTalk shows what is said, a line each.
type topTalk struct {
	s      *topScreen
	stderr io.Writer
}

func (t *topTalk) Write(b []byte) (int, error) {
	if t.shown((*top.Model).Say, strings.TrimSpace(string(b))) {
		return len(b), nil
	}
	return t.stderr.Write(b)
}

// Show shows how far long work is.
func (t *topTalk) Show(line string) {
	if to, ok := t.stderr.(cli.Shower); !t.shown((*top.Model).Doing, line) && ok {
		to.Show(line)
	}
}

// shown shows something as long as there is a screen, and tells whether there is.
func (t *topTalk) shown(how func(*top.Model, string), text string) (shown bool) {
	t.s.update(func() {
		if shown = t.s.open; shown {
			how(t.s.model, strings.TrimPrefix(text, "ftgo: "))
		}
	})
	return shown
}

// overview starts the run of all functions.
func (s *topScreen) overview() {
	o := *s.o
	o.Budget = o.part(listShare)
	s.title = "ftgo top  " + o.Binary
	if len(o.PIDs) > 0 {
		name, _ := procfs.Name(o.PIDs[0]) // that is only shown
		s.title = fmt.Sprintf("ftgo top  %s %d", name, o.PIDs[0])
		if n := len(o.PIDs) - 1; n > 0 {
			s.title += fmt.Sprintf(" and %d more", n)
		}
	}
	s.model.Show(top.Page{Head: []string{s.title, "placing probes"}, Names: "FUNCTION", Columns: render.TopColumns(o.Sched)})
	var list *beside
	v := view.NewOverview(o.View(), func(p top.Page) {
		s.update(func() {
			if s.list == list { // else another has taken its place
				p.Head[0] = s.title + "  " + p.Head[0]
				s.model.Show(p)
			}
		})
	})
	began := time.Now()
	list = s.start(&o, v, func(err error) {
		switch over := s.o.Duration > 0 && time.Since(began) >= s.o.Duration; {
		case err != nil || over:
			s.failed = err
			s.close()
		default:
			s.model.Retitle(s.title, s.title+" has ended")
		}
	})
	s.list = list
}

// listShare is what part of the budget is for all functions; the rest is for the one that is open.
const listShare = 0.6

// part is a part of the budget.
func (o *Options) part(of float64) *float64 { return new(100 * o.share() * of) }

// closeup starts the run of the function that is chosen.
func (s *topScreen) closeup() {
	row, ok := s.model.Chosen()
	if !ok {
		return
	}
	o := *s.o
	o.Funcs, o.Regexp, o.Exclude, o.Wrappers, o.Errors = []string{row.Full}, false, nil, true, false
	o.Budget = o.part(1 - listShare)
	o.Duration, o.Ready, o.Stack, o.Sched = 0, 0, uprobe.MaxStack, len(o.PIDs) > 0
	o.Signatures, o.Lines.Live = true, true
	one := &top.One{Name: row.Full}
	v, err := view.NewCloseup(o.View(), func(now top.One) { s.update(func() { s.model.ShowOne(one, now) }) })
	if err != nil {
		s.model.Say(err.Error())
		return
	}
	s.model.ShowOne(one, top.One{Head: []string{"placing probes"}})
	s.model.OpenOne(one)
	s.one = s.start(&o, v, func(err error) {
		if err != nil {
			s.model.ShowOne(one, top.One{Head: []string{err.Error()}})
		}
	})
}

// waits begins anew, with what calls wait for or without.
func (s *topScreen) waits() {
	switch {
	case s.choosing:
		return
	case len(s.o.PIDs) == 0:
		s.model.Say("what calls wait for is known of processes that -p names: what threads did before can't be told")
		return
	}
	s.o.Sched = !s.o.Sched
	s.list.cancel()
	s.overview()
	if s.o.Sched {
		s.model.Say("from now on with what calls wait for; each time that a goroutine waits costs hits")
	}
}

// use calls a function with the model, does what that wishes, and tells whether to go on.
func (s *topScreen) use(of func(*top.Model) top.Wish) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch of(s.model) {
	case top.Quit:
		return false
	case top.Open:
		if s.choosing {
			s.choose()
		} else {
			s.closeup()
		}
	case top.Close:
		s.one.cancel()
	case top.Waits:
		s.waits()
	}
	return true
}

// processColumns are those of the processes that one is chosen from, the CPU time first.
var processColumns = []string{"CPU", "PID"}

const cpuColumn = 0

// listProcesses shows the processes of Go programs until one is chosen.
func (s *topScreen) listProcesses() {
	used := make(map[int]time.Duration)
	list := func() (choosing bool) {
		p := top.Page{Head: []string{"ftgo top  which process?", "CPU time, and that of the last second"}, Names: "PROGRAM", Columns: processColumns, Keys: "Enter chooses"}
		for pid, exe := range target.GoProcesses {
			stat, alive := procfs.Living(pid)
			if !alive {
				continue
			}
			number := render.Cell{Text: fmt.Sprint(pid), Key: -int64(pid)}
			recent := stat.CPU - used[pid]
			used[pid] = stat.CPU
			p.Rows = append(p.Rows, top.Row{
				ID: pid, Name: filepath.Base(exe), Full: exe,
				Whole:  []render.Cell{{Text: printable.Duration(stat.CPU.Nanoseconds()), Key: stat.CPU.Nanoseconds()}, number},
				Recent: []render.Cell{{Text: printable.Duration(recent.Nanoseconds()), Key: recent.Nanoseconds()}, number},
			})
		}
		s.update(func() {
			if choosing = s.choosing; choosing {
				s.model.Show(p)
			}
		})
		return choosing
	}
	go func() {
		for every := time.Tick(time.Second); list(); {
			select {
			case <-s.shown.Done():
				return
			case <-every:
			}
		}
	}()
}

// choose takes the process that is chosen.
func (s *topScreen) choose() {
	row, ok := s.model.Chosen()
	if !ok {
		return
	}
	s.choosing = false
	s.model = top.New(render.TopOrder)
	s.o.PIDs = []int{row.ID}
	s.o.Binary, s.o.Target.BinaryFromPID = procfs.Exe(row.ID), true
	s.overview()
}
