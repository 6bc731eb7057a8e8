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
				`main.numbers(m=map[-1:10 2:20 3:30], of=map[{X:1 Y:2}:true], none=nil, large=map[len 100]) = 3`,
				`main.words(m=map["":"01234567890123456789012345678901"…+8 "a":"one" "b":"two"], by=map["nil":nil], empty=map[len 0]) = 3`,
				`main.fails(err=*errors.errorString("plain")) = "plain"`,
				`main.fails(err=*fmt.wrapError("open: file does not exist")) = "open: file does not exist"`,
				`main.fails(err=*fs.PathError("open /x: no such file or directory")) = "open /x: no such file or directory"`,
				`main.fails(err=*strconv.NumError("strconv.Atoi: parsing \"x\": (*errors.errorString)"…)) = "strconv.Atoi: parsing \"x\": invalid syntax"`,
				`main.fails(err=context.deadlineExceededError("context deadline exceeded")) = "context deadline exceeded"`,
				`main.serves(ctx=*context.cancelCtx[main.idKey("request"):int(42) main.userKey({}):string("bob")]) = nil`,
				`main.serves(ctx=*context.valueCtx[main.idKey("6"):*main.small(&{X:6 Y:0}) main.idKey("5"):*main.small(&{X:5 Y:0}) main.idKey("4"):*main.small(&{X:4 Y:0}) main.idKey("3"):*main.small(&{X:3 Y:0}) main.idKey("2"):*main.small(&{X:2 Y:0}) main.idKey("1"):*main.small(&{X:1 Y:0}) …]) = nil`,
			}
			funcs := []string{"main.chans", "main.times", "main.addrs", "main.ports", "main.numbers", "main.words(m, by, empty)", "main.fails", "main.serves(ctx)"}
			args := append([]string{"trace", "-q", "--values", "full", "-n", strconv.Itoa(len(want)), target}, funcs...)
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
