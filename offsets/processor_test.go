package offsets_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/capture"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// openArm64 opens testdata/lookup for arm64.
func openArm64(t *testing.T) *offsets.Binary {
	t.Helper()
	return binaries.Open(t, fixture.BuildFor(t, "arm64", fixture.Current, "lookup"))
}

// TestSecondProcessor checks that planning and pairing get everything about a processor from the interface: nothing
// in the plan of an arm64 program is for another processor.
func TestSecondProcessor(t *testing.T) {
	b := openArm64(t)
	var all []*offsets.Func
	for i := range b.Funcs() {
		all = append(all, &b.Funcs()[i])
	}
	features := tracefs.Features{Append: true, Arrays: true, Memory: true, Instances: true}
	plan, err := uprobe.New(b, all, uprobe.Options{Features: features, Stack: 5, RuntimeProbes: uprobe.RuntimeProbes{Threads: true, Sched: true}, Values: func(f *offsets.Func, _ *offsets.Sites) (v uprobe.Values, err error) {
		sig, err := b.Signature(f)
		if err != nil || symname.Split(f.Name).Package != "main" {
			return v, nil
		}
		options := capture.Options{Limits: capture.Limits{StrLen: 8}, Features: tracefs.Features{Memory: true, Arrays: true}, Machine: b.File().Processor.Machine()}
		if v.Entry, err = capture.NewBuilder(sig.Params, options).Capture(nil, nil); err == nil {
			v.Return, err = capture.NewBuilder(sig.Results, options).Capture(nil, nil)
		}
		return v, err
	}})
	fixture.NoError(t, err)
	register := regexp.MustCompile(`^(x[0-9]|x[12][0-9]|x30|sp|pstate)$`)
	named := regexp.MustCompile(`%([a-z0-9]+)`)
	for _, ev := range uprobe.TraceEvents(plan.Events) {
		for i := range ev.Sites {
			for k, a := range ev.Args {
				fetch := a.Fetch
				if ev.Fetch != nil && ev.Fetch[i] != nil {
					fetch = ev.Fetch[i][k]
				}
				for _, m := range named.FindAllStringSubmatch(fetch, -1) {
					if !register.MatchString(m[1]) {
						t.Fatalf("event %s fetches %s", ev.Name, fetch)
					}
				}
			}
		}
	}
	checkArm64Lookup(t, b, plan)
}

// checkArm64Lookup checks the events of one function: the arguments that they fetch, and the calls of some hits.
func checkArm64Lookup(t *testing.T, b *offsets.Binary, plan *uprobe.Plan) {
	fn := slices.IndexFunc(plan.Funcs, func(f uprobe.Probe) bool { return f.Name == "main.lookup" })
	event := func(kind uprobe.Kind) (site int, e *uprobe.Event) {
		for i := range plan.Events {
			for k := range plan.Events[i].Sites {
				if e = &plan.Events[i]; e.Sites[k].Func == fn && e.Sites[k].Kind == kind {
					return k, e
				}
			}
		}
		t.Fatalf("main.lookup has no event of kind %d", kind)
		return
	}
	jumpSite, entry := event(uprobe.EntryJump)
	text := strings.Join(entry.Sites[jumpSite].Fetch, " ")
	for _, a := range entry.Args {
		text += " " + a.Fetch
	}
	for _, want := range []string{"%sp %x28 +8(%x28) +152(%x28) %pstate", "%x30 %x29", " %x0 %x1 %x2", "+0(%x0)"} {
		if !strings.Contains(text, want) {
			t.Errorf("main.lookup fetches %s, without %s", text, want)
		}
	}
	retSite, back := event(uprobe.Return)
	sig, err := b.Signature(plan.Funcs[fn].Func)
	if err != nil || len(sig.Results) != 3 || sig.Results[2].Pieces[1].Register != "x4" {
		t.Errorf("results of main.lookup: %+v, %v", sig, err)
	}
	var trace strings.Builder
	hit := func(site int, e *uprobe.Event, time, flags uint64) {
		words := map[int]uint64{e.Fields.SP: 0x1000, e.Fields.G: 1, e.Fields.Hi: 0x2000, e.Fields.Flags: flags}
		fmt.Fprintf(&trace, " prog-1 (1) [000] d.... %d: %s: (%#x)", time, e.Name, e.Sites[site].Addr)
		at := 0 // index of the argument's first word
		for _, arg := range e.Args {
			n := uprobe.ArrayLen(arg)
			if n == 0 {
				fmt.Fprintf(&trace, " %s=%d", arg.Name, words[at])
				at++
				continue
			}
			fmt.Fprintf(&trace, " %s={0%s}", arg.Name, strings.Repeat(",0", n-1))
			at += n
		}
		fmt.Fprintln(&trace)
	}
	const carry, zero = 1 << 29, 1 << 30
	hit(jumpSite, entry, 1, 0)          // the check fails: morestack
	hit(jumpSite, entry, 2, carry|zero) // fails as well: SP equals the guard
	hit(jumpSite, entry, 3, carry)
	hit(retSite, back, 7, 0)
	var calls []pairing.Call
	stream, err := pairing.NewStream(plan, textSource{strings.NewReader(trace.String())}, pairing.Options{})
	for err == nil {
		for it, failed := range stream.Read(t.Context()) {
			if err = failed; err == nil && it.Kind == pairing.Ended {
				calls = append(calls, *it.Call)
			}
		}
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if len(calls) != 1 || calls[0].Start != 3 || calls[0].End != 7 || calls[0].Outcome != pairing.Returned {
		t.Errorf("calls %+v", calls)
	}
}

// textSource is a trace in memory.
type textSource struct{ *strings.Reader }

func (s textSource) Read(_ context.Context, buf []byte) (int, error) { return s.Reader.Read(buf) }
