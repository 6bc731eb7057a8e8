package trace

import (
	"bytes"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestCommandEnds checks that a program has ended although its children hold the pipe of its output.
func TestCommandEnds(t *testing.T) {
	for name, line := range map[string]string{"ended by us": "sleep 600 & echo >&3; exec sleep 600", "ended by itself": "sleep 600 & echo >&3"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			c := NewCommand(exec.Command("/bin/sh", "-c", line))
			begun, tell, err := os.Pipe()
			fixture.NoError(t, err)
			c.Stdout, c.ExtraFiles, c.SysProcAttr = &out, []*os.File{tell}, &syscall.SysProcAttr{Setpgid: true}
			fixture.NoError(t, c.Start())
			defer syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
			if _, err := begun.Read(make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				if name == "ended by us" {
					c.End()
				}
				<-c.ended.Done()
			}()
			select {
			case <-ended:
				if err := c.Err(); err != nil {
					t.Errorf("it has failed: %v", err)
				}
			case <-time.After(30 * time.Second):
				t.Error("it has not ended after 30 s")
			}
		})
	}
}
