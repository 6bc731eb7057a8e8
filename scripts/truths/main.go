// Command truths compares ftgo's numbers with what a program finds out about itself: see
// scripts/truth.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("truth: ")
	runs := flag.Int("runs", 0, "run so often (default: latency 20, cost 1)")
	flag.Parse()
	dir, err := os.MkdirTemp("", "truth")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for _, name := range []string{"cmd/ftgo", "testdata/selftimed"} {
		cmd := exec.Command("go", "build", "-o", dir+"/", "./"+name)
		cmd.Stderr = os.Stderr
		if err := cmd.Run(); err != nil {
			log.Fatalf("build %s: %v", name, err)
		}
	}
	// A file of its own has no probes.
	text, err := os.ReadFile(filepath.Join(dir, "selftimed"))
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "twin"), text, 0o755); err != nil {
		log.Fatal(err)
	}
	switch flag.Arg(0) {
	case "latency":
		err = latencies(dir, max(*runs, 20*btoi(*runs == 0)))
	case "cost":
		err = costs(dir, max(*runs, 1))
	default:
		err = fmt.Errorf("%q: neither latency nor cost", flag.Arg(0))
	}
	if err != nil {
		log.Fatal(err)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// target is a testdata/selftimed that runs.
type target struct {
	dir string
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
	pid int
}

// answer is what it answers.
type answer struct {
	PID      int
	Requests float64
	CPU      float64 // in seconds
	Median   []int64
}

func start(dir string, args ...string) (*target, error) {
	return startFile(dir, "selftimed", args...)
}

func startFile(dir, file string, args ...string) (*target, error) {
	t := &target{dir: dir, cmd: exec.Command(filepath.Join(dir, file), args...)}
	t.cmd.Stderr = os.Stderr
	var err error
	if t.in, err = t.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := t.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	t.out = bufio.NewScanner(out)
	if err := t.cmd.Start(); err != nil {
		return nil, err
	}
	a, err := t.answer()
	t.pid = a.PID
	return t, err
}

func (t *target) answer() (a answer, err error) {
	if !t.out.Scan() {
		return a, fmt.Errorf("selftimed has ended: %v", t.out.Err())
	}
	return a, json.Unmarshal(t.out.Bytes(), &a)
}

// do has it do something for so many seconds.
func (t *target) do(what string, seconds float64) (answer, error) {
	if _, err := fmt.Fprintln(t.in, what, seconds); err != nil {
		return answer{}, err
	}
	return t.answer()
}

func (t *target) end() {
	t.in.Close()
	t.cmd.Wait()
}

// line is one of ftgo's, of a function or the summary.
type line struct {
	Function string
	Raw      bool
	NS       median `json:"ns"`
	Low      median `json:"ns_low"`
	High     median `json:"ns_high"`
	Probing  struct{ Share float64 }
}

type median struct{ P50 int64 }

// probed has ftgo look at it for so many seconds, while it serves requests.
func (t *target) probed(seconds float64, args ...string) (served answer, functions map[string]line, summary line, err error) {
	armed, arm, err := os.Pipe()
	if err != nil {
		return served, nil, summary, err
	}
	defer armed.Close()
	command := append([]string{args[0], "-q", "-o", "json", "--ready-fd", "3", "-d", fmt.Sprintf("%gs", seconds), "-p", strconv.Itoa(t.pid)}, args[1:]...)
	cmd := exec.Command(filepath.Join(t.dir, "ftgo"), command...)
	cmd.Stderr, cmd.ExtraFiles = os.Stderr, []*os.File{arm}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return served, nil, summary, err
	}
	err = cmd.Start()
	arm.Close()
	if err != nil {
		return served, nil, summary, err
	}
	lines := make(chan error, 1)
	functions = make(map[string]line)
	go func() {
		decoder := json.NewDecoder(out)
		for {
			var text json.RawMessage
			if err := decoder.Decode(&text); err != nil {
				lines <- err
				return
			}
			var l line
			switch {
			case bytes.HasPrefix(text, []byte(`{"type":"function"`)):
				if err := json.Unmarshal(text, &l); err != nil {
					lines <- err
					return
				}
				functions[l.Function] = l
			case bytes.HasPrefix(text, []byte(`{"type":"summary"`)):
				lines <- json.Unmarshal(text, &summary)
				return
			}
		}
	}()
	if _, err := io.ReadAll(armed); err != nil {
		return served, nil, summary, err
	}
	if served, err = t.do("serve", seconds-0.1); err != nil {
		return served, nil, summary, err
	}
	if err := <-lines; err != nil {
		return served, nil, summary, err
	}
	return served, functions, summary, cmd.Wait()
}

// load keeps all CPUs busy until it is told to end.
func load() (end func()) {
	var loops []*exec.Cmd
	for range runtime.NumCPU() {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if cmd.Start() == nil {
			loops = append(loops, cmd)
		}
	}
	return func() {
		for _, cmd := range loops {
			cmd.Process.Kill()
			cmd.Wait()
		}
	}
}
