package session

import (
	"fmt"
	"strings"
	"sync/atomic"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/run"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/target"
	"github.com/ftgo/ftgo/tracefs"
	"github.com/ftgo/ftgo/tracefs/uprobe"
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

// planFor decodes what was selected and plans the probes, with what opt has of its own.
func planFor(e *Env, s *target.Target, opt uprobe.Options) (*uprobe.Plan, error) {
	var decoded atomic.Int64
	stop := e.Progress(func() string {
		return fmt.Sprintf("decoding functions: %d of %d", decoded.Load(), len(s.Funcs))
	})
	opt.Points, opt.Decoded = s.Sites, &decoded
	plan, err := uprobe.New(s.Binary, s.Funcs, opt)
	stop()
	if err != nil {
		return nil, schedStatus(err)
	}
	if len(plan.Funcs) == 0 {
		first := plan.Skipped[0]
		return nil, cli.Nothing("%s: can't be probed: %v%s", first.Func.Name, first.Reason, andMore(len(plan.Skipped)-1))
	}
	return plan, nil
}

func andMore(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf("; nor can %d more", n)
}

// sayStack tells where stacks end early.
func sayStack(e *Env, o *Options, plan *uprobe.Plan) {
	if v, isGo := plan.Binary.GoVersion(); isGo && plan.Stack < o.Stack {
		e.Say("%s keeps no frame pointers: of each stack only the caller is known", v)
	}
}
