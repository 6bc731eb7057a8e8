package uprobe

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ftgo/ftgo/internal/histtext"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/offsets/arch"
	"github.com/ftgo/ftgo/tracefs"
)

// NewHistograms plans histograms of latencies that the kernel keeps itself, see Plan.Calls, of
// functions of a binary. Those whose calls the kernel can't tell apart by itself are in Skipped.
// progress, if not nil, is told how far it is.
//
// A call is known by its function, its goroutine's g and its depth: what is between SP and
// the end of the stack, which is the same at both ends of a call however deep the recursion,
// and stays the same when Go moves the stack. It is a difference of two fields, which the
// kernel takes for a key as it does a field. g is used, and not the goroutine's number,
// because it is used again: the kernel's table never forgets a key.
func NewHistograms(b *offsets.Binary, funcs []*offsets.Func, progress func(what string, done, of int)) (*Plan, error) {
	p := &Plan{Binary: b, Processor: b.Processor()}
	whole := histogramBinary(b)
	x := newFetcher(b)
	for _, r := range decodeAll(b, funcs, progress) {
		if r.err = cmp.Or(whole, r.err); r.err == nil {
			r.err = histogramFunc(x.conv.G, r.fn, r.sites)
		}
		if r.err != nil {
			p.Skipped = append(p.Skipped, Skipped{r.fn, r.err})
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
	err := histtext.CheckFuncs(len(p.Funcs))
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
	p.Events = p.callEvents(x, nonce)
	events := TraceEvents(p.Events)
	p.Calls = tracefs.CallEvents{Entry: events[0], Return: events[1], Func: "f", Key: []string{"g", "hi-sp"}, Funcs: len(p.Funcs)}
	if p.Events[0].Fields.Flags >= 0 {
		p.Calls.Filter = "!(" + p.Processor.Failed("fl") + ")"
	}
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
	case inRuntime(f):
		return fmt.Errorf("of package runtime: %s is not sure to be its goroutine", strings.ToUpper(string(g)))
	case s.Restarts:
		return errors.New("jumps back to its first instruction: that looks like another call")
	case len(s.CondTails) > 0:
		return errors.New("ends by a conditional jump, which the kernel can't tell from one not taken")
	}
	return nil
}

// passing are flags that say of a stack check that it has passed.
func passing(p arch.Processor) (flags uint64) {
	for bit := 0; bit < 64 && !p.Taken(p.Passed(), flags); bit++ {
		flags = 1 << bit
	}
	return flags
}

// callEvents are the event where calls begin and the one where they end. Where some begin at a stack check, flags
// are fetched, and, of those that begin elsewhere, such as tell of a call.
func (p *Plan) callEvents(x fetcher, nonce string) []Event {
	args := []tracefs.Arg{
		{Name: "f", Type: "u64"}, // a constant, another for each function
		{Name: "g", Fetch: x.conv.G.Fetch(), Type: "u64"},
		{Name: "sp", Fetch: x.machine.SP.Fetch(), Type: "u64"},
		{Name: "hi", Fetch: x.conv.G.At(x.stackHi), Type: "u64"},
	}
	events := []Event{{Name: "e0_" + nonce, Args: args, Fields: noFields}, {Name: "r1_" + nonce, Args: args, Fields: noFields}}
	if slices.ContainsFunc(p.Funcs, func(f Function) bool { return f.Sites.CheckOnly }) {
		events[0].Fields.Flags = len(args)
		events[0].Args = append(slices.Clone(args), tracefs.Arg{Name: "fl", Type: "u64"})
	}
	fixed := `\` + strconv.FormatUint(passing(p.Processor), 10)
	for i := range p.Funcs {
		s := p.Funcs[i].Sites
		begin, flags := s.Entry, fixed
		if s.CheckOnly {
			begin, flags = *s.Check, x.machine.Flags.Fetch()
		} else if s.Branch != nil && s.Branch.Cost().Emulated && !endsAt(s, *s.Branch) {
			begin = *s.Branch
		}
		for k, sites := range [][]offsets.Site{{begin}, slices.Concat(s.Returns, s.Tails)} {
			for _, site := range sites {
				fetch := []string{`\` + strconv.Itoa(i), args[1].Fetch, args[2].Fetch, args[3].Fetch, flags}[:len(events[k].Args)]
				events[k].Sites = append(events[k].Sites, Site{Addr: site.Addr(), Offset: site.Offset(), Func: i, Fetch: fetch})
			}
		}
	}
	return events
}
