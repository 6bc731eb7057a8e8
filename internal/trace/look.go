package trace

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/procfs"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// processes are what the stream of a [Live] asks about processes.
type processes struct {
	*pairing.Biases
	live  *Live
	among map[int]bool // what Filter.Among has told
}

// of finds the process of a thread, whose kernel events are recorded from now on, and tells the processes asked for from
// others. One that is gone and that the kernel did not name belongs to the only process there can be, if that is so.
func (p *processes) of(tid, printed int) (pid int, wanted bool) {
	opt, k := &p.live.opt, &p.live.kernel
	pid = p.live.session.Process(tid, printed)
	if pid == 0 && len(opt.PIDs) == 1 && !opt.Fork {
		pid = opt.PIDs[0]
	}
	among := p.isAmong(pid)
	if among {
		k.follow(pid)
	}
	if k.learns() {
		pid = k.of(tid, pid)
		return pid, k.wants(pid) && p.isAmong(pid)
	}
	wanted = (len(opt.PIDs) == 0 || slices.Contains(opt.PIDs, pid)) && among
	if wanted && k.session != nil {
		k.wanted[pid] = true
	}
	return pid, wanted
}

// isAmong is Filter.Among, which is asked once of each process that is.
func (p *processes) isAmong(pid int) bool {
	of := p.live.opt.Among
	if of == nil {
		return true
	}
	is, known := p.among[pid]
	if !known {
		is = pid != 0 && of(pid)
		p.among[pid] = is
	}
	return is
}

// Forget drops what is known of a process that has ended.
func (p *processes) Forget(pid int) {
	delete(p.among, pid)
	p.Biases.Forget(pid)
}

// look is what is looked at five times a second, beside the calls.
type look struct {
	at   time.Time
	idle time.Time // when there was nothing to be read
	// lives are those of processes that events have come from. One is forgotten once all of its
	// events have been read, because many short programs are to take no more memory than few.
	lives map[int]life
	// replaced are the processes, and 0 for BINARY, of which it was said that they run, or are, another
	// file than the one that is probed.
	replaced map[int]bool
	cpu      *procfs.CPUTimes // of what is traced
	used     time.Duration    // the CPU time of what is traced while probes were armed
	waited   float64          // the share of its time that it waited for a CPU
	foreign  bool             // it was said that processes are forgotten that may live
	others   bool             // it was said that others than those of Filter.Sole run the file
	own      time.Duration    // the CPU time of this process when the window ended
}

// life is that of a process: when it was started, and when it was found to have ended, or its number
// to have gone to another.
type life struct {
	started uint64
	ended   time.Time
}

const (
	looksEvery = 200 * time.Millisecond // between two looks at the processes
	maxChecked = 500                    // the number of processes checked per look, for whether they have ended
	maxForeign = 1000                   // the number of processes remembered that can't be checked
	drained    = time.Second            // after which the stream has put in order what was recorded
)

// wait learns what is gone when processes are.
func (k *look) wait() {
	if share := k.cpu.Waited(); share > 0 {
		k.waited = share
	}
}

// use learns how much CPU time is used by now.
func (k *look) use(p *Command) {
	if p != nil {
		if cpu, ended := p.Used(); ended {
			k.used = cpu // the probes were there first
			return
		}
	}
	k.used += k.cpu.Since()
}

// stop ends the following of CPU times.
func (k *look) stop(p *Command) {
	k.wait()
	k.use(p)
}

// lookAround looks after the processes, and may find that some have ended.
func (l *Live) lookAround() (pairing.Items, error) {
	l.look.at = time.Now()
	if l.waiting {
		// It may have come and gone.
		if l.waiting = len(procfs.Running(l.plan.Binary.File().Path())) == 0 && !l.hit(); l.waiting {
			l.from.At = l.look.at // nobody ran it until now
			l.sampler.begin()
		} else {
			l.begin()
		}
	}
	if base, err := l.session.Timebase(); err == nil { // else the last one will do
		l.clock.set(base)
	}
	// The stream does not know of others, nor when their numbers go to new processes.
	maps.DeleteFunc(l.processes.among, func(_ int, is bool) bool { return !is })
	l.look.wait()
	l.noticeReplaced()
	if !l.rests.paused {
		l.noticeVanished(glance)
	}
	ended := l.forgetEnded()
	if !l.kernel.anyAlive() && gone(&l.opt) {
		return ended, ErrGone
	}
	return ended, nil
}

// gone tells whether all processes of -p have ended.
func gone(o *Options) bool {
	if len(o.PIDs) == 0 || slices.ContainsFunc(o.PIDs, procfs.Alive) {
		return false
	}
	if len(o.PIDs) == 1 {
		o.Say("process %d has ended", o.PIDs[0])
	} else {
		o.Say("the processes have ended")
	}
	return true
}

