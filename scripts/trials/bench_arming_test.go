package trials

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// arming measures how long it takes from the launch of a tracer until probes in the go
// tool work, and from its being told to end until it has ended. A process of the go tool
// is there, as the kernel has to write the breakpoints into each.
func (b *bench) arming() {
	const in, out = "armed, from launch", "disarmed, to the tracer's end"
	goTool := fixture.GoCommand(b)
	b.hold(goTool)
	names, all := b.functionsOf(goTool)
	target := []string{b.hot, "-n", "1"}
	file := b.nops(all)
	g := newGrid("", "", nil)
	var tasks []task
	goRow := func(tool string, n int) string {
		if n == 0 {
			return fmt.Sprintf("%s, all %d", tool, all)
		}
		return fmt.Sprintf("%s, %d", tool, n)
	}
	add := func(row string, ours, once bool, run func() (arm, disarm float64, err error)) {
		tasks = append(tasks, task{row: row, col: in, ours: ours, once: once, run: func() error {
			arm, disarm, err := run()
			if err != nil {
				return fmt.Errorf("%s: %w", row, err)
			}
			g.add(row, in, arm)
			g.add(row, out, disarm)
			return nil
		}})
	}
	tracer := func(row string, ours, once bool, run func() (stamp, error)) {
		add(row, ours, once, func() (arm, disarm float64, err error) {
			s, err := run()
			return s.arming(), s.disarming(), err
		})
	}
	for _, n := range pick([]int{1, 200, 2000, 0}, []int{1, 200}) {
		functions := []string{"*"}
		if n > 0 {
			functions = names[:min(n, len(names))]
		}
		for _, command := range []string{"count", "probe", "probe --budget 0"} {
			unlimited := command == "probe --budget 0"
			if unlimited && n > 0 {
				continue // functions that are named are never counted first
			}
			args := append(append(strings.Fields(command), goTool), functions...)
			tracer(goRow("ftgo "+command, n), n == 0 && !unlimited, unlimited, func() (stamp, error) { return b.underFtgo(args, target...) })
		}
	}
	if !testing.Short() {
		add(fmt.Sprintf("the kernel's part of count: %d sites of a file of NOPs", all), true, false, func() (arm, disarm float64, err error) {
			return b.armNops(file, all, uprobe.SitesPerEvent(all))
		})
	}
	for _, n := range pick([]int{1, 200}, []int{1}) {
		if b.bpftrace != "" {
			sites := make([]string, n)
			for i := range sites {
				sites[i] = fmt.Sprintf("uprobe:%s:%q", goTool, names[i])
			}
			script := strings.Join(sites, ",") + " { @ = count(); }"
			tracer(goRow("bpftrace count()", n), false, n > 1, func() (stamp, error) { return b.underBpftrace(script, target...) })
		}
		if b.perf != "" {
			tracer(goRow("perf probe + record", n), false, n > 1, func() (stamp, error) { return b.underPerf(perfRecord, goTool, names[:n], target...) })
		}
	}
	b.turns(g, tasks)
	fmt.Fprintf(&b.body, "The tracers probe functions of the `go` tool, while a process runs it.\n\n")
	g.write(&b.body)
	for _, command := range []string{"ftgo count", "ftgo probe"} {
		row := goRow(command, 0)
		if g.median(row, in) > 0 {
			b.atMost(row+" functions of go: armed", g.median(row, in), 1.5e9, nanoseconds)
			b.atMost(row+" functions of go: disarmed", g.median(row, out), 0.2e9, nanoseconds)
		}
	}
}

// plainName is a name that no tracer minds.
var plainName = regexp.MustCompile(`^[a-z]+\.[A-Za-z]\w*$`)

// functionsOf lists functions of a program that can be probed and whose names are simple,
// and counts all functions.
func (b *bench) functionsOf(binary string) (names []string, all int) {
	o, err := b.run(b.ftgo, "list", "-o", "json", binary, "*")
	check(b, err)
	for line := range strings.Lines(o.stdout) {
		var f struct{ Type, Function, Entry string }
		check(b, json.Unmarshal([]byte(line), &f))
		if f.Type != "listing" || f.Entry == "none" {
			continue
		}
		all++
		if plainName.MatchString(f.Function) && strings.HasSuffix(f.Entry, " check") {
			names = append(names, f.Function)
		}
	}
	return names, all
}

