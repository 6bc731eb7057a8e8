package cli

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestProgress checks that long work is named once, on a terminal only.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		env   Env
		takes time.Duration
		want  string
	}{
		{Env{Terminal: true}, longWork - 1, ""},
		{Env{Terminal: true}, time.Hour, "ftgo: reading a\\x1b[2J\n"},
		{Env{Terminal: true, Quiet: true}, time.Hour, ""},
		{Env{}, time.Hour, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var text strings.Builder
			c.env.Stderr = &text
			stop := c.env.Progress("reading a\x1b[2J")
			time.Sleep(c.takes)
			stop()
			time.Sleep(time.Hour)
			if text.String() != c.want {
				t.Errorf("after %v: %q, want %q", c.takes, text.String(), c.want)
			}
		})
	}
}
