package session

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/metrics"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/tracefs"
)

// ExportFlags are the flags that only export has.
type ExportFlags struct {
	Listen string
	OTLP   string // the URL of a collector
	Spans  bool   // also send calls
	Name   string // trace the files that processes of this name run
}

// Define defines the flags that only export has.
func (x *ExportFlags) Define(fs *cli.Flags) {
	fs.StringVarP(&x.Name, "pid", "p", "", "trace the programs that processes named `NAME` run, instead of BINARY")
	fs.StringVar(&x.Listen, "listen", "", "serve metrics for Prometheus at `ADDR`, like :8780")
	fs.StringVar(&x.OTLP, "otlp", "", "send metrics to the OpenTelemetry collector at `URL`, like http://localhost:4318")
	fs.BoolVar(&x.Spans, "spans", false, "send each call, too, as a span below the one that it is part of")
}

// ReadArgs reads BINARY FUNC..., or only FUNC with -p. With --container or --cgroup, BINARY is a path in the root
// directory of the container's processes. ReadArgs only stores the path, and the run looks it up when such a process
// runs.
func (x *ExportFlags) ReadArgs(o *Options, words []string) error {
	switch {
	case x.Spans && !x.sends():
		return cli.Usage("export: --spans needs --otlp URL: spans are sent to a collector")
	case x.Listen == "" && !x.sends():
		return cli.Usage("export: neither --listen ADDR nor --otlp URL is given (see ftgo export -h)")
	}
	scope := &o.Target.Scope
	if x.Name == "" && !scope.Limited() {
		return o.Target.ReadArgs("export", words, true)
	}
	if x.Name == "" {
		if len(words) == 0 || !path.IsAbs(words[0]) {
			return cli.Usage("export: %v selects no program: add -p NAME, or the path of BINARY there", scope)
		}
		o.Binary, words = words[0], words[1:]
	}
	if x.Name != "" && strings.Trim(x.Name, "0123456789") == "" {
		return cli.Usage("export: -p %s: a process number is valid only until the process ends; give its name, or BINARY", x.Name)
	}
	if o.Funcs = words; len(words) == 0 {
		return cli.Usage("export: no FUNC (see ftgo export -h; '*' is all)")
	}
	return nil
}

// Export is the command export. It runs until a signal or -d ends it, whether or not the program runs.
func (o *Options) Export(ctx context.Context, x *ExportFlags) (err error) {
	o.Errors, o.Successors = true, true
	o.Interval = cmp.Or(o.Interval, defaultInterval)
	words := slices.Clone(o.Funcs)
	if err := o.Check(); err != nil {
		return err
	}
	collector, err := x.configure(o)
	if err != nil {
		return err
	}
	server, err := x.listen()
	if err != nil {
		return err
	}
	if server != nil {
		defer func() { err = errors.Join(err, server.Close()) }()
	}
	o.Env.Stderr = &lockedWriter{w: o.Env.Stderr}
	if err := o.openTracefs(); err != nil {
		return err
	}
	e := &exporter{
		o: o, ExportFlags: x, words: words, counts: metrics.NewAggregator(o.about(x), time.Now()),
		files: make(map[procfs.Inode]*exportedFile), failed: make(failures), ended: make(chan *exportedFile),
	}
	if o.Target.Scope.Limited() {
		e.scope = target.NewLiveScope(&o.Target.Scope)
	}
	if collector != nil {
		e.sender, e.sendInterval = metrics.Start(collector, o.about(x)), collector.Every
	}
	defer e.finish()
	if server != nil {
		server.Serve(metrics.NewHandler(e.snapshot))
		o.Say("serving metrics at http://%s/metrics", server.Address())
	}
	if o.Duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.Duration)
		defer cancel()
		o.Duration = 0 // only the context ends the runs
	}
	return e.loop(ctx)
}

// listen opens the server of --listen; nil without that flag.
func (x *ExportFlags) listen() (*metrics.Server, error) {
	if x.Listen == "" {
		return nil, nil
	}
	server, err := metrics.Listen(x.Listen)
	if _, wrong := errors.AsType[*net.AddrError](err); wrong {
		return nil, cli.Usage("export: --listen %q: %w", x.Listen, err)
	}
	return server, err
}

// defaultInterval is the time between readings of the counters. A scrape returns the last reading, so that a rate
// over a minute is off by half a percent at most.
const defaultInterval = 250 * time.Millisecond

func (o *Options) about(x *ExportFlags) metrics.About {
	host, _ := os.Hostname() // "" on an error
	return metrics.About{
		Release: o.Release, Host: host, Kernel: tracefs.This().Release, Service: cmp.Or(x.Name, filepath.Base(o.Binary)),
	}
}

// lockedWriter serializes the writes of several runs.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.w.Write(b)
}
