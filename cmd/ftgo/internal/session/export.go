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
	"github.com/ftgo/ftgo/internal/machine"
	"github.com/ftgo/ftgo/internal/metrics"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/target"
)

// ExportFlags are what export is told beside what runs are.
type ExportFlags struct {
	Listen string
	OTLP   string // a collector's URL
	Spans  bool   // calls are sent to it, too
	Name   string // of processes, whose files are meant
}

// Define defines the flags.
func (x *ExportFlags) Define(fs *cli.Flags) {
	fs.StringVarP(&x.Name, "pid", "p", "", "trace the programs that processes named `NAME` run, instead of BINARY")
	fs.StringVar(&x.Listen, "listen", "", "serve metrics for Prometheus at `ADDR`, like :8780")
	fs.StringVar(&x.OTLP, "otlp", "", "send metrics to the OpenTelemetry collector at `URL`, like http://localhost:4318")
	fs.BoolVar(&x.Spans, "spans", false, "send each call, too, as a span below the one that it is part of")
}

// Words reads BINARY FUNC..., or with -p just FUNC. Where BINARY is one of a container, it is looked up there when there is one.
func (x *ExportFlags) Words(o *Options, words []string) error {
	switch {
	case x.Spans && !x.sends():
		return cli.Usage("export: --spans needs --otlp URL: spans are sent to a collector")
	case x.Listen == "" && !x.sends():
		return cli.Usage("export: neither --listen ADDR nor --otlp URL says where the numbers go (see ftgo export -h)")
	}
	scope := &o.Target.Scope
	if x.Name == "" && !scope.Limited() {
		return o.Target.Words("export", words, true)
	}
	if x.Name == "" {
		if len(words) == 0 || !path.IsAbs(words[0]) {
			return cli.Usage("export: %v says where, and not what: name the program by -p NAME, or by its path there", scope)
		}
		o.Binary, words = words[0], words[1:]
	}
	if x.Name != "" && strings.Trim(x.Name, "0123456789") == "" {
		return cli.Usage("export: -p %s: a process's number is gone with it; say what it is called, or which BINARY it runs", x.Name)
	}
	if o.Funcs = words; len(words) == 0 {
		return cli.Usage("export: no FUNC (see ftgo export -h; '*' is all)")
	}
	return nil
}

// Export is the command export: it goes on until it is told to end, whatever becomes of the program.
func (o *Options) Export(ctx context.Context, x *ExportFlags) (err error) {
	o.Errors, o.Succeeded = true, true
	o.Interval = cmp.Or(o.Interval, usualReading)
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
	o.Env.Stderr = &inTurn{to: o.Env.Stderr}
	if err := o.openTracefs(); err != nil {
		return err
	}
	e := &exporter{
		o: o, ExportFlags: x, scope: o.living(), words: words, counts: metrics.NewAggregator(o.about(x), time.Now()),
		files: make(map[procfs.Inode]*exported), failed: make(failures), over: make(chan *exported),
	}
	if collector != nil {
		e.sender, e.every = metrics.Start(collector, o.about(x)), collector.Every
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
		o.Duration = 0 // runs end when all does
	}
	return e.follow(ctx)
}

// listen takes the place where numbers are served; nil for none.
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

// living is the scope of --container or --cgroup; nil is everything.
func (o *Options) living() *target.LiveScope {
	if !o.Target.Scope.Limited() {
		return nil
	}
	return target.NewLiveScope(&o.Target.Scope)
}

// usualReading is how often numbers are read. As scrapes get the last ones, a rate over a minute is off by half a
// percent at most.
const usualReading = 250 * time.Millisecond

func (o *Options) about(x *ExportFlags) metrics.About {
	host, _ := os.Hostname() // "" if it has none
	return metrics.About{
		Release: o.Release, Host: host, Kernel: machine.This().Release, Service: cmp.Or(x.Name, filepath.Base(o.Binary)),
	}
}

// inTurn lets several runs write lines, one after the other.
type inTurn struct {
	mu sync.Mutex
	to io.Writer
}

func (w *inTurn) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(b)
}
