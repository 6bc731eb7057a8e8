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

// Export is the command export. It keeps a run for each file of the program: for the file that new processes execute, and
// for replaced files that older processes still execute.
type Export struct {
	*Options
	listen string // the flags that only export has
	otlp   string // the URL of a collector
	spans  bool   // also send calls
	name   string // trace the files that processes of this name run

	scope    exportScope
	words    []string // the FUNC arguments as the user gave them: @FILE still stands for a list
	counts   *metrics.Aggregator
	sender   *metrics.Exporter // sends by OTLP; nil if export sends nothing
	probed   map[procfs.Inode]*exportedFile
	failed   failures
	ended    chan *exportedFile
	armed    bool // a run has armed its probes
	waiting  bool // ftgo has said that it waits, because the program had no file
	lastWalk time.Time
}

// exportScope is the scope of --container or --cgroup.
type exportScope struct {
	*target.LiveScope        // nil means all processes
	lookErr           string // the last warning of Look; the same warning is not printed again
	saidMissed        bool   // the warning about processes that ended too early was printed
}

// started reports whether a run has armed its probes, or ftgo has said that it waits for the program. From then on, an
// error of a run does not end the command. Before, an error may come from wrong arguments, and ends the command.
func (e *Export) started() bool { return e.armed || e.waiting }

// snapshot returns the current numbers.
func (e *Export) snapshot() *metrics.Snapshot {
	s := e.counts.Snapshot()
	s.Run.OwnCPU = trace.OwnCPU()
	if e.sender != nil {
		s.Sent = e.sender.Counts()
	}
	return s
}

type exportedFile struct {
	target.File
	opened *os.File
	view   *view.Export
	source *metrics.Source
	run    *backgroundRun
}

// link returns a path that opens this file, even if its name refers to another file by now.
func (f *exportedFile) link() string { return fmt.Sprintf("/proc/self/fd/%d", f.opened.Fd()) }

const (
	pollInterval = 100 * time.Millisecond // between checks of the path of BINARY
	walkInterval = 500 * time.Millisecond // between walks over all processes
)

// loop starts and ends runs until ctx is done, or until an error ends the command. Then it removes all probes. It sends a
// snapshot each sendInterval, if there is a sender.
func (e *Export) loop(ctx context.Context, sendInterval time.Duration) (err error) {
	// From now on, ftgo reads the lists of functions again at each SIGHUP. Until now, SIGHUP ended ftgo, because no probe
	// was armed.
	reload := make(chan os.Signal, 1)
	signal.Notify(reload, syscall.SIGHUP)
	cli.RestoreHangup()
	defer signal.Stop(reload)
	runs, cancel := context.WithCancel(ctx)
	defer func() {
		cancel()
		for len(e.probed) > 0 {
			err = errors.Join(err, e.finishRun(<-e.ended, true))
		}
	}()
	var lastSent time.Time
	for poll := time.Tick(pollInterval); ; {
		if err := e.update(runs); err != nil {
			return err
		}
		if e.sender != nil && e.started() {
			if now := time.Now(); now.Sub(lastSent) >= sendInterval {
				lastSent = now
				e.sender.Metrics(e.snapshot())
			}
			e.warnNews()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-reload:
			e.reload()
		case f := <-e.ended:
			if err := e.finishRun(f, false); err != nil {
				return err
			}
		case <-poll:
		}
	}
}

