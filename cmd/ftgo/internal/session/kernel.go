package session

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/internal/doctor"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
)

// openTracefs finds or mounts tracefs, drops privileges, and removes leftovers of killed runs.
func (o *Options) openTracefs() error {
	f, unmount, err := tracefs.Mount()
	if err != nil {
		return cli.WithStatus(cli.ExitKernel, err)
	}
	if unmount != nil {
		o.Say("mounted tracefs at %s", f.Dir())
	}
	o.SetTracefs(f)
	if o.DropPrivileges != nil && len(o.Program) == 0 { // PROGRAM inherits all privileges
		// On an error, the run goes on with all privileges. DropPrivileges returns ErrUnsupported in builds with cgo,
		// which needs no message.
		if err := o.DropPrivileges(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			o.Say("drop privileges that no run needs: %v", err)
		}
	}
	// Leftovers that can't be removed do not prevent a run.
	removed, err := f.Sweep()
	for _, l := range removed {
		o.Say("removed leftovers of process %d: %d probe events", l.PID, l.Events)
	}
	if err != nil && !errors.Is(err, fs.ErrPermission) { // without permission, the run itself fails and says why
		o.Say("%v", err)
	}
	return nil
}

// checkProcesses refuses processes that do not exist. In a pid namespace, processes have other numbers than in the
// kernel's events. There, checkProcesses refuses every flag that needs the kernel's numbers of processes or threads. With
// --dry-run, only -p needs them, because ftgo does not trace.
func (o *Options) checkProcesses() error {
	flag := ""
	switch {
	case len(o.PIDs) > 0:
		flag = fmt.Sprint("-p ", o.PIDs[0])
	case o.DryRun:
	case o.Fork:
		flag = "--fork"
	case len(o.With) > 0:
		flag = "--with"
	case o.Sched:
		flag = "--sched"
	case o.Waits:
		flag = "--waits"
	}
	if flag != "" && procfs.ForeignNumbers() {
		found := doctor.ProcessNumbers()
		return cli.WithStatus(cli.ExitKernel, fmt.Errorf("%s: pid namespace: %s (%s)", flag, found.Text, found.Fix))
	}
	return o.CheckProcesses()
}

// checkKernel returns an error if the kernel can't do the run at all. If the kernel can do the run, but only with risks,
// and --force is not given, checkKernel returns an error that names all the risks. before40 says that the kernel is older
// than 4.0.
func (r *run) checkKernel(before40 bool) error {
	mode := r.request.Probes.Mode
	// ftgo pairs calls of Go functions by goroutine, which it finds in memory, and calls of C functions by thread.
	byGoroutine := func(f *offsets.Func) bool { return f.ABI != offsets.SystemV }
	if !r.request.Probes.Features.Memory && (r.needs.Memory || r.Stack != 0 || mode == uprobe.Latency && slices.ContainsFunc(r.request.Target.Funcs, byGoroutine)) {
		return cli.WithStatus(cli.ExitKernel, errors.New(
			"this kernel fetches registers alone, no memory (Linux before 3.14): ftgo count counts calls, and ftgo trace --entries shows their beginnings"))
	}
	if !r.request.Probes.Features.Instances && len(r.With) > 0 {
		return cli.WithStatus(cli.ExitKernel, errors.New("--with: this kernel records no events in instances (Linux before 3.14)"))
	}
	var risks []string
	if before40 {
		risks = append(risks, "uprobes of kernels before 4.0 can hang the traced program")
	}
	if !r.request.Probes.Features.Instances {
		risks = append(risks, "this kernel records uprobes only at the top level of tracefs (Linux before 3.14), which all tools share: ftgo empties its buffer and changes its settings during the run")
	}
	if len(risks) > 0 && !r.Force {
		return cli.WithStatus(cli.ExitKernel, fmt.Errorf("%s; --force goes on", strings.Join(risks, ", and ")))
	}
	if !r.request.Probes.Features.Memory && mode == uprobe.Entries {
		r.Say("this kernel fetches registers alone, no memory: goroutines, and the values behind pointers and strings, are not shown")
	}
	return nil
}

func (r *run) kernelEvents() ([]string, error) {
	if len(r.With) == 0 {
		return nil, nil
	}
	names, err := r.FS.KernelEvents(r.With)
	if err != nil && !errors.Is(err, tracefs.ErrNotSupported) && !cli.KernelRefused(err) {
		return nil, cli.WithStatus(cli.ExitUsage, err)
	}
	return names, err
}

const (
	// maxRemoval is the longest time that the removal of all probes may take without --force. It is the time for 250
	// probes, or for 2500 with expedited grace periods.
	maxRemoval = 8 * time.Second
	// slowRemoval is the time to remove a probe that is an event of its own. Meanwhile the kernel waits for a grace
	// period. fastRemoval is the same time with expedited grace periods. Both include other work of the kernel.
	slowRemoval = 32 * time.Millisecond
	fastRemoval = 3200 * time.Microsecond
)

// checkProbes refuses probes that would take longer than maxRemoval to remove, unless --force is given. If the removal takes
// more than a second, it prints the time. If several probes can share an event, few events mean few waits. fsys is nil if
// the probes are for another kernel.
func (o *Options) checkProbes(probes int, features tracefs.Features, fsys *tracefs.FS) error {
	if o.DryRun || features.Append {
		return nil
	}
	each := slowRemoval
	if fsys != nil && fsys.CanExpedite() {
		each = fastRemoval
	}
	takes := time.Duration(probes) * each
	text := fmt.Sprintf("%d probes, each an event of its own on this kernel (Linux before 5.4), take %v to remove", probes, takes.Round(time.Second))
	switch {
	case takes > maxRemoval && !o.Force:
		return cli.Usage("%s: name fewer functions; --force goes on", text)
	case takes > time.Second:
		o.Say("%s", text)
	}
	return nil
}

// If wildcards match more than manyFuncs functions, and the run has no budget by default, it gets a budget of manyBudget
// percent. In any program, a few of 500 functions are hot.
const manyFuncs, manyBudget = 500, 50

// limitMany sets the budget of manyBudget percent if the run needs it.
func (r *run) limitMany(mode uprobe.Mode) {
	wild := 0
	for _, fn := range r.request.Target.Funcs {
		if !r.request.Target.Roles[fn].Named {
			wild++
		}
	}
	if r.Budget == nil && r.budgetShare() == 0 && mode != uprobe.Count && wild > manyFuncs && r.request.Probes.Features.Append {
		r.Budget = new(float64(manyBudget))
		r.Say("probes of %s may take %d%% of the program's CPU time (--budget 0 sets no limit)", printable.Plural(wild, "function"), manyBudget)
	}
}
