package own

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/tracefs"
)

// Trial is what became of probes on ftgo itself: what a hit costs the program, in
// nanoseconds, with the instruction under it that calls begin with, and with a RET; and
// what each word of memory adds that is fetched. It is the least that there is: another
// process beside it costs more.
type Trial struct{ Entry, Return, Word float64 }

// trialCalls is how often each function is called.
const trialCalls = firstBatches * batchCalls

// ErrNotTried: it is not known whether probes work.
var ErrNotTried = errors.New("not tried")

var (
	// As in ftgo's own tests, where package main has another name.
	errNotItself = fmt.Errorf("%w: ftgo does not find its own functions", ErrNotTried)
	errShared    = fmt.Errorf("%w: this kernel records uprobes at the top level of tracefs alone, which everybody shares", ErrNotTried)
)

// Try arms probes on functions of ftgo, calls them, and sees that each hit is
// counted and delivered.
func Try(ctx context.Context, fsys *tracefs.FS, funcs Functions, features tracefs.Features) (result Trial, err error) {
	if !features.Instances {
		return result, errShared
	}
	b, err := offsets.Open("/proc/self/exe")
	if err != nil {
		return result, err
	}
	defer b.Close()
	tried := funcs.all()
	plan, err := planOwn(b, tried, uprobe.Options{Features: features})
	if err != nil {
		return result, err
	}
	unprobed := make([]float64, len(tried))
	for i, f := range tried {
		unprobed[i] = medianCall(f.Call)
	}
	events := trialEvents(plan, features)
	session, err := tracefs.Start(ctx, fsys, plan.Target(), events, tracefs.Options{BufferKB: 1024, Features: &features})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	costs := make([]float64, len(tried))
	for i, f := range tried {
		costs[i] = max(0, medianCall(f.Call)-unprobed[i])
	}
	if err := seen(ctx, session, events); err != nil {
		return result, err
	}
	return Trial{Entry: costs[0], Return: costs[1], Word: max(0, costs[2]-costs[0]) / fetchedWords}, nil
}

// medianCall is the time of a call in nanoseconds, in the median batch.
func medianCall(call func(int) int) float64 {
	batches := make([]float64, firstBatches)
	for b := range batches {
		batches[b] = timeCalls(call)
	}
	return middle(batches)
}

// trialEvents are one for each function: its entry, its return, and its entry with words
// fetched.
func trialEvents(plan *uprobe.Plan, features tracefs.Features) []tracefs.Event {
	// Names of events are unique among all sessions, as those of the plan are.
	unique := plan.Events[0].Name
	entry := func(i int) []uint64 {
		sites := plan.Funcs[i].Sites
		if sites.Check != nil && sites.Entry.Cost().Later != "" && !features.PushEmulated {
			return []uint64{sites.Check.Offset()}
		}
		return []uint64{sites.Entry.Offset()}
	}
	returns := tracefs.Event{Name: "return_" + unique}
	for _, s := range plan.Funcs[1].Sites.Returns {
		returns.Sites = append(returns.Sites, s.Offset())
	}
	fetch := tracefs.Event{Name: "fetch_" + unique, Sites: entry(2), Args: fetchedArgs(plan.Binary)}
	return []tracefs.Event{{Name: "entry_" + unique, Sites: entry(0)}, returns, fetch}
}

// seen fails if a call has not been counted, or not been delivered. There may be more
// of them: the same file may be running elsewhere.
func seen(ctx context.Context, session *tracefs.Session, events []tracefs.Event) error {
	profile, err := session.Profile()
	if err != nil {
		return err
	}
	var text bytes.Buffer
	buf := make([]byte, 64<<10)
	for i, e := range events {
		var hits uint64
		for _, n := range profile[i] {
			hits += n
		}
		for {
			delivered := bytes.Count(text.Bytes(), []byte(": "+e.Name+": (0x"))
			if hits >= trialCalls && delivered >= trialCalls {
				break
			}
			n, err := session.Read(ctx, buf)
			text.Write(buf[:n])
			if err != nil {
				return err
			}
			if n == 0 { // it has all been there before
				return fmt.Errorf("probe ftgo itself: of %d calls the kernel has counted %d and delivered %d", trialCalls, hits, delivered)
			}
		}
	}
	return nil
}
