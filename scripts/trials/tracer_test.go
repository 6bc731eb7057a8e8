package trials

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"testing"
	"time"
)

// tracer is an ftgo whose JSON is read as it comes: of a long run, there are gigabytes.
type tracer struct {
	*child
	armed     *os.File // ends when the probes are armed
	read      chan error
	functions map[string]row
	summary   row
	trees     int
}

// row is a line of -o json of a function, or the summary.
type row struct {
	Type, Function    string
	Raw               bool
	NS                quantiles `json:"ns"`
	Low               quantiles `json:"ns_low"`
	High              quantiles `json:"ns_high"`
	Probing           struct{ Share float64 }
	Calls, Hits       uint64
	Delivered, Lost   uint64
	Unparsed          uint64
	Probes, Functions uint64
}

type quantiles struct{ P50 int64 }

// newTracer makes an ftgo; args begin with its command.
func newTracer(tb testing.TB, limit time.Duration, ftgo string, args ...string) *tracer {
	line := append([]string{args[0], "-q", "-o", "json", "-w", "/dev/fd/3", "--ready-fd", "4"}, args[1:]...)
	return &tracer{child: command(tb, limit, ftgo, line...), read: make(chan error, 1), functions: make(map[string]row)}
}

// begin starts it, and reads what it writes.
func (x *tracer) begin() error {
	data, write, err := os.Pipe()
	if err != nil {
		return err
	}
	armed, arm, err := os.Pipe()
	if err != nil {
		return err
	}
	x.armed, x.ExtraFiles = armed, []*os.File{write, arm}
	err = x.start()
	write.Close()
	arm.Close()
	go func() {
		defer data.Close()
		x.read <- x.rows(data)
	}()
	return err
}

// ready waits until the probes are armed, or ftgo has ended. It is for one that starts no program,
// which would hold the pipe.
func (x *tracer) ready() error {
	defer x.armed.Close()
	_, err := io.ReadAll(x.armed)
	return err
}

// end waits for ftgo's end.
func (x *tracer) end() (outcome, error) {
	o, err := x.wait()
	if err := errors.Join(err, <-x.read); err != nil {
		return o, err
	}
	if x.summary.Type == "" {
		return o, fmt.Errorf("run %s: no summary", x.Args[0])
	}
	return o, nil
}

func (x *tracer) rows(data io.Reader) error {
	lines := bufio.NewScanner(data)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if bytes.HasPrefix(lines.Bytes(), []byte(`{"type":"tree"`)) {
			x.trees++
		}
		function := bytes.HasPrefix(lines.Bytes(), []byte(`{"type":"function"`))
		if !function && !bytes.HasPrefix(lines.Bytes(), []byte(`{"type":"summary"`)) {
			continue
		}
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("read line %.200q: %w", lines.Bytes(), err)
		}
		if function {
			x.functions[r.Function] = r
		} else {
			x.summary = r
		}
	}
	return lines.Err()
}
