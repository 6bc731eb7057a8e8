package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/view"
	"github.com/ftgo/ftgo/internal/metrics"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// exporter has a run for each file that the program is of: that which it is started from now, and that which
// still runs.
type exporter struct {
	o *Options
	*ExportFlags
	scope   *target.LiveScope // of --container or --cgroup, nil is everything
	wrong   string            // what was said of it
	missed  bool              // some processes are not known to be in it
	words   []string          // FUNC as it was typed
	counts  *metrics.Aggregator
	files   map[procfs.Inode]*exported
	failed  failures
	over    chan *exported
	armed   bool // something was
	waiting bool // it was said that there is nothing
	ending  bool // all runs are to end
	walked  time.Time
	sender  *metrics.Exporter // sends by OTLP; nil for nothing
	every   time.Duration     // it sends numbers so often
	sent    time.Time         // when it last has
}

// begun tells whether there is anything to send: what was asked for may yet turn out to be wrong.
func (e *exporter) begun() bool { return e.armed || e.waiting }

// snapshot is of all that is known now.
func (e *exporter) snapshot() *metrics.Snapshot {
	e.counts.SetOwnCPU(trace.OwnCPU())
	s := e.counts.Snapshot()
	if e.sender != nil {
		s.Sent = e.sender.Counts()
	}
	return s
}

// exported is a file that is probed.
type exported struct {
	target.File
	opened *os.File
	view   *view.Export
	source *metrics.Source
	run    *beside
}

// link leads to the file, whatever its path means.
func (f *exported) link() string { return fmt.Sprintf("/proc/self/fd/%d", f.opened.Fd()) }

const (
	lookEvery = 100 * time.Millisecond // at the path of BINARY
	walkEvery = 500 * time.Millisecond // at all processes
)

// follow looks after files until there is a reason to end, and then removes all probes.
func (e *exporter) follow(ctx context.Context) (err error) {
	// A reload is no end. Until now nothing was armed.
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	cli.LetHangUp()
	defer signal.Stop(reload)
	runs, cancel := context.WithCancel(ctx)
	defer func() {
		e.ending = true
		cancel()
		for len(e.files) > 0 {
			err = errors.Join(err, e.ended(<-e.over))
		}
	}()
	for look := time.Tick(lookEvery); ; {
		if err := e.look(runs); err != nil {
			return err
		}
		if e.begun() {
			e.passOn()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-reload:
			e.reload()
		case f := <-e.over:
			if err := e.ended(f); err != nil {
				return err
			}
		case <-look:
		}
	}
}

// look starts runs of the files that the program is of now, and ends those of others.
func (e *exporter) look(ctx context.Context) error {
	walk := time.Since(e.walked) >= walkEvery
	var all procfs.Programs // looked at once for all that is asked of them
	if walk {
		e.walked, all = time.Now(), procfs.Look()
	} else if e.Name != "" || e.scope != nil {
		return nil
	}
	wanted, err := e.wanted(all)
	if err != nil {
		return err
	}
	e.knowAgain()
	if len(wanted) == 0 && len(e.files) == 0 && !e.waiting {
		e.waiting = true
		e.o.Say("waiting for %s", e.what())
	}
	ready := len(wanted) > 0
	for _, f := range wanted {
		if e.files[f.Inode] == nil && e.failed.due(f, time.Now()) {
			e.start(ctx, f)
		}
		ready = ready && e.files[f.Inode] != nil && e.files[f.Inode].view.Armed()
	}
	for inode, f := range e.files {
		e.armed = e.armed || f.view.Armed()
		if !walk {
			continue
		}
		running := all.Running(f.link())
		if e.scope != nil {
			running = slices.DeleteFunc(running, func(pid int) bool { return !e.scope.Has(pid) })
		}
		f.source.SetPIDs(running)
		// One that nobody starts any more goes when the last process has, and the next is there.
		if ready && len(running) == 0 && !slices.ContainsFunc(wanted, func(w target.File) bool { return w.Inode == inode }) {
			f.run.cancel()
		}
	}
	if walk && ready {
		e.tellGone()
	}
	if e.scope != nil && e.scope.Missed() && !e.missed {
		e.missed = true
		e.o.Warn("a process has ended before it was seen whether it was in " + e.scope.String() + ": calls of such processes are not counted")
	}
	return nil
}

// knowAgain knows files by what tells them from others now: one of overlayfs that got another name or mode would be taken for a second
// one, and its calls count twice. It comes after wanted: what changes later is not started (see [target.File.Open]), and known at the next look.
func (e *exporter) knowAgain() {
	for inode, f := range maps.Clone(e.files) {
		if now, err := procfs.OpenInode(f.opened); err == nil && now != inode {
			delete(e.files, inode)
			f.Inode = now
			e.files[now] = f
		}
	}
}

