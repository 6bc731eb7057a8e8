package trace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
)

// tell says, the first time, that the budget bites.
func (m *switcher) tell() {
	if m.bit || m.l.opt.Budget == 0 || !m.choice.Over() {
		return
	}
	m.bit = true
	rates := m.tooHot()
	var hot []int
	for i, rate := range rates {
		if rate > 0 {
			hot = append(hot, i)
		}
	}
	slices.SortStableFunc(hot, func(a, b int) int { return cmp.Compare(rates[b], rates[a]) })
	names := make([]string, len(hot))
	for at, i := range hot {
		names[at] = printable.Text(m.l.plan.Funcs[i].Name)
	}
	m.l.opt.Say("%s", bites(names, m.l.opt.Budget))
}

// bites tells that the budget does so for these functions, the hottest first. It begins with what has
// happened, because a screen may have room for the first words only, and names are long.
func bites(hot []string, budget float64) string {
	names := slices.Clone(hot[:min(len(hot), 3)])
	switch more := len(hot) - len(names); {
	case len(hot) == 0:
		names = append(names, "the runtime's functions")
	case more > 0:
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return fmt.Sprintf("probes take more than %s of the program's CPU time: calls are only counted, or not seen, for some of the time, those of %s (--budget 0 sets no limit)",
		percent(budget), strings.Join(names, ", "))
}

// percent is a share as text.
func percent(share float64) string { return fmt.Sprintf("%.4g%%", 100*share) }

// tooHot are the rates for which functions are below what they could be, 0 if they are not.
func (m *switcher) tooHot() []float64 {
	rates := make([]float64, len(m.l.plan.Funcs))
	for i := range rates {
		rates[i] = m.choice.Funcs[i].TooHot()
	}
	return rates
}

// wait has the time begin now that functions are seen in.
func (m *switcher) wait() {
	if m != nil {
		m.choice.Begin(m.l.from.At.Sub(m.began).Seconds())
		m.changes = 0
	}
}

// seen is how much of the time until a moment each function was seen in; nil if that was all there was
// to see.
func (m *switcher) seen(at time.Time) []stats.Seen {
	if !m.bit && m.l.plan.Later() == 0 {
		return nil
	}
	out := make([]stats.Seen, m.l.plan.Asked())
	for i := range out {
		out[i] = stats.Seen(m.choice.Funcs[i].Seen(at.Sub(m.began).Seconds()))
	}
	return out
}
