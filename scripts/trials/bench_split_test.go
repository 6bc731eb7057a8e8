package trials

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
)

// splits measures how long arming and disarming take by the number of sites and by how
// they are put into events. The sites are in a file of NOPs, which this process maps to
// execute, and never does.
func (b *bench) splits() {
	counts := pick([]int{1, 10, 100, 1000, 2000, 4000, 8000, 15000, 30000, 44000, 100000}, []int{1, 100, 1000, 6000})
	file := b.nops(counts[len(counts)-1])
	ways := []struct {
		name     string
		perEvent func(n int) int
		most     int // sites: more take too many minutes
	}{
		{"as ftgo splits", uprobe.SitesPerEvent, 100000},
		{"one event", func(n int) int { return n }, 30000},
		{"1,000 an event", func(int) int { return 1000 }, 44000},
	}
	const armed, disarmed = ": armed", ": disarmed"
	g := newGrid("sites, in so many events of ftgo's", "", nil)
	others := 0
	var tasks []task
	for _, sites := range counts {
		perEvent := uprobe.SitesPerEvent(sites)
		row := fmt.Sprintf("%d, %d", sites, (sites+perEvent-1)/perEvent)
		for _, way := range ways {
			if sites > way.most {
				continue
			}
			tasks = append(tasks, task{row: row, col: way.name + armed, ours: true, once: sites >= 30000, run: func() error {
				others = max(others, b.probesOfOthers())
				arm, disarm, err := b.armNops(file, sites, way.perEvent(sites))
				g.add(row, way.name+armed, arm)
				g.add(row, way.name+disarmed, disarm)
				return err
			}})
		}
	}
	b.turns(g, tasks)
	w := &b.body
	fmt.Fprint(w, "The kernel's time depends on the number of sites, and on their distribution over events. One process maps the file with the\n"+
		"sites. The kernel compares each definition with all others, and again with the definitions of the same event. It waits for a\n"+
		"grace period when it disarms an event, and for another when it removes an instance.\n")
	if others > 0 {
		fmt.Fprintf(w, "Other tracers had up to %d probes meanwhile. The kernel compares each definition with them, too.\n", others)
	}
	fmt.Fprintln(w)
	g.write(w)
	fmt.Fprintf(w, "\nArmed and disarmed, together, on a logarithmic scale:\n\n```\n")
	for _, row := range g.rows {
		for _, way := range ways {
			if sum := g.median(row, way.name+armed) + g.median(row, way.name+disarmed); sum > 0 {
				fmt.Fprintf(w, "%-11s  %-14s %s %s\n", row, way.name, logBar(sum), nanoseconds(sum))
			}
		}
	}
	fmt.Fprintln(w, "```")
}

// probesOfOthers counts what is defined, after waiting a while for others to be done: each
// definition is compared with theirs.
func (b *bench) probesOfOthers() int {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		listed, err := os.ReadFile(b.fs.Dir() + "/uprobe_events")
		check(b, err)
		if n := bytes.Count(listed, []byte("\n")); n == 0 || time.Now().After(end) {
			return n
		}
	}
}

// logBar is four characters for each doubling from 20 ms on.
func logBar(ns float64) string {
	bar := ""
	for at := 20e6; at < ns; at *= 1.19 { // 2^(1/4)
		bar += "#"
	}
	return bar
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
