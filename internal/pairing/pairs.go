package pairing

import (
	"container/list"
	"hash/maphash"

	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/parse"
)

// pairs holds the calls of a pair: a call begins when one function is called, and ends when another function is called with
// the same value, on any goroutine of the process. See [uprobe.Options].To.
//
// A call that begins with the value of an open call ends that one with Outcome Unwound. If most calls are open, the earliest
// is Abandoned.
type pairs struct {
	open  map[pairKey]*list.Element
	order list.List // the open calls, as *pairCall, the earliest first
	most  int       // the largest number of open calls
	// ended says how the calls of a value have ended: true if they have arrived, false if they were abandoned. The values
	// are hashed, because they would take too much memory. latest holds the hashes in the order in which they were added,
	// from the index next on, once it is full.
	ended  map[uint64]bool
	latest []uint64
	next   int
	seed   maphash.Seed
	buf    []byte
	counts PairCounts
}

type pairKey struct {
	pid   int
	value string
}

type pairCall struct {
	Call
	key pairKey
}

// PairCounts counts the hits of a pair that belong to no call.
type PairCounts struct {
	Twice  uint64 // ends of calls that had ended before
	Before uint64 // ends of calls whose begin was not seen. They began before the window, or their begin was lost
	Late   uint64 // ends of calls that were abandoned
	Unread uint64 // begins and ends with an unknown value
	// Outdated: so many calls have ended that the first of them are forgotten. If such a call ends twice, it counts in Before.
	Outdated bool
}

// maxPairs is the largest number of open calls of pairs. They take some 250 MB, if their values are short.
const maxPairs = 1 << 19

// maxEnded is the number of values in pairs.ended. They take some 40 MB.
const maxEnded = 1 << 20

func newPairs() *pairs {
	return &pairs{most: maxPairs, open: make(map[pairKey]*list.Element), ended: make(map[uint64]bool), seed: maphash.MakeSeed()}
}

// key returns the key of a call, by the values of one of its ends. ok is false, and the end is counted, if they are unknown.
func (s *pairs) key(c *Call, of func(*Call, []byte) ([]byte, bool)) (k pairKey, ok bool) {
	if s.buf, ok = of(c, s.buf[:0]); !ok {
		s.counts.Unread++
	}
	return pairKey{c.PID, string(s.buf)}, ok
}

// note notes in ended how a call has ended.
func (s *pairs) note(key pairKey, arrived bool) {
	hash := maphash.Comparable(s.seed, key)
	_, known := s.ended[hash]
	s.ended[hash] = arrived
	switch {
	case known:
	case len(s.latest) < maxEnded:
		s.latest = append(s.latest, hash)
	default:
		delete(s.ended, s.latest[s.next])
		s.latest[s.next], s.counts.Outdated = hash, true
		s.next = (s.next + 1) % maxEnded
	}
}

// depart handles a hit that begins a call of a pair.
func (p *Stream) depart(ev *parse.Event, f *uprobe.Fields, fn int) {
	c := &pairCall{Call: Call{
		Func: fn, PID: ev.PID, TID: ev.TID, CPU: ev.CPU, Bias: p.loadBias, Start: ev.Time, SP: ev.Args[f.SP],
	}}
	if where, depth := p.locate(ev, f); !where.isThread {
		if c.StackHi = c.SP + depth; f.Goid >= 0 {
			c.Goid = ev.Args[f.Goid]
		}
	}
	c.Stack, c.Args = p.fetched(ev, f, nil)
	var ok bool
	if c.key, ok = p.pairs.key(&c.Call, p.opt.Key); !ok {
		p.account.noCall(fn)
		return
	}
	p.account.call(fn)
	if again := p.pairs.open[c.key]; again != nil {
		p.endPair(again, Unwound, ev.Time)
	}
	if len(p.pairs.open) >= p.pairs.most {
		oldest := p.pairs.order.Front()
		p.pairs.note(oldest.Value.(*pairCall).key, false)
		p.endPair(oldest, Abandoned, 0)
	}
	p.begun++
	c.ID, c.Root = p.begun, p.begun
	c.Hits.add(1, p.site, p.words, p.faults)
	p.pairs.open[c.key] = p.pairs.order.PushBack(c)
}

// arrive handles a hit that ends a call of a pair.
func (p *Stream) arrive(ev *parse.Event, f *uprobe.Fields, fn int) {
	s := p.pairs
	end := Call{Func: fn, PID: ev.PID, Bias: p.loadBias, SP: ev.Args[f.SP], Results: ev.Args[f.Values:]}
	key, ok := s.key(&end, p.opt.Key)
	if !ok {
		return
	}
	arrived, ended := s.ended[maphash.Comparable(s.seed, key)]
	s.note(key, true)
	switch begun := s.open[key]; {
	case begun != nil:
		begun.Value.(*pairCall).Results = end.Results
		p.endPair(begun, Returned, ev.Time)
	case arrived:
		s.counts.Twice++
	case ended:
		s.counts.Late++
	default:
		s.counts.Before++
	}
}

// endPair ends a call of a pair.
func (p *Stream) endPair(begun *list.Element, how Outcome, at uint64) {
	c := begun.Value.(*pairCall)
	p.pairs.order.Remove(begun)
	delete(p.pairs.open, c.key)
	if c.Outcome, c.End = how, at; p.opt.Keep != nil && !p.opt.Keep(&c.Call) {
		a := &p.account.funcs[c.Func]
		a.Timed, a.Calls = a.Timed-1, a.Calls-1
		p.account.noCall(c.Func)
		return
	}
	if p.emitEnded(&c.Call); how != Open {
		p.countDone(at)
	}
}

// leavePairs ends the open calls of pairs in the processes for which of returns true, with Outcome Open.
func (p *Stream) leavePairs(of func(pid int) bool) {
	if p.pairs == nil {
		return
	}
	for begun, next := p.pairs.order.Front(), (*list.Element)(nil); begun != nil; begun = next {
		if next = begun.Next(); of(begun.Value.(*pairCall).PID) {
			p.endPair(begun, Open, 0)
		}
	}
}