// update starts runs of the current files of the program. It ends runs of replaced files that no process executes any
// more. It looks at all processes every walkInterval. In between, it only checks whether the path of BINARY refers to a
// new file. With -p, --container or --cgroup, it does nothing in between.
func (e *Export) update(ctx context.Context) error {
	walk := time.Since(e.lastWalk) >= walkInterval
	var all procfs.Programs // the result of one walk, which serves all questions about processes
	if walk {
		e.lastWalk, all = time.Now(), procfs.RunningPrograms()
	} else if e.name != "" || e.scope.LiveScope != nil {
		return nil
	}
	current, err := e.currentFiles(all)
	if err != nil {
		return err
	}
	e.updateInodes()
	if len(current) == 0 && len(e.probed) == 0 && !e.waiting {
		e.waiting = true
		name := cmp.Or(e.name, e.Binary)
		if e.scope.LiveScope != nil {
			name += " in " + e.scope.Scope()
		}
		e.Say("waiting for %s", name)
	}
	ready := len(current) > 0
	for _, f := range current {
		if e.probed[f.Inode] == nil && e.failed.due(f, time.Now()) {
			e.start(ctx, f)
		}
		ready = ready && e.probed[f.Inode] != nil && e.probed[f.Inode].view.Armed()
	}
	for inode, f := range e.probed {
		e.armed = e.armed || f.view.Armed()
		if !walk {
			continue
		}
		running := all.Running(f.link())
		if e.scope.LiveScope != nil {
			running = slices.DeleteFunc(running, func(pid int) bool { return !e.scope.Has(pid) })
		}
		f.source.SetPIDs(running)
		// A replaced file is probed until its last process has ended and the probes of the new file are armed.
		if ready && len(running) == 0 && !slices.ContainsFunc(current, func(w target.File) bool { return w.Inode == inode }) {
			f.run.cancel()
		}
	}
	if e.scope.LiveScope != nil && e.scope.Missed() && !e.scope.saidMissed {
		e.scope.saidMissed = true
		e.Warn("a process ended before ftgo knew whether it was in " + e.scope.Scope() + ": calls of such processes are not counted")
	}
	return nil
}

// updateInodes compares the present inode of each probed file with the file's key in e.probed, and corrects the key.
// A file of overlayfs gets another inode when its name or mode changes. Under the old key, update would take the file
// for a second one, and its calls would count twice.
//
// Call updateInodes after currentFiles. If the inode changes between the two calls, update looks for the old inode,
// finds no run, and tries to start a second one. But [target.File.Open] refuses a file whose inode has changed, and the
// next update finds the run under the new inode.
func (e *Export) updateInodes() {
	for inode, f := range maps.Clone(e.probed) {
		if now, err := procfs.OpenInode(f.opened); err == nil && now != inode {
			delete(e.probed, inode)
			f.Inode = now
			e.probed[now] = f
		}
	}
}

// currentFiles returns the files that new processes of the program execute. It may fail to find the processes of
// --container or --cgroup, for example because the name fits several containers. Before export has started, it then
// returns the error. Later, it prints the error as a warning.
func (e *Export) currentFiles(all procfs.Programs) ([]target.File, error) {
	pids, among := []int(nil), func(int) bool { return true }
	if e.scope.LiveScope != nil {
		var err error
		pids, err = e.scope.Look(e.Say)
		switch text := fmt.Sprint(err); {
		case err == nil:
			e.scope.lookErr = ""
		case !e.started():
			return nil, err
		case text != e.scope.lookErr:
			e.scope.lookErr = text
			e.Warn(text)
		}
		among = func(pid int) bool { return slices.Contains(pids, pid) }
	}
	switch {
	case e.name != "":
		return target.FilesOf(all.Named(e.name, among)), nil
	case e.scope.LiveScope != nil:
		return target.FilesBelow(e.Binary, pids), nil
	}
	return target.FilesNamed(e.Binary), nil
}

func (e *Export) start(ctx context.Context, file target.File) {
	opened, err := file.Open()
	if err != nil {
		return // the file was removed or replaced; the next update looks again
	}
	o := *e.Options
	o.Binary, o.Funcs = file.Path, slices.Clone(e.Funcs)
	o.AllowUnmatched = e.armed
	if e.scope.LiveScope != nil {
		o.Among = e.scope.Has
	}
	f := &exportedFile{File: file, opened: opened}
	if o.Opened, err = file.Open(); err != nil {
		opened.Close()
		return
	}
	f.source = e.counts.Open()
	f.view = view.NewExport(o.View(), f.source)
	if e.spans {
		f.view.Spans = e.sender.Spans
	}
	e.probed[file.Inode] = f
	f.run = o.startInBackground(ctx, f.view, e.Stderr, func(*backgroundRun) {
		// loop receives f, but may be busy for long. The send has its own goroutine, so that the run need not wait for loop.
		go func() { e.ended <- f }()
	})
	e.Ready = 0 // only the first run writes "ready"
}