// forgetEnded drops what is known of processes that have ended, once their calls that are open were told.
func (l *Live) forgetEnded() pairing.Items {
	gone, now, left := make(map[int]bool), time.Now(), maxChecked
	if procfs.ForeignNumbers() { // none of them is there by its number
		left = 0
		for _, pid := range l.stream.Stalest(maxForeign) {
			gone[pid] = true
		}
		if len(gone) > 0 && !l.look.foreign {
			l.look.foreign = true
			l.opt.Say("more than %d processes of another PID namespace: those with the oldest calls are forgotten, and their open calls stay open", maxForeign)
		}
	}
	for _, pid := range l.stream.Processes() {
		of := l.look.lives[pid]
		if pid == 0 || !of.ended.IsZero() {
			continue
		}
		if left--; left < 0 {
			break
		}
		stat, alive := procfs.Living(pid)
		if !alive || of.started != 0 && of.started != stat.Started {
			of.ended = now
		}
		of.started = stat.Started
		l.look.lives[pid] = of
	}
	read := l.clock.present.Wall(l.stream.Latest())
	for pid, of := range l.look.lives {
		if !of.ended.IsZero() && (l.look.idle.Sub(of.ended) > drained || read.Sub(of.ended) > drained) {
			gone[pid] = true
		}
	}
	if len(gone) == 0 {
		return nil
	}
	l.session.Forget(gone)
	for pid := range gone {
		l.processes.Forget(pid)
		l.kernel.forget(pid)
		delete(l.look.lives, pid)
	}
	return l.stream.Forget(gone)
}

// noticeReplaced says, once of each, that a process of -p has executed another program, and
// that BINARY is another file now.
func (l *Live) noticeReplaced() {
	k, pids, path := &l.look, l.opt.PIDs, l.plan.Binary.File().Path()
	if k.replaced == nil {
		k.replaced = make(map[int]bool)
		for _, pid := range pids {
			k.replaced[pid] = l.runsAnother(procfs.Exe(pid)) // what is probed is a library
		}
	}
	if len(pids) == 0 && !l.opt.Succeeded && !k.replaced[0] && l.runsAnother(path) {
		k.replaced[0] = true
		l.opt.Say("%s was replaced on disk: processes started from now on run another file, which is not probed", path)
	}
	for _, pid := range pids {
		if !k.replaced[pid] && l.runsAnother(procfs.Exe(pid)) {
			k.replaced[pid] = true
			name, _ := os.Readlink(procfs.Exe(pid))
			l.opt.Say("process %d runs another program now, %s, which is not probed", pid, printable.Text(name))
		}
	}
}

// noticeOthers says, once, that another process runs the file of those that alone did: the kernel counts
// its calls with theirs.
func (l *Live) noticeOthers() {
	if !l.opt.Sole || l.look.others {
		return
	}
	for _, pid := range procfs.Running(l.plan.Binary.File().Path()) {
		if !slices.Contains(l.opt.PIDs, pid) {
			l.look.others = true
			l.opt.Warn(fmt.Sprintf("process %d runs the same file: its calls are counted, too", pid))
			return
		}
	}
}

// runsAnother tells whether a path is of a file that is not the one that is probed.
func (l *Live) runsAnother(path string) bool {
	_, err := os.Stat(path)
	return err == nil && !procfs.SameFile(path, l.plan.Binary.File().Link())
}

// vanished is what checks whether the processes still have the probes in their memory, a few probes
// at a time, because the kernel does not tell when a process has lost them, and then counts no calls.
type vanished struct {
	sites []uint64     // of the probes that are there from the first to the last moment
	next  int          // of the sites, to be looked at
	told  map[int]bool // the processes that it was said of
}

const (
	glance     = 16  // the number of sites checked per look: each takes a microsecond or two
	inspection = 512 // that of the check at the end
	maxGlanced = 16  // the number of processes checked per look
)

func newVanished(plan *uprobe.Plan) vanished {
	v := vanished{told: make(map[int]bool)}
	for _, event := range plan.Events {
		for _, site := range event.Sites {
			v.sites = append(v.sites, site.Offset)
		}
	}
	return v
}

// leave has no more sites of events checked, because they are disarmed.
func (v *vanished) leave(events []tracefs.Event) {
	gone := make(map[uint64]bool)
	for i := range events {
		for _, offset := range events[i].Sites {
			gone[offset] = true
		}
	}
	v.sites = slices.DeleteFunc(v.sites, func(offset uint64) bool { return gone[offset] })
	v.next = 0
}

// noticeVanished warns of each process that is known, PROGRAM included, and that has lost its probes,
// once. It looks at so many of their sites.
func (w *window) noticeVanished(sites int) {
	v, pids := &w.vanished, w.opt.PIDs
	if len(v.sites) == 0 || procfs.ForeignNumbers() {
		return
	}
	if len(pids) == 0 && w.stream != nil {
		pids = w.stream.Processes()
	}
	if w.program != nil {
		pids = append([]int{w.program.Process.Pid}, pids...)
	}
	some := make([]uint64, min(sites, len(v.sites)))
	for i := range some {
		some[i] = v.sites[(v.next+i)%len(v.sites)]
	}
	v.next += len(some)
	for _, pid := range pids[:min(len(pids), maxGlanced)] {
		missing := func() bool {
			return procfs.Missing(pid, w.plan.Binary.File().Inode(), some, w.plan.Processor.Machine().Breakpoints) > 0
		}
		// Twice: the process may change its mappings between a look at them and one there.
		if !v.told[pid] && missing() && missing() {
			v.told[pid] = true
			w.opt.Warn(fmt.Sprintf("probes have vanished from process %d, which has changed its code or dropped it: its calls are not all counted", pid))
		}
	}
}
