//go:build ignore

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/ftgo/ftgo/tracefs"
)

// splits measures how long arming and disarming take by the number of sites and by how
// they are put into events. The sites are in a file of NOPs, which this process maps to
// execute, and never does.
func splits(b *bench, w *bytes.Buffer) error {
	counts := pick(b, []int{1, 10, 100, 1000, 2000, 4000, 8000, 15000, 30000, 44000, 100000}, []int{1, 100, 1000, 6000})
	file, unmap, err := b.nops(counts[len(counts)-1])
	if err != nil {
		return err
	}
	defer unmap()
	fs, err := tracefs.Find()
	if err != nil {
		return err
	}
	ways := []struct {
		name     string
		perEvent func(n int) int
		most     int // sites: more take too many minutes
	}{
		{"as ftgo splits", tracefs.SitesPerEvent, 100000},
		{"one event", func(n int) int { return n }, 30000},
		{"1,000 an event", func(int) int { return 1000 }, 44000},
	}
	const armed, disarmed = ": armed", ": disarmed"
	g := newGrid("sites, in so many events of ftgo's", "", func(_, _ string, v float64) string { return nanoseconds(v) })
	others := 0
	for round := range b.rounds {
		for _, sites := range counts {
			if round > 0 && sites >= 30000 {
				continue // once: it takes minutes
			}
			perEvent := tracefs.SitesPerEvent(sites)
			row := fmt.Sprintf("%d, %d", sites, (sites+perEvent-1)/perEvent)
			for _, way := range ways {
				if sites > way.most {
					continue
				}
				n, err := probesOfOthers(fs)
				if err != nil {
					return err
				}
				others = max(others, n)
				arm, disarm, err := armNops(b.ctx, fs, file, sites, way.perEvent(sites))
				if err != nil {
					return err
				}
				g.add(row, way.name+armed, float64(arm))
				g.add(row, way.name+disarmed, float64(disarm))
			}
		}
	}
	fmt.Fprint(w, "How long the kernel takes, by the number of sites and by how they are put into events. One process maps the file that\n"+
		"they are in. Each definition is compared with all others, and once more with those of its event; each event takes a\n"+
		"grace period when it is disarmed; an instance takes another when it is removed.\n")
	if others > 0 {
		fmt.Fprintf(w, "Somebody else had up to %d probes meanwhile, which each definition is compared with, too.\n", others)
	}
	fmt.Fprintln(w)
	g.write(w)
	fmt.Fprintf(w, "\nArmed and disarmed, together, on a logarithmic scale:\n\n```\n")
	for _, row := range g.rows {
		for _, way := range ways {
			sum := g.median(row, way.name+armed) + g.median(row, way.name+disarmed)
			if sum == 0 {
				continue
			}
			fmt.Fprintf(w, "%-11s  %-14s %s %s\n", row, way.name, logBar(sum), nanoseconds(sum))
		}
	}
	fmt.Fprintln(w, "```")
	return nil
}

// probesOfOthers counts what is defined, after waiting a while for others to be done: each
// definition is compared with theirs.
func probesOfOthers(fs *tracefs.FS) (n int, err error) {
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		listed, err := os.ReadFile(fs.Dir() + "/uprobe_events")
		if n = strings.Count(string(listed), "\n"); err != nil || n == 0 || time.Now().After(end) {
			return n, err
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
func (b *bench) nops(n int) (file *os.File, unmap func(), err error) {
	name := b.path("nops")
	if err := os.WriteFile(name, bytes.Repeat([]byte{0x90}, n), 0o755); err != nil {
		return nil, nil, err
	}
	if file, err = os.Open(name); err != nil {
		return nil, nil, err
	}
	m, err := syscall.Mmap(int(file.Fd()), 0, n, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, func() {
		_ = syscall.Munmap(m)
		_ = file.Close()
	}, nil
}

// armNops probes the first n bytes of a file, for counting.
func armNops(ctx context.Context, fs *tracefs.FS, file *os.File, n, perEvent int) (arm, disarm time.Duration, err error) {
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
	session, err := tracefs.Start(ctx, fs, target, events, tracefs.Options{Quiet: true})
	if err != nil {
		return 0, 0, err
	}
	armed := time.Now()
	err = session.Close()
	return armed.Sub(begun), time.Since(armed), err
}
