package session

import (
	"fmt"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/internal/procfs"
)

// checkProcesses refuses processes that are not there, or whose numbers are not the kernel's.
func checkProcesses(o *Options) error {
	if flag := o.numbered(); flag != "" && procfs.ForeignNumbers() {
		found := doctor.ProcessNumbers()
		return cli.WithStatus(cli.ExitKernel, fmt.Errorf("%s: pid namespace: %s (%s)", flag, found.Text, found.Fix))
	}
	return o.CheckProcesses()
}

// numbered is a flag that takes processes, or threads, to have the kernel's numbers, if there
// is one.
func (o *Options) numbered() string {
	switch {
	case len(o.PIDs) > 0:
		return fmt.Sprint("-p ", o.PIDs[0])
	case o.DryRun:
		return ""
	case o.Fork:
		return "--fork"
	case o.Comm != "":
		return "--comm"
	case len(o.With) > 0:
		return "--with"
	case o.Sched:
		return "--sched"
	case o.InKernel:
		return "--in-kernel"
	}
	return ""
}
