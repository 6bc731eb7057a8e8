package session

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// planned is what a command is to do, before anything is done.
type planned struct {
	env    *Env
	opt    *Options
	view   run.View
	target *target.Target
	plan   *uprobe.Plan
	// skipped are functions that a recording was made without.
	skipped []stats.Skipped
	// fs is nil where nothing is to be done.
	fs *tracefs.FS
	// features are what the kernel can do, or what it is to be used for.
	features tracefs.Features
}

// definitionsOf are the lines for uprobe_events, for people to read.
func definitionsOf(events []tracefs.Event, binary string) string {
	var b strings.Builder
	for i := range events {
		for _, l := range events[i].Definitions("ftgo", printable.Text(binary)) {
			b.WriteString(l + "\n")
		}
	}
	return b.String()
}

// planFor decodes what was selected and plans the probes, with what the view wants to be fetched.
func (p *planned) planFor(opt uprobe.Options) (err error) {
	if opt.Values, err = p.view.Values(p.target, p.features); err != nil {
		return err
	}
	var stop func()
	opt.Points = p.target.Sites
	opt.Decoded, stop = p.decoding()
	p.plan, err = uprobe.New(p.target.Binary, p.target.Funcs, opt)
	stop()
	switch {
	case errors.Is(err, uprobe.ErrNoSched):
		return cli.WithStatus(cli.ExitNothing, err)
	case err != nil:
		return err
	case len(p.plan.Funcs) == 0:
		return noneOf(p.plan.Skipped, "can't be probed")
	}
	return nil
}

// decoding counts functions that are decoded, and tells how many while that is going on.
func (p *planned) decoding() (decoded *atomic.Int64, stop func()) {
	decoded = new(atomic.Int64)
	return decoded, p.env.Progress(func() string {
		return fmt.Sprintf("decoding functions: %d of %d", decoded.Load(), len(p.target.Funcs))
	})
}

// noneOf tells why there is nothing to probe.
func noneOf(skipped []uprobe.Skipped, what string) error {
	first, more := skipped[0], ""
	if n := len(skipped) - 1; n > 0 {
		more = fmt.Sprintf("; nor can %d more", n)
	}
	return cli.Nothing("%s: %s: %v%s", first.Func.Name, what, first.Reason, more)
}
