package own

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/ftgo/ftgo/internal/trace"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/tracefs"
)

// trialCalls is how often each function is called.
const trialCalls = firstBatches * batchCalls

var errShared = fmt.Errorf("%w: this kernel records uprobes at the top level of tracefs alone, which everybody shares", ErrNotTried)

// Try arms probes on functions of ftgo, calls them, and sees that each hit is counted and
// delivered. It returns what a hit costs where calls begin, with an instruction that the kernel
// emulates, and with a RET, which it single-steps. It is the least that there is: another process
// beside it costs more.
func Try(ctx context.Context, fsys *tracefs.FS, funcs Functions, features tracefs.Features) (result trace.HitCost, err error) {
	if !features.Instances {
		return result, errShared
	}
	var events []tracefs.Event
	unprobed := funcs.timed(medianCall)
	session, _, err := funcs.probe(ctx, fsys, uprobe.Options{Features: features}, tracefs.Options{BufferKB: 1024, Features: &features},
		func(p *uprobe.Plan) []tracefs.Event {
			events = trialEvents(p, features)
			return events
		})
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	costs := funcs.timed(medianCall)
	for i := range costs {
		costs[i] = max(0, costs[i]-unprobed[i])
	}
	if err := seen(ctx, session, events); err != nil {
		return result, err
	}
	return trace.HitCost{Emulated: costs[0], Stepped: costs[1], Word: max(0, costs[2]-costs[0]) / fetchedWords}, nil
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
	fetch := tracefs.Event{Name: "fetch_" + unique, Sites: entry(2), Args: plan.Funcs[2].Values.Entry.Args}
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
	for buf, n := make([]byte, 64<<10), 1; n > 0; text.Write(buf[:n]) { // it has all been there before
		if n, err = session.Read(ctx, buf); err != nil {
			return err
		}
	}
	for i, e := range events {
		var hits uint64
		for _, n := range profile[i] {
			hits += n
		}
		if delivered := bytes.Count(text.Bytes(), []byte(": "+e.Name+": (0x")); hits < trialCalls || delivered < trialCalls {
			return fmt.Errorf("probe ftgo itself: of %d calls the kernel has counted %d and delivered %d", trialCalls, hits, delivered)
		}
	}
	return nil
}
