package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/top"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// Top is the command top: a full screen, or with -o a stream of its numbers.
func (o *Options) Top(ctx context.Context) error {
	o.OwnFuncs, o.Beyond, o.Errors, o.Summaries, o.OnlyUser = true, target.BoundaryFuncs, true, true, true
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	switch {
	case o.Format != render.Table || o.DryRun:
		return o.Observe(ctx, view.NewTable(o.View(), uprobe.Latency))
	case !cli.IsTerminal(o.Stdout):
		return cli.Usage("top: standard output is not a terminal: use -o json")
	}
	jobs, cancel := context.WithCancel(ctx)
	screen, closeScreen := context.WithCancel(ctx)
	s := &topScreen{o: o, runCtx: jobs, close: closeScreen, wake: make(chan struct{}, 1), model: top.New(render.TopOrder), visible: true}
	defer s.wait()
	defer cancel()
	s.update(s.showFunctions)
	err := top.Show(screen, s.handle, s.wake)
	s.mu.Lock()
	s.visible = false
	s.mu.Unlock()
	cancel()
	s.wait()
	return errors.Join(s.err, err)
}

// isOnlyUser reports whether no process runs the file of -p except the processes of -p. Then the kernel's counters contain
// no calls of other processes, and ftgo can count calls without recording each of them. If BINARY is given, isOnlyUser
// returns false, because BINARY may be a library.
func (o *Options) isOnlyUser() bool {
	if !o.Target.BinaryFromPID {
		return false
	}
	running := procfs.Running(o.Binary)
	slices.Sort(running)
	return slices.Equal(running, slices.Sorted(slices.Values(o.PIDs)))
}

// topScreen is the screen of top, with its runs. One run traces all functions, for the list. Another run traces the open
// function. The runs call methods of topScreen from their own goroutines. While runs are active, mu protects the fields
// below it.
type topScreen struct {
	o       *Options
	runCtx  context.Context    // the parent context of all runs
	close   context.CancelFunc // closes the screen
	wake    chan struct{}      // makes the screen draw the model again
	mu      sync.Mutex
	model   *top.Model
	visible bool             // the screen is shown
	title   string           // the beginning of the first line
	listRun *backgroundRun   // the run of all functions
	oneRun  *backgroundRun   // the run of the open function
	runs    []*backgroundRun // all runs, also ended ones
	err     error            // the error to return when the screen is closed
}

// update changes the model and redraws the screen.
func (s *topScreen) update(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// start runs a view in the background. When the run has ended, start calls onEnd with the run's error, unless the run
// was canceled or has panicked.
func (s *topScreen) start(o *Options, v view.View, onEnd func(error)) *backgroundRun {
	r := o.startInBackground(s.runCtx, v, s, func(r *backgroundRun) {
		s.update(func() {
			switch {
			case r.panicked.Happened():
				s.close() // [topScreen.wait] raises the panic again
			case !r.canceled():
				onEnd(r.err)
			case !errors.Is(r.err, context.Canceled): // the removal of probes failed
				s.err = errors.Join(s.err, r.err)
			}
		})
	})
	s.runs = append(s.runs, r)
	return r
}

// wait waits until all runs have ended and removed their probes. If a run has panicked, wait panics, too.
func (s *topScreen) wait() {
	for _, r := range s.runs {
		<-r.done
	}
	for _, r := range s.runs {
		r.panicked.Raise()
	}
	s.runs = nil
}

// Write shows a message of a run on the screen. If the screen is not shown, it writes the message to stderr. Each Write gets
// one message, which is a line.
func (s *topScreen) Write(b []byte) (int, error) {
	if s.display((*top.Model).Say, strings.TrimSpace(string(b))) {
		return len(b), nil
	}
	return s.o.Stderr.Write(b)
}

// display calls how to show a text if the screen is shown. It reports whether the screen is shown.
func (s *topScreen) display(how func(*top.Model, string), text string) (shown bool) {
	s.update(func() {
		if shown = s.visible; shown {
			how(s.model, strings.TrimPrefix(text, "ftgo: "))
		}
	})
	return shown
}

// showFunctions starts the run of all functions, and shows their list.
func (s *topScreen) showFunctions() {
	o := *s.o
	o.Budget = o.budgetPart(listShare)
	s.title = "ftgo top  " + o.Binary
	if len(o.PIDs) > 0 {
		name, _ := procfs.Name(o.PIDs[0]) // on an error, the title lacks the name
		s.title = fmt.Sprintf("ftgo top  %s %d", name, o.PIDs[0])
		if n := len(o.PIDs) - 1; n > 0 {
			s.title += fmt.Sprintf(" and %d more", n)
		}
	}
	last := top.Page{Head: []string{s.title, "placing probes"}, Columns: render.TopColumns(o.Sched)}
	s.model.Show(last)
	var list *backgroundRun
	v := view.NewOverview(o.View(), func(p top.Page) {
		s.update(func() {
			if s.listRun == list { // otherwise a newer run has replaced this run
				p.Head[0] = s.title + "  " + p.Head[0]
				last = p
				s.model.Show(p)
			}
		})
	})
	began := time.Now()
	list = s.start(&o, v, func(err error) {
		switch over := s.o.Duration > 0 && time.Since(began) >= s.o.Duration; {
		case err != nil || over:
			s.err = err
			s.close()
		default:
			last.Head[0] = strings.Replace(last.Head[0], s.title, s.title+" has ended", 1)
			s.model.Show(last)
		}
	})
	s.listRun = list
}

// listShare is the part of the budget for the run of all functions. The rest is for the run of the open function.
const listShare = 0.6

func (o *Options) budgetPart(part float64) *float64 { return new(100 * o.budgetShare() * part) }

// openFunction starts the run of the chosen function, and shows the function's screen.
func (s *topScreen) openFunction() {
	row, _ := s.model.Chosen()
	o := *s.o
	o.Funcs, o.Regexp, o.Exclude, o.Wrappers, o.Errors = []string{row.Full}, false, nil, true, false
	o.Budget = o.budgetPart(1 - listShare)
	o.Duration, o.Ready, o.Stack, o.Sched = 0, 0, uprobe.MaxStack, len(o.PIDs) > 0
	o.Signatures, o.FewFields = true, true
	one := &top.One{Name: row.Full}
	v := view.NewCloseup(o.View(), func(now top.One) { s.update(func() { s.model.ShowOne(one, now) }) })
	s.model.ShowOne(one, top.One{Lines: []top.Line{{Text: "placing probes"}}})
	s.model.OpenOne(one)
	s.oneRun = s.start(&o, v, func(err error) {
		if err != nil {
			s.model.ShowOne(one, top.One{Lines: []top.Line{{Text: err.Error()}}})
		}
	})
}

// handle calls f with the model, and performs the action that f returns. It returns false to end the screen.
func (s *topScreen) handle(f func(*top.Model) top.Action) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch f(s.model) {
	case top.Quit:
		return false
	case top.Open:
		s.openFunction()
	case top.Close:
		s.oneRun.cancel()
	}
	return true
}