// hold starts a go tool that waits for a file's contents as long as the section takes.
func (b *bench) hold(goTool string) {
	fifo := b.path("go.mod.fifo")
	check(b, syscall.Mkfifo(fifo, 0o600))
	c := command(b, 2*time.Hour, goTool, "mod", "edit", "-print", fifo)
	c.Env = append(c.Environ(), "GOROOT="+goroot(b)) // a copy does not know it
	check(b, c.start())
	time.Sleep(100 * time.Millisecond) // until it has got there
	if said := contents(c.stderr); said != "" {
		b.Fatalf("the go tool does not wait: %s", said)
	}
}

// splits measures how long arming and disarming take by the number of sites and by how
// they are put into events. The sites are in a file of NOPs, which this process maps to
// execute, and never does.
func (b *bench) splits() {
	counts := pick([]int{1, 10, 100, 1000, 2000, 4000, 8000, 15000, 30000, 44000, 100000}, []int{1, 100, 1000, 6000})
	file := b.nops(counts[len(counts)-1])
	g := newGrid("sites, in so many events of ftgo's", "", nil)
	var tasks []task
	for _, sites := range counts {
		perEvent := uprobe.SitesPerEvent(sites)
		row := fmt.Sprintf("%d, %d", sites, (sites+perEvent-1)/perEvent)
		for _, way := range []struct {
			name           string
			perEvent, most int // sites: more take too many minutes
		}{{"as ftgo splits", perEvent, 100000}, {"one event", sites, 30000}, {"1,000 an event", 1000, 44000}} {
			if sites > way.most {
				continue
			}
			armed := way.name + ": armed"
			tasks = append(tasks, task{row: row, col: armed, ours: true, once: sites >= 30000, run: func() error {
				arm, disarm, err := b.armNops(file, sites, way.perEvent)
				g.add(row, armed, arm)
				g.add(row, way.name+": disarmed", disarm)
				return err
			}})
		}
	}
	b.turns(g, tasks)
	fmt.Fprint(&b.body, "The kernel's time depends on the number of sites, and on their distribution over events. One process maps the file with the\n"+
		"sites. The kernel compares each definition with all others, and again with the definitions of the same event. It waits for a\n"+
		"grace period when it disarms an event, and for another when it removes an instance.\n\n")
	g.write(&b.body)
}

// nops makes a file of instructions that may be probed, one a byte, and maps it.
func (b *bench) nops(n int) *os.File {
	name := b.path("nops")
	check(b, os.WriteFile(name, bytes.Repeat([]byte{0x90}, n), 0o755))
	file, err := os.Open(name)
	check(b, err)
	m, err := syscall.Mmap(int(file.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE)
	check(b, err)
	b.Cleanup(func() {
		_ = syscall.Munmap(m)
		_ = file.Close()
	})
	return file
}

// armNops probes the first n bytes of a file, for counting, and returns nanoseconds.
func (b *bench) armNops(file *os.File, n, perEvent int) (arm, disarm float64, err error) {
	var events []tracefs.Event
	for i := range n {
		if i%perEvent == 0 {
			events = append(events, tracefs.Event{Name: fmt.Sprintf("nops%d", i/perEvent), Filter: "common_pid == 1 && common_pid == 2"})
		}
		e := &events[len(events)-1]
		e.Sites = append(e.Sites, uint64(i))
	}
	target := tracefs.Target{Path: fmt.Sprintf("/proc/self/fd/%d", file.Fd())}
	begun := time.Now()
	session, err := tracefs.Start(interrupted, b.fs, target, events, tracefs.Options{Quiet: true})
	if err != nil {
		return 0, 0, err
	}
	armed := time.Now()
	err = session.Close()
	return float64(armed.Sub(begun)), float64(time.Since(armed)), err
}
