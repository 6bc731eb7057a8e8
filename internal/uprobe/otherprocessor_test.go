package uprobe

import (
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestSchedArm64 checks the arguments of runtime probes on arm64. There, a register holds g in all versions, and
// arguments are in registers since Go 1.18. Before, a site must precede the first change of SP. An instruction is
// single-stepped only if the function has no stack check and no jump early enough.
func TestSchedArm64(t *testing.T) {
	const (
		byRegisters = "g=%x0 old=%x1 new=%x2 "
		onStack     = "g=+8(%sp) old=+16(%sp) new=+20(%sp) "
	)
	for _, c := range []struct {
		version, status, resume, creation string
		stepped                           bool // casgstatus has no conditional jump that keeps SP, or may not use it
	}{
		{"1.16.15", onStack, "g=+8(%sp) id=+152(+8(%sp))", "g=+48(%sp) id=+152(+48(%sp)) by=+32(%sp)", true},
		{"1.17.13", onStack, "g=+8(%sp) id=+152(+8(%sp))", "g=+48(%sp) id=+152(+48(%sp)) by=+32(%sp)", true},
		{"1.18.10", byRegisters, "g=%x0 id=+152(%x0)", "g=%x0 id=+152(%x0) by=+192(+48(%x28))", false},
		{"1.20.14", byRegisters, "g=%x0 id=+152(%x0)", "g=%x0 id=+152(%x0) by=+192(+48(%x28))", false},
		{"1.24.6", byRegisters, "g=%x0 id=+160(%x0)", "g=%x0 id=+160(%x0) by=+192(+48(%x28))", false},
		{fixture.Current, byRegisters, "g=%x0 id=+152(%x0)", "g=%x0 id=+152(%x0) by=+184(+48(%x28))", false},
	} {
		t.Run(c.version, func(t *testing.T) {
			b := binaries.Open(t, fixture.BuildFor(t, "arm64", c.version, "sched"))
			p := planIn(t, b, Options{Mode: Latency, Features: modern, RuntimeProbes: RuntimeProbes{Sched: true, Threads: true, Follow: true}}, "main.mixed")
			if p.ByStack || !p.Sched || !p.Threads || !p.Follow {
				t.Errorf("by stack %v, scheduler %v, threads %v, followed %v", p.ByStack, p.Sched, p.Threads, p.Follow)
			}
			fetched := make(map[Kind]string)
			for _, ev := range p.Events {
				for _, s := range ev.Sites {
					text := ""
					for i, a := range ev.Args {
						if s.Fetch != nil {
							a.Fetch = s.Fetch[i]
						}
						text += a.Name + "=" + a.Fetch + " "
					}
					fetched[s.Kind] = text
					if s.Stepped && (s.Kind != Status || !c.stepped) && s.Kind != GoroutineEnd {
						f, _ := b.FuncAt(s.Addr)
						t.Errorf("kind %d: %s+%#x is single-stepped", s.Kind, f.Name, s.Addr-f.Addr)
					}
				}
			}
			for kind, want := range map[Kind]string{
				EntryJump: "sp=%sp g=%x28 hi=+8(%x28) ", Return: "sp=%sp g=%x28 hi=+8(%x28) ", Status: c.status, Resume: c.resume, Creation: c.creation,
				Recovery: "sp=+0(+8(%sp)) g=+16(+8(%sp)) hi=+8(+16(+8(%sp))) ", GoroutineEnd: "",
			} {
				if got, ok := fetched[kind]; !ok || !strings.HasPrefix(got, want) {
					t.Errorf("kind %d fetches %q, want %q", kind, got, want)
				}
			}
		})
	}
}
