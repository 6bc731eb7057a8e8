package scripts

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelRecipesEnd has recipes end by a signal, and where there is nothing to probe.
func TestKernelRecipesEnd(t *testing.T) {
	tracetest.Kernel(t)
	server := exec.Command(fixture.Build(t, "server"), "-every", "10ms")
	fixture.NoError(t, server.Start())
	t.Cleanup(func() {
		server.Process.Kill()
		server.Wait()
	})
	pid, data := strconv.Itoa(server.Process.Pid), filepath.Join(t.TempDir(), "data")
	start := func(name string, args ...string) (*exec.Cmd, *bytes.Buffer, *bufio.Reader) {
		cmd := exec.Command(recipe(name), args...)
		cmd.Env = append(os.Environ(), "FTGO="+fixture.Command(t, "cmd/ftgo"))
		stdout := new(bytes.Buffer)
		cmd.Stdout = stdout
		stderr, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		fixture.NoError(t, err)
		return cmd, stdout, bufio.NewReader(stderr)
	}
	for _, args := range [][]string{{"-p", pid}, {"-p" + pid, "-w", data}} {
		cmd, stdout, stderr := start("gogc", args...)
		// What others have left behind may be told before.
		for line, err := "", error(nil); !strings.HasPrefix(line, "ftgo: probing 1 function"); {
			if line, err = stderr.ReadString('\n'); err != nil {
				t.Fatalf("says %q, %v", line, err)
			}
		}
		fixture.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		said, _ := io.ReadAll(stderr)
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, said)
		}
		if len(args) > 2 {
			b, err := os.ReadFile(data)
			fixture.NoError(t, err)
			stdout.Write(b)
		}
		if got := stdout.String(); !strings.HasPrefix(got, "    PAUSE ns  STOPPING ns  REASON\n") {
			t.Errorf("%q shows %q", args, got)
		}
	}
	for _, args := range [][]string{{"-p", pid}, {"-p" + pid, "-w", data}, {server.Path}} {
		for name, does := range map[string]string{"gohttpd": "serves nothing with net/http", "gotlskeylog": "does not speak TLS"} {
			cmd, stdout, stderr := start(name, args...)
			said, _ := io.ReadAll(stderr)
			exit, ok := errors.AsType[*exec.ExitError](cmd.Wait())
			if !ok || exit.ExitCode() != 3 || stdout.Len() > 0 || !bytes.Contains(said, []byte("no function matches")) || !bytes.Contains(said, []byte(does)) {
				t.Errorf("%s %q: %v, %q\n%s", name, args, exit, stdout, said)
			}
		}
	}
	cmd, stdout, stderr := start("gofunccount", "-p", pid, "-n", "5", "main.tick")
	said, _ := io.ReadAll(stderr)
	if err := cmd.Wait(); err != nil || !regexp.MustCompile(`(?m)^main\.tick +\d+ `).Match(stdout.Bytes()) {
		t.Errorf("gofunccount: %v\n%s%s", err, stdout, said)
	}
}
