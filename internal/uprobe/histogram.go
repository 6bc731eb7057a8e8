package uprobe

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/tracefs"
)

// HistogramPlan is what to probe for the kernel to keep histograms of latencies itself.
//
// A call is known by its function, its goroutine's g and its depth: what is between SP and
// the end of the stack, which is the same at both ends of a call however deep the recursion,
// and stays the same when Go moves the stack. It is a difference of two fields, which the
// kernel takes for a key as it does a field. g is used, and not the goroutine's number,
// because it is used again: the kernel's table never forgets a key.
type HistogramPlan struct {
	Funcs   []Function
	Skipped []Skipped
	// Calls number functions by their index in Funcs.
	Calls  tracefs.CallEvents
	binary *offsets.Binary
}

// NewHistograms plans histograms of functions of a binary. Those whose calls the kernel
// can't tell apart by itself are in Skipped. decoded, if not nil, counts the functions that
// were decoded.
func NewHistograms(b *offsets.Binary, funcs []*offsets.Func, decoded *atomic.Int64) (*HistogramPlan, error) {
	p := &HistogramPlan{binary: b}
	whole := histogramBinary(b)
	x := newFetcher(b)
	for _, r := range decodeAll(b, funcs, decoded) {
		err := r.err
		switch {
		case whole != nil:
			err = whole
		case err == nil:
			err = histogramFunc(x.conv.G, r.fn, r.sites)
		}
		if err != nil {
			p.Skipped = append(p.Skipped, Skipped{r.fn, err})
			continue
		}
		p.Funcs = append(p.Funcs, Function{Func: r.fn, Sites: r.sites, Returns: len(r.sites.Returns)+len(r.sites.Tails) > 0})
	}
	if !slices.ContainsFunc(p.Funcs, func(f Function) bool { return f.Returns }) {
		for _, f := range p.Funcs {
			p.Skipped = append(p.Skipped, Skipped{f.Func, errors.New("never returns: ftgo count counts its calls")})
		}
		p.Funcs = nil
		return p, nil
	}
	p.Calls.Funcs = len(p.Funcs)
	err := p.Calls.Check()
	if err != nil {
		return nil, err
	}
	if x.goid, x.stackLo, x.stackHi, err = b.Layout(); err != nil {
		return nil, err
	}
	nonce, err := newNonce()
	if err != nil {
		return nil, err
	}
	p.Calls = p.events(x, nonce)
	return p, nil
}

// histogramBinary is why no function of a binary can have a histogram.
func histogramBinary(b *offsets.Binary) error {
	minor, version := b.GoVersion()
	switch {
	case minor == 0:
		return errors.New("not Go: nothing tells a call from others that is the same when it begins and when it ends")
	case b.Processor().Go(minor, false).G == "":
		return fmt.Errorf("built by %s: before Go 1.%d no register tells the goroutine where a call ends", version, b.Processor().Machine().FirstRegisters)
	}
	return nil
}

// histogramFunc is why a function can't.
func histogramFunc(g arch.Reg, f *offsets.Func, s *offsets.Sites) error {
	switch {
	case f.ABI != offsets.ABIInternal:
		return fmt.Errorf("assembly: %s is not sure to be its goroutine", strings.ToUpper(string(g)))
	case f.Package() == "runtime":
		return fmt.Errorf("of package runtime: %s is not sure to be its goroutine", strings.ToUpper(string(g)))
	case s.Restarts:
		return errors.New("jumps back to its first instruction: that looks like another call")
	case s.CheckOnly:
		return errors.New("begins by a conditional jump, which the kernel can't tell from one not taken")
	case len(s.CondTails) > 0:
		return errors.New("ends by a conditional jump, which the kernel can't tell from one not taken")
	}
	return nil
}

func (p *HistogramPlan) events(x fetcher, nonce string) tracefs.CallEvents {
	args := []tracefs.Arg{
		{Name: "f", Type: "u64"}, // a constant, another for each function
		{Name: "g", Fetch: x.conv.G.Fetch(), Type: "u64"},
		{Name: "sp", Fetch: x.machine.SP.Fetch(), Type: "u64"},
		{Name: "hi", Fetch: x.conv.G.At(x.stackHi), Type: "u64"},
	}
	entry := tracefs.Event{Name: "e0_" + nonce, Args: args}
	ret := tracefs.Event{Name: "r1_" + nonce, Args: args}
	for i := range p.Funcs {
		s := p.Funcs[i].Sites
		fetch := []string{`\` + strconv.Itoa(i), args[1].Fetch, args[2].Fetch, args[3].Fetch}
		begin := s.Entry
		if s.Branch != nil && s.Branch.Cost().Emulated && !endsAt(s, *s.Branch) {
			begin = *s.Branch
		}
		entry.Sites = append(entry.Sites, begin.Offset())
		entry.Fetch = append(entry.Fetch, fetch)
		for _, ends := range [][]offsets.Site{s.Returns, s.Tails} {
			for _, end := range ends {
				ret.Sites = append(ret.Sites, end.Offset())
				ret.Fetch = append(ret.Fetch, fetch)
			}
		}
	}
	return tracefs.CallEvents{Entry: entry, Return: ret, Func: "f", Key: []string{"g", "hi-sp"}, Funcs: len(p.Funcs)}
}

// Target is the file to probe: the one that was decoded, under whatever name.
func (p *HistogramPlan) Target() tracefs.Target {
	return tracefs.Target{Path: fmt.Sprintf("/proc/self/fd/%d", p.binary.File().Fd()), Unchanged: p.binary.File().Unchanged}
}

// Probes is the number of sites.
func (p *HistogramPlan) Probes() int { return len(p.Calls.Entry.Sites) + len(p.Calls.Return.Sites) }