// finishRun releases a run that has ended, and handles the run's error. ending says that loop ends all runs:
//   - If the run was canceled before its probes were armed, finishRun ignores the error of the cancellation.
//   - If export has not started, finishRun returns the error, which ends the command.
//   - If the run was canceled because loop ends all runs, finishRun returns the error.
//   - If the run was canceled because a file or the functions were replaced, finishRun prints a warning.
//   - If the run failed without being canceled, the file may have been incomplete. A later update tries it again.
func (e *Export) finishRun(f *exportedFile, ending bool) error {
	<-f.run.done
	f.run.panicked.Raise()
	canceled := f.run.canceled()
	f.run.cancel()
	f.view.Close()
	f.source.Close()
	f.opened.Close()
	delete(e.probed, f.Inode)
	e.armed = e.armed || f.view.Armed()
	err := f.run.err
	switch {
	case err == nil, canceled && endedEarly(err):
		return nil
	case !e.started(), canceled && ending:
		return err
	case canceled:
		_, text := cli.ExitStatus(err)
		e.Warn(text)
		return nil
	}
	e.counts.Failed()
	if text := e.failed.fail(f.File, err, time.Now()); text != "" {
		e.Warn(text)
	}
	return nil
}

// endedEarly reports whether err only says that the run was canceled before its probes were armed.
func endedEarly(err error) bool {
	return (errors.Is(err, cli.ErrSignaled) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) && !errors.Is(err, tracefs.ErrRemains)
}

// reload reads the lists of functions again. If a list is wrong, export keeps the old functions. If the functions
// differ, reload restarts all runs.
func (e *Export) reload() {
	q := e.Query
	q.Funcs = slices.Clone(e.words)
	switch err := q.Check(); {
	case err != nil:
		e.Warn("the functions stay as they were: " + err.Error())
	case slices.Equal(q.Funcs, e.Funcs):
		e.Say("the functions are the same as before")
	default:
		e.Query = q
		clear(e.failed)
		for _, f := range e.probed {
			f.run.cancel() // a later update starts a run with the new functions
		}
	}
}

// failures maps the inode of a file to the failure of its run, and decides when to try the file again.
type failures map[procfs.Inode]*failure

// failure is the state of a file after its run has failed.
type failure struct {
	version  target.File // the file as it was when its run failed
	retry    time.Time   // when to try the file again
	text     string      // the last error
	reported string      // the last error that fail returned for reporting
}

const (
	retryPause  = 5 * time.Second
	maxFailures = 100 // more are forgotten
	never       = 1 << 62
)

// due reports whether to start a run of a file now: unless a run of the unchanged file has just failed.
func (all failures) due(f target.File, now time.Time) bool {
	failed := all[f.Inode]
	return failed == nil || failed.version != f || !now.Before(failed.retry)
}

// fail notes that a run of a file has failed. It returns the text to report, or "". An error that only another file can fix
// is reported at once, and the file is not tried again until it changes. Other errors are reported once, when they come
// twice in a row: at first a linker may still be writing the file.
func (all failures) fail(f target.File, err error, now time.Time) string {
	failed := all[f.Inode]
	if failed == nil || failed.version != f {
		if len(all) >= maxFailures {
			clear(all)
		}
		failed = &failure{}
		all[f.Inode] = failed
	}
	_, text := cli.ExitStatus(err)
	again := text == failed.text
	failed.version, failed.retry, failed.text = f, now.Add(retryPause), text
	if errors.Is(err, target.ErrNothing) || errors.Is(err, target.ErrUsage) {
		failed.retry, again = now.Add(never), true
	}
	if !again || text == failed.reported {
		return ""
	}
	failed.reported = text
	return text
}