// mostNamed is how many functions are told that are there no longer.
const mostNamed = 10

// tellGone tells of functions that the program has no longer, unless some file is about to be probed no more.
func (e *exporter) tellGone() {
	for _, f := range e.files {
		if f.run.canceled() {
			return
		}
	}
	// What is named in full was told when it was looked for.
	gone := slices.DeleteFunc(e.counts.TakeRemoved(), func(name string) bool { return slices.Contains(e.o.Funcs, name) })
	if len(gone) == 0 {
		return
	}
	more := ""
	if n := len(gone) - mostNamed; n > 0 {
		more = fmt.Sprintf(", and %d more", n)
	}
	e.o.Say("%s has no longer %s%s", e.what(), strings.Join(gone[:min(len(gone), mostNamed)], ", "), more)
}

// what is what people are told is exported.
func (e *exporter) what() string {
	what := cmp.Or(e.Name, e.o.Binary)
	if e.scope != nil {
		what += " in " + e.scope.String()
	}
	return what
}

// wanted are the files that the program is of now. What --container means may turn out to be several ones: that is told, and no
// reason to end once something has begun.
func (e *exporter) wanted(all procfs.Programs) ([]target.File, error) {
	if e.scope == nil {
		if e.Name != "" {
			return target.FilesOf(all.Named(e.Name, func(int) bool { return true })), nil
		}
		if f, ok := target.FileOf(e.o.Binary); ok {
			return []target.File{f}, nil
		}
		return nil, nil
	}
	pids, err := e.scope.Look(e.o.Say)
	switch text := fmt.Sprint(err); {
	case err == nil:
		e.wrong = ""
	case !e.begun():
		return nil, err
	case text != e.wrong:
		e.wrong = text
		e.o.Warn(text)
	}
	if e.Name != "" {
		return target.FilesOf(all.Named(e.Name, func(pid int) bool { return slices.Contains(pids, pid) })), nil
	}
	return target.FilesBelow(e.o.Binary, pids), nil
}

// start starts a run of a file.
func (e *exporter) start(ctx context.Context, file target.File) {
	opened, err := file.Open()
	if err != nil {
		return // it has gone, and there may be another one
	}
	o := *e.o
	o.Binary, o.Funcs = file.Path, slices.Clone(e.o.Funcs)
	o.AllowUnmatched = e.armed
	if e.scope != nil {
		o.Among = e.scope.Has
	}
	f := &exported{File: file, opened: opened}
	if o.Opened, err = file.Open(); err != nil {
		opened.Close()
		return
	}
	f.source = e.counts.Open()
	f.view = view.NewExport(o.View(), f.source)
	if e.Spans {
		f.view.Spans = e.sender.Spans
	}
	e.files[file.Inode] = f
	f.run = o.start(ctx, f.view, e.o.Stderr, func(*beside) {
		// Nobody waits for whoever takes it.
		go func() { e.over <- f }()
	})
	e.o.Ready = 0
}

// ended takes a run that has ended. The first one that has failed is the end of all, unless something was armed, or
// waited for: that may not have been all there yet.
func (e *exporter) ended(f *exported) error {
	<-f.run.ended
	f.run.panicked.Raise()
	canceled := f.run.canceled()
	f.run.cancel()
	f.view.Close()
	f.source.Close()
	f.opened.Close()
	delete(e.files, f.Inode)
	e.armed = e.armed || f.view.Armed()
	err := f.run.err
	switch {
	case err == nil, canceled && hadNotBegun(err):
		return nil
	case !e.begun(), canceled && e.ending:
		return err
	case canceled:
		_, text := cli.ExitStatus(err)
		e.o.Warn(text)
		return nil
	}
	e.counts.Failed()
	if text := e.failed.fail(f.File, f.view.Armed(), err, time.Now()); text != "" {
		e.o.Warn(text)
	}
	return nil
}

// hadNotBegun tells whether that is all that is wrong with a run that was told to end.
func hadNotBegun(err error) bool {
	_, told := errors.AsType[*cli.EndedBy](err)
	return (told || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) && !errors.Is(err, tracefs.ErrRemains)
}

// reload reads lists of functions anew. If one is wrong, the old ones stay.
func (e *exporter) reload() {
	q := e.o.Query
	q.Funcs = slices.Clone(e.words)
	switch err := q.Check(); {
	case err != nil:
		e.o.Warn("the functions stay as they were: " + err.Error())
	case slices.Equal(q.Funcs, e.o.Funcs):
		e.o.Say("the functions are the same as before")
	default:
		e.o.Query = q
		e.counts.ForgetNames()
		clear(e.failed)
		for _, f := range e.files {
			f.run.cancel() // the next look begins anew
		}
	}
}
