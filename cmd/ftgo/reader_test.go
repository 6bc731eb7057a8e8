package main

import (
	"io"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/session"
)

func TestReaderFlag(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{
		{nil, false}, {[]string{"--reader", "pipe"}, false}, {[]string{"--reader=raw"}, true},
	} {
		o := session.NewOptions(&newEnv(io.Discard, io.Discard).Env)
		command := cli.Command{Groups: []cli.Group{o.DefineRecorder}}
		if err := command.Flags().Parse(c.args); err != nil || (o.Reader == "raw") != c.want {
			t.Errorf("%q: reader %s, %v", c.args, o.Reader, err)
		}
	}
	r := ftgo(t, "probe", "--reader", "splice", "/bin/true", "main.main")
	if r.code != cli.ExitUsage || !strings.Contains(r.stderr, `"splice"`) {
		t.Errorf("status %d, want %d\n%s", r.code, cli.ExitUsage, r.stderr)
	}
}
