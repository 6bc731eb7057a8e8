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

// openTracefs finds tracefs, mounts it where it is not, and removes what killed runs
// of ftgo have left.
func (o *Options) openTracefs() error {
	f, unmount, err := tracefs.Mount()
	if err != nil {
		return cli.WithStatus(cli.ExitKernel, err)
	}
	if unmount != nil {
		o.Say("mounted tracefs at %s", f.Dir())
	}
	o.Use(f)
	if o.Lower != nil && len(o.Program) == 0 { // which is started with what ftgo was started with
		// A run with more privileges does the same. A build with cgo can't drop any, which its maker knows.
		if err := o.Lower(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
			o.Say("keeps privileges that no run needs: %v", err)
		}
	}
	// Leftovers of dead runs. That they can't be removed is no reason not to trace.
	gone, err := f.Sweep()
	for _, l := range gone {
		o.Say("removed what process %d had left: %d probe events", l.PID, l.Events)
	}
	if err != nil && !errors.Is(err, fs.ErrPermission) { // who may not do that may do nothing
		o.Say("%v", err)
	}
	return nil
}

// checkProcesses refuses processes that are not there, or whose numbers are not the kernel's.
func (o *Options) checkProcesses() error {
	if flag := o.numbered(); flag != "" && procfs.ForeignNumbers() {
		found := doctor.ProcessNumbers()
		return cli.WithStatus(cli.ExitKernel, fmt.Errorf("%s: pid namespace: %s (%s)", flag, found.Text, found.Fix))
	}
	return o.CheckProcesses()
}

// numbered is a flag that takes processes, or threads, to have the kernel's numbers, if there
// is one.
func (o *Options) numbered() string {
	if len(o.PIDs) > 0 {
		return fmt.Sprint("-p ", o.PIDs[0])
	}
	for _, flag := range []struct {
		given bool
		name  string
	}{{o.Fork, "--fork"}, {len(o.With) > 0, "--with"}, {o.Sched, "--sched"}, {o.Waits, "--waits"}} {
		if flag.given && !o.DryRun {
			return flag.name
		}
	}
	return ""
}

// kernelAllows refuses what the kernel can't do at all, and then, at once, all that takes
// consent. before40: it is older than 4.0.
func (r *run) kernelAllows(before40 bool) error {
	mode := r.request.Probes.Mode
	byGoroutine := func(f *offsets.Func) bool { return f.ABI != offsets.SystemV } // else calls are told apart by thread
	if !r.request.Probes.Features.Memory && (r.needs.Memory || r.Stack != 0 || mode == uprobe.Latency && slices.ContainsFunc(r.request.Target.Funcs, byGoroutine)) {
		return cli.WithStatus(cli.ExitKernel, errors.New(
			"this kernel fetches registers alone, no memory (Linux before 3.14): calls can be counted (ftgo count), and shown as they begin (ftgo trace --entries)"))
	}
	if !r.request.Probes.Features.Instances && len(r.With) > 0 {
		return cli.WithStatus(cli.ExitKernel, errors.New("--with: kernel events are recorded in instances alone, which this kernel leaves empty (Linux before 3.14)"))
	}
	var risks []string
	if before40 {
		risks = append(risks, "uprobes of kernels before 4.0 can hang the traced program")
	}
	if !r.request.Probes.Features.Instances {
		risks = append(risks, "this kernel records uprobes at the top level of tracefs alone (Linux before 3.14), which everybody shares, and whose buffer is emptied and settings are changed for the time")
	}
	if len(risks) > 0 && !r.Force {
		return cli.WithStatus(cli.ExitKernel, fmt.Errorf("%s; --force goes on", strings.Join(risks, ", and ")))
	}
	if !r.request.Probes.Features.Memory && mode == uprobe.Entries {
		r.Say("this kernel fetches registers alone, no memory: neither goroutines nor what pointers and strings lead to are shown")
	}
	return nil
}

// kernelEvents looks up what --with names.
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
	// longRemoval is how long probes may take to go that are placed without being asked: 250 of
	// them, or 2500 where that is expedited.
	longRemoval = 8 * time.Second
	// disarming is how long a probe takes that is an event of its own, for a grace period of the
	// kernel, and expedited where that is cut short: what is left is the definition and all the rest.
	disarming = 32 * time.Millisecond
	expedited = 3200 * time.Microsecond
)

// pace is how long a probe takes to go, 0 where places of one kind share an event.
func pace(features tracefs.Features, fsys *tracefs.FS) time.Duration {
	switch {
	case features.Append:
		return 0
	case fsys != nil && fsys.CanExpedite():
		return expedited
	}
	return disarming
}

// checkProbes refuses probes that would take too long to go, unless --force goes on; each takes so long. A long
// time is told before it begins.
func (o *Options) checkProbes(probes int, each time.Duration) error {
	takes := time.Duration(probes) * each
	switch {
	case o.DryRun:
	case takes > longRemoval && !o.Force:
		return cli.WithStatus(cli.ExitUsage, fmt.Errorf("%d probes, each an event of its own on this kernel (Linux before 5.4), which take %v to remove: name fewer functions; --force goes on", probes, takes.Round(time.Second)))
	case takes > time.Second:
		o.Say("%d probes, each an event of its own on this kernel (Linux before 5.4), will take some %v to remove", probes, takes.Round(time.Second))
	}
	return nil
}

// manyFuncs is how many functions wildcards may select before their probes have a budget by themselves: among so many there are
// some that are called all the time, whatever the program. It is manyBudget percent.
const manyFuncs, manyBudget = 500, 50

// limitMany sets a budget for many functions of a program that has none.
func (r *run) limitMany(mode uprobe.Mode) {
	wild := 0
	for _, fn := range r.request.Target.Funcs {
		if !r.request.Target.Roles[fn].Named {
			wild++
		}
	}
	if r.Budget == nil && r.share() == 0 && mode != uprobe.Count && wild > manyFuncs && r.request.Probes.Features.Append {
		r.Budget = new(float64(manyBudget))
		r.Say("probes of %s may take %d%% of the program's CPU time (--budget 0 sets no limit)", printable.Plural(wild, "function"), manyBudget)
	}
}

// firstSites is how many sites are probed before the first numbers are shown to somebody who waits for
// them: it takes a tenth of a second or less to define as many probes, and seconds for 15,000, since each is
// compared with all others. Where a budget is set the others follow as it allows, because all that is hot
// would take its time at once.
const firstSites = 1000
