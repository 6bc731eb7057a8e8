package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// neighbour is another tracer of the functions that ftgo traces.
type neighbour struct {
	name, tool string // tool is "" if there is nothing to install
	// start returns when the tracer counts; end ends it, and returns the calls it has seen.
	start func(t *testing.T, f *tracefs.FS, path string) (end func() map[string]uint64)
}

// shared are functions that all tracers of a test place their probes on, at the very
// instruction that ftgo counts calls by: in front of the stack check of main.framed a
// tracer counts calls twice whose stack grows.
var shared = map[string]string{"main.leaf": "main.leaf", "main.framed": "main.framed+6"}

var neighbours = []neighbour{
	{"uprobe_events", "", byHand},
	{"ftgo probe", "", func(t *testing.T, _ *tracefs.FS, path string) func() map[string]uint64 {
		return byFtgo(t, "probe", path)
	}},
	{"ftgo count", "", func(t *testing.T, _ *tracefs.FS, path string) func() map[string]uint64 {
		return byFtgo(t, "count", path)
	}},
	{"ftgo trace", "", func(t *testing.T, _ *tracefs.FS, path string) func() map[string]uint64 {
		return byFtgo(t, "trace", path)
	}},
	{"bpftrace", "bpftrace", byBpftrace},
}

// sharedSites are the file offsets that ftgo counts the shared functions by.
func sharedSites(t *testing.T, path string) map[string]string {
	t.Helper()
	sites := make(map[string]string)
	for name := range shared {
		r := ftgo(t, "count", "--dry-run", path, name)
		m := regexp.MustCompile(`:(0x[0-9a-f]+)\n$`).FindStringSubmatch(r.stdout)
		if r.code != 0 || m == nil {
			t.Fatalf("sites of %s: status %d\n%s%s", name, r.code, r.stdout, r.stderr)
		}
		sites[name] = m[1]
	}
	return sites
}

// byHand writes the definitions, each of one place, and counts in an instance of its own.
func byHand(t *testing.T, f *tracefs.FS, path string) func() map[string]uint64 {
	group := fmt.Sprintf("neighbour%d", os.Getpid())
	instance := f.Dir() + "/instances/" + group
	write := func(file, text string) {
		t.Helper()
		w, err := os.OpenFile(f.Dir()+"/"+file, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Error(err)
			return
		}
		defer w.Close()
		if _, err := w.WriteString(text + "\n"); err != nil {
			t.Errorf("write %q to %s: %v", text, file, err)
		}
	}
	events := map[string]string{"main.leaf": "leaf", "main.framed": "framed"}
	for name, offset := range sharedSites(t, path) {
		write("uprobe_events", fmt.Sprintf("p:%s/%s %s:%s", group, events[name], path, offset))
	}
	noError(t, os.MkdirAll(instance, 0o755))
	write("instances/"+group+"/events/"+group+"/enable", "1")
	return func() map[string]uint64 {
		write("instances/"+group+"/events/"+group+"/enable", "0")
		recorded, err := os.ReadFile(instance + "/trace")
		if err != nil {
			t.Error(err)
		}
		profile := wholeProfile(t, f, path, len(events))
		// In this order: see tracefs.Session.Close.
		if err := os.Remove(instance); errors.Is(err, syscall.EBUSY) {
			t.Cleanup(func() { os.Remove(instance) }) // up to Linux 5.4.0 ftgo's pipe keeps it
		} else if err != nil {
			t.Errorf("remove the neighbour's instance: %v", err)
		}
		calls := make(map[string]uint64)
		for name, event := range events {
			calls[name] = uint64(bytes.Count(recorded, []byte(": "+event+": (0x")))
			// The group is not in the profile, but the file is this test's own.
			m := regexp.MustCompile(regexp.QuoteMeta(path) + ` +` + event + ` +(\d+)`).FindSubmatch(profile)
			if m == nil || string(m[1]) != fmt.Sprint(calls[name]) {
				t.Errorf("uprobe_profile has %q of %s, and recorded are %d", m, name, calls[name])
			}
			write("uprobe_events", "-:"+group+"/"+event)
		}
		return calls
	}
}

// wholeProfile is uprobe_profile with so many sites of a file: the kernel leaves out some of it
// while others remove theirs.
func wholeProfile(t *testing.T, f *tracefs.FS, path string, sites int) (profile []byte) {
	t.Helper()
	for range 50 {
		var err error
		if profile, err = os.ReadFile(f.Dir() + "/uprobe_profile"); err != nil {
			t.Error(err)
		}
		if bytes.Count(profile, []byte(path+" ")) >= sites {
			break
		}
	}
	return profile
}

// byFtgo is a process of ftgo's.
func byFtgo(t *testing.T, command, path string) func() map[string]uint64 {
	p := tracer(t, command, "-o", "json", "--budget", "0", path, "main.leaf", "main.framed")
	return func() map[string]uint64 {
		p.interrupted(t)
		return callsSeen(t, command, p.out.String())
	}
}

