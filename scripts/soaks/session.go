package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// session is an ftgo that has probes on all functions of a file, in whichever process.
type session struct {
	cmd  *exec.Cmd
	data string
	said bytes.Buffer
}

// probing starts a session, and waits until its probes are armed.
func (s *soak) probing(ctx context.Context, mode, file string) (*session, error) {
	armed, arm, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer armed.Close()
	x := &session{data: filepath.Join(s.state, "data.json")}
	flags := append(everything(mode), "-q", "--ready-fd", "3", "-w", x.data, file, "*")
	x.cmd = exec.CommandContext(ctx, s.ftgo, flags...)
	x.cmd.Stdout, x.cmd.Stderr, x.cmd.ExtraFiles = &x.said, &x.said, []*os.File{arm}
	// It outlives an interrupt of the terminal's: its tests end first.
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	x.cmd.Cancel = func() error { return x.cmd.Process.Signal(syscall.SIGINT) }
	err = x.cmd.Start()
	arm.Close()
	if err != nil {
		return nil, err
	}
	if _, err := io.ReadAll(armed); err != nil {
		return nil, err
	}
	return x, nil
}

// everything are the flags for probes on all functions.
func everything(mode string) []string {
	flags := []string{mode, "-t", "1", "-o", "json"}
	if mode == "probe" {
		flags = append(flags, "--max-rate", "0")
	}
	return flags
}

// end ends a session and returns what it has counted.
func (x *session) end() (sum summary, err error) {
	// One that has ended by itself has said why.
	_ = x.cmd.Process.Signal(syscall.SIGINT)
	if err := x.cmd.Wait(); err != nil {
		return sum, fmt.Errorf("ftgo: %w\n%s", err, &x.said)
	}
	return readSummary(x.data)
}

// summary is the last line of -o json.
type summary struct {
	Type                                               string
	Hits, Delivered, Lost, Unparsed, Probes, Functions uint64
}

// add adds what ftgo has counted in a run, whose books must balance.
func (r *result) add(sum *summary) {
	r.Functions, r.Probes = sum.Functions, sum.Probes
	r.Hits, r.Delivered, r.Lost = r.Hits+sum.Hits, r.Delivered+sum.Delivered, r.Lost+sum.Lost
	if sum.Hits != sum.Delivered+sum.Lost || sum.Unparsed > 0 {
		r.Unbalanced = fmt.Sprintf("%d hits, but %d delivered and %d lost, %d unparsed", sum.Hits, sum.Delivered, sum.Lost, sum.Unparsed)
	}
}

// readSummary reads the last line of data, which is then removed: the next run must write its own.
func readSummary(name string) (sum summary, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return sum, err
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &sum); err != nil || sum.Type != "summary" {
		return sum, fmt.Errorf("read summary %.200q: %v", lines[len(lines)-1], err)
	}
	return sum, os.Remove(name)
}
