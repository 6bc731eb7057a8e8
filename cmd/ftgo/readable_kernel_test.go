package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
	"github.com/ftgo/ftgo/testdata/tracetest"
)

// TestKernelReadable: times, addresses, maps and channels are shown as people read them.
func TestKernelReadable(t *testing.T) {
	f := tracetest.Kernel(t)
	tracetest.Needs(t, f.Features().Arrays, "arrays")
	for _, version := range []string{"1.18.10", "1.20.14", "1.22.12", "1.24.6", fixture.Current} {
		t.Run(version, func(t *testing.T) {
			target := fixture.BuildWith(t, version, "readable")
			guess := "~" // before Go 1.23 nothing tells them from addresses of IPv6
			v4, mapped, zoned := "10.0.0.7", "::ffff:10.0.0.7", "fe80::1%eth0"
			if version < "1.23" {
				mapped, zoned = v4, "fe80::1"
			} else {
				guess = ""
			}
			want := []string{
				`main.chans(c=chan[2/8], none=nil, held=chan int(chan[2/8])) = 2`,
				`main.times(at=2024-02-29T12:00:00.5Z, took=1.5s, p=&2024-02-29T12:00:00.5Z, all=[1s 1h0m0s]) = 1.5s`,
				`main.addrs(v4=` + guess + v4 + `, v6=` + guess + `2001:db8::1, mapped=` + guess + mapped + `, zoned=` + guess + zoned + `, none=invalid IP) = true`,
				`main.ports(p=` + guess + `127.0.0.1:80, n=` + guess + `10.0.0.0/8, none=invalid Prefix) = 80`,
				`main.maps(m=map[len 2], none=nil, empty=map[len 0], large=map[len 100]) = 2`,
				`main.fails(err=*errors.errorString("plain")) = "plain"`,
				`main.fails(err=*fmt.wrapError("open: file does not exist")) = "open: file does not exist"`,
				`main.fails(err=*fs.PathError("open /x: no such file or directory")) = "open /x: no such file or directory"`,
				`main.fails(err=*strconv.NumError("strconv.Atoi: parsing \"x\": (*errors.errorString)"…)) = "strconv.Atoi: parsing \"x\": invalid syntax"`,
				`main.fails(err=context.deadlineExceededError("context deadline exceeded")) = "context deadline exceeded"`,
			}
			funcs := []string{"main.chans", "main.times", "main.addrs", "main.ports", "main.maps(m, none, empty, large)", "main.fails"}
			args := append([]string{"trace", "-q", "--full", "-n", strconv.Itoa(len(want)), target}, funcs...)
			r := ftgo(t, append(args, "--", target)...)
			if got := withoutColumns(r.stdout); r.code != 0 || got != strings.Join(want, "\n")+"\n" {
				t.Errorf("status %d\ngot\n%s%swant\n%s", r.code, got, r.stderr, strings.Join(want, "\n"))
			}
		})
	}
}

// withoutColumns are the lines of calls from their functions on.
func withoutColumns(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(line[strings.Index(line, "main."):])
	}
	return b.String()
}