// callsSeen reads the output of probe, count or trace, whose books must balance with
// nothing lost.
func callsSeen(t *testing.T, command, text string) map[string]uint64 {
	t.Helper()
	calls := make(map[string]uint64)
	for line := range strings.Lines(text) {
		var o struct {
			Type, Function, End   string
			Calls, Completed      uint64
			Hits, Delivered, Lost uint64
			Unparsed              uint64
		}
		if err := json.Unmarshal([]byte(line), &o); err != nil && !strings.Contains(line, `"summary"`) {
			t.Fatalf("%q: %v", line, err)
		}
		switch o.Type {
		case "call":
			if o.End == "return" {
				calls[o.Function]++
			}
		case "function":
			if calls[o.Function] = o.Calls; command == "probe" && o.Completed != o.Calls {
				t.Errorf("%s: %d of %d calls completed", o.Function, o.Completed, o.Calls)
			}
		case "summary":
			if o.Delivered+o.Lost != o.Hits || o.Lost != 0 || o.Unparsed != 0 {
				t.Errorf("ftgo %s: books %s", command, line)
			}
		}
	}
	return calls
}

// held starts a tracer that takes a command, which begins when it traces, and ends it by
// ending that: it reads what is named FIFO in args.
func held(t *testing.T, args ...string) (end func() string) {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "fifo")
	noError(t, syscall.Mkfifo(fifo, 0o600))
	cmd := exec.Command(args[0], args[1:]...)
	for i, a := range cmd.Args {
		cmd.Args[i] = strings.ReplaceAll(a, "FIFO", fifo)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	noError(t, cmd.Start())
	done := make(chan struct{})
	go func() { cmd.Wait(); close(done) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-done })
	opened := make(chan *os.File, 1)
	go func() { // until the command reads
		w, _ := os.OpenFile(fifo, os.O_WRONLY, 0)
		opened <- w
	}()
	select {
	case w := <-opened:
		return func() string {
			w.Close()
			<-done
			return out.String()
		}
	case <-done:
		go func() { // whoever still waits for a reader gets one
			if r, err := os.OpenFile(fifo, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
				(<-opened).Close()
				r.Close()
			}
		}()
		t.Fatalf("%q ended: %s", cmd.Args, out.String())
	}
	return nil
}

// byBpftrace counts main.leaf with BPF, which takes no definition in tracefs. Not every
// bpftrace can be told an offset, to place a probe behind a stack check.
func byBpftrace(t *testing.T, _ *tracefs.FS, path string) func() map[string]uint64 {
	end := held(t, "bpftrace", "-e", fmt.Sprintf("uprobe:%s:%q { @calls = count(); }", path, shared["main.leaf"]), "-c", "/bin/cat FIFO")
	return func() map[string]uint64 {
		text := end()
		m := regexp.MustCompile(`@calls: (\d+)`).FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("bpftrace said\n%s", text)
		}
		calls, err := strconv.ParseUint(m[1], 10, 64)
		if err != nil {
			t.Error(err)
		}
		return map[string]uint64{"main.leaf": calls}
	}
}

// TestKernelNeighbours: others trace the same instructions, for longer than ftgo does, and
// for shorter. All count exactly, nobody's probes go with another's, nothing is left.
func TestKernelNeighbours(t *testing.T) {
	fixture.NeedLong(t)
	const n = 2003
	f := tracetest.Kernel(t)
	before := definitions(t, f)
	for _, other := range neighbours {
		t.Run(other.name, func(t *testing.T) {
			if other.tool != "" {
				if _, err := exec.LookPath(other.tool); err != nil {
					if os.Getenv("FTGO_TEST_KERNEL") == "require" && os.Getenv(fixture.TargetsVar) == "" {
						t.Fatalf("not tried beside %s: %v", other.name, err)
					}
					t.Skip(err)
				}
			}
			// A file of its own, which no other test runs.
			path := copied(t, fixture.Build(t, "flood"), "flood")
			call := func() {
				t.Helper()
				executed(t, path, "-n", fmt.Sprint(n), "-g", "1")
			}
			check := func(who string, got map[string]uint64, times uint64) {
				t.Helper()
				want := map[string]uint64{"main.leaf": times * n, "main.framed": times * n}
				if strings.HasPrefix(who, "bpftrace") {
					delete(want, "main.framed")
				}
				if !maps.Equal(got, want) {
					t.Errorf("%s: %v, want %v", who, got, want)
				}
			}
			for _, command := range []string{"probe", "count", "trace"} {
				end := other.start(t, f, path)
				mine := byFtgo(t, command, path)
				call()
				check("ftgo "+command+" inside", mine(), 1)
				call()
				check(other.name+" around ftgo "+command, end(), 2)

				mine = byFtgo(t, command, path)
				end = other.start(t, f, path)
				call()
				check(other.name+" inside ftgo "+command, end(), 1)
				call()
				check("ftgo "+command+" around", mine(), 2)
			}
		})
	}
	if after := definitions(t, f); after != before {
		t.Errorf("uprobe_events is\n%s\nand was\n%s", after, before)
	}
}

// definitions are the lines of uprobe_events that these tests' tracers may have written:
// those of other processes come and go.
func definitions(t *testing.T, f *tracefs.FS) string {
	t.Helper()
	file, err := os.Open(f.Dir() + "/uprobe_events")
	noError(t, err)
	defer file.Close()
	var own strings.Builder
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if strings.Contains(lines.Text(), fmt.Sprintf("%d/", os.Getpid())) || strings.Contains(lines.Text(), t.Name()) {
			own.WriteString(lines.Text() + "\n")
		}
	}
	return own.String()
}
