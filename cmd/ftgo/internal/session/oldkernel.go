package session

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// errNoMemory is for what old kernels can't do at all.
var errNoMemory = errors.New("this kernel fetches registers alone, no memory (Linux before 3.14): calls can be counted (ftgo count), and shown as they begin (ftgo trace --entries)")

// What takes consent.
const (
	riskHang   = "uprobes of kernels before 4.0 can hang the traced program"
	riskShared = "this kernel records uprobes at the top level of tracefs alone (Linux before 3.14), which everybody shares, and whose buffer is emptied and settings are changed for the time"
)

// kernelAllows refuses what the kernel can't do at all, and then, at once, all that takes
// consent. before40: it is older than 4.0.
func (t *planned) kernelAllows(mode uprobe.Mode, before40 bool) error {
	if !t.features.Memory && (t.view.Needs().Memory || mode == uprobe.Latency && t.needsGoroutines()) {
		return cli.WithStatus(cli.ExitKernel, errNoMemory)
	}
	if !t.features.Memory && t.opt.Stack != 0 {
		return cli.WithStatus(cli.ExitKernel, errNoMemory)
	}
	if !t.features.Instances && len(t.opt.With) > 0 {
		return cli.WithStatus(cli.ExitKernel, errors.New("--with: kernel events are recorded in instances alone, which this kernel leaves empty (Linux before 3.14)"))
	}
	var risks []string
	if before40 {
		risks = append(risks, riskHang)
	}
	if !t.features.Instances {
		risks = append(risks, riskShared)
	}
	if len(risks) > 0 && !t.opt.Force {
		return cli.WithStatus(cli.ExitKernel, fmt.Errorf("%s; --force goes on", strings.Join(risks, ", and ")))
	}
	if !t.features.Memory && mode == uprobe.Entries {
		t.env.Say("this kernel fetches registers alone, no memory: neither goroutines nor what pointers and strings lead to are shown")
	}
	return nil
}

// needsGoroutines tells whether calls can't be told apart by thread.
func (t *planned) needsGoroutines() bool {
	for _, f := range t.target.Funcs {
		if f.ABI != offsets.SystemV {
			return true
		}
	}
	return false
}
