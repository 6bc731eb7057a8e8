package session

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/metrics"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// NewExport returns the command with the defaults of its flags.
func NewExport(env *cli.Env) *Export { return &Export{Options: NewOptions(env)} }

// Define defines the flags that only export has.
func (e *Export) Define(fs *cli.Flags) {
	fs.StringVarP(&e.name, "pid", "p", "", "trace the programs that processes named `NAME` run, instead of BINARY")
	fs.StringVar(&e.listen, "listen", "", "serve metrics for Prometheus at `ADDR`, like :8780")
	fs.StringVar(&e.otlp, "otlp", "", "send metrics to the OpenTelemetry collector at `URL`, like http://localhost:4318")
	fs.BoolVar(&e.spans, "spans", false, "send each call, too, as a span below the one that it is part of")
}

// ReadArgs reads BINARY FUNC..., or only FUNC with -p. With --container or --cgroup, BINARY is a path in the root
// directory of the container's processes. ReadArgs only stores the path, and the run looks it up when such a process
// runs.
func (e *Export) ReadArgs(_ string, words, _ []string) error {
	switch {
	case e.spans && !e.sends():
		return cli.Usage("export: --spans needs --otlp URL: spans are sent to a collector")
	case e.listen == "" && !e.sends():
		return cli.Usage("export: neither --listen ADDR nor --otlp URL is given (see ftgo export -h)")
	case e.name == "" && !e.Limited():
		return e.Target.ReadArgs("export", words, e.From+e.To == "")
	case e.name == "" && (len(words) == 0 || !path.IsAbs(words[0])):
		return cli.Usage("export: %v selects no program: add -p NAME, or the path of BINARY there", e.Scope())
	case e.name == "":
		e.Binary, words = words[0], words[1:]
	case strings.Trim(e.name, "0123456789") == "":
		return cli.Usage("export: -p %s: a process number is valid only until the process ends; give its name, or BINARY", e.name)
	}
	e.Funcs = words
	switch {
	case e.From+e.To != "":
		return e.CheckFuncs("export")
	case len(words) == 0:
		return cli.Usage("export: no FUNC (see ftgo export -h; '*' is all)")
	}
	return nil
}

// Run exports until a signal or -d ends it, whether or not the program runs.
func (e *Export) Run(ctx context.Context) (err error) {
	e.Errors, e.Successors = true, true
	e.Interval = cmp.Or(e.Interval, defaultInterval)
	e.words = slices.Clone(e.Funcs)
	if err := e.Check(); err != nil {
		return err
	}
	// A wrong configuration ends the command before any probe is placed.
	var collector *metrics.Config
	if e.sends() {
		if collector, err = metrics.Configure(e.otlp, os.Getenv); err != nil {
			return cli.Usage("export: %w", err)
		}
		for _, w := range collector.Warnings {
			e.Warn(w)
		}
	}
	var listener net.Listener
	if e.listen != "" {
		listener, err = metrics.Listen(e.listen)
		if _, wrong := errors.AsType[*net.AddrError](err); wrong {
			return cli.Usage("export: --listen %q: %w", e.listen, err)
		} else if err != nil {
			return err
		}
		defer listener.Close()
	}
	if err := e.openTracefs(); err != nil {
		return err
	}
	host, _ := os.Hostname() // "" on an error
	about := metrics.About{
		Release: e.Release, Host: host, Kernel: tracefs.ThisMachine().Release, Service: cmp.Or(e.name, filepath.Base(e.Binary)),
	}
	e.counts = metrics.NewAggregator(about, time.Now())
	e.probed, e.failed, e.ended = make(map[procfs.Inode]*exportedFile), make(failures), make(chan *exportedFile)
	if e.Limited() {
		e.scope.LiveScope = target.NewLiveScope(&e.Processes)
	}
	var sendInterval time.Duration
	if collector != nil {
		e.sender, sendInterval = metrics.Start(collector, about), collector.Every
	}
	defer e.finish()
	if listener != nil {
		defer metrics.Serve(listener, metrics.NewHandler(e.snapshot)).Close()
		e.Say("serving metrics at http://%s/metrics", listener.Addr())
	}
	if e.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, e.Duration)
		defer cancel()
		e.Duration = 0 // only the context ends the runs
	}
	return e.loop(ctx, sendInterval)
}

// sends reports whether export sends by OTLP. With --otlp, it sends. Without --otlp, it sends if an environment variable
// sets an endpoint. But if --listen is given without --otlp and --spans, the environment has no effect.
func (e *Export) sends() bool {
	return e.otlp != "" || (e.listen == "" || e.spans) && metrics.Configured(os.Getenv)
}

// defaultInterval is the time between readings of the counters. A scrape returns the last reading, so that a rate
// over a minute is off by half a percent at most.
const defaultInterval = 250 * time.Millisecond

// warnNews prints the sender's warnings.
func (e *Export) warnNews() {
	for _, text := range e.sender.Messages() {
		e.Warn(text)
	}
}

// closeTimeout limits the wait for the collector at the end.
const closeTimeout = 5 * time.Second

// finish sends a last snapshot and all queued items, if export has started.
func (e *Export) finish() {
	if e.sender == nil || !e.started() {
		return
	}
	defer e.Progress("sending queued items")()
	e.sender.Metrics(e.snapshot())
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	e.sender.Close(ctx)
	e.warnNews()
}
