package main

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestSlashIsNoLibrary: with -p the first FUNC may name a library, but not if it is a
// function of a package with a path.
func TestSlashIsNoLibrary(t *testing.T) {
	names := []string{"github.com/ftgo/ftgo/cmd/ftgo.fib", "github.com/ftgo/ftgo/cmd/ftgo.sleep"}
	r := ftgo(t, append([]string{"probe", "--dry-run", "-p", strconv.Itoa(os.Getpid())}, names...)...)
	if r.code != 0 || !strings.HasPrefix(r.stdout, "p:ftgo/e0_") {
		t.Errorf("status %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}
