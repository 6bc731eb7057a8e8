package render

import (
	"fmt"
	"math"

	"github.com/ftgo/ftgo/internal/printable"
	"github.com/ftgo/ftgo/internal/stats"
	"github.com/ftgo/ftgo/internal/units"
)

// approxMark marks a latency that more was taken off than is left, rawMark those of a function of
// which all may be what probes cost.
const (
	approxMark = "≈"
	rawMark    = "<"
)

// correctionMark marks a statistic of a row's latencies, if what probes cost is most of it.
func correctionMark(row stats.Row, of func(*stats.Histogram) int64) string {
	switch b := row.Bounds; {
	case row.Raw:
		return rawMark
	case b != nil && of(&b.Raw)-of(row.Latency) > of(row.Latency):
		return approxMark
	}
	return ""
}

// howNet tells what was taken off latencies.
func (f *footer) howNet(rows []stats.Row) {
	var net, approx, raw bool
	for _, row := range rows {
		if row.Bounds == nil {
			continue
		}
		raw = raw || row.Raw
		net = net || !row.Raw
		for _, s := range stats.Statistics {
			approx = approx || correctionMark(row, s.Of) == approxMark
		}
	}
	f.line(net, "latencies are net of what probes cost, as far as that is known (-o json has bounds, --raw-latency leaves it in)")
	f.line(approx, "%s more was taken off than is left", approxMark)
	f.line(raw, "%s as seen, with what probes cost, which may be nearly all of it", rawMark)
}

// whatProbesCost tells what share of the program's time probes took.
func (f *footer) whatProbesCost(p *stats.Probing) {
	each := fmt.Sprintf("each hit %s, or %s where the kernel single-steps", nanoseconds(p.Emulated), nanoseconds(p.Stepped))
	switch {
	case p.NS == 0:
		f.line(true, "probes cost the program, here, %s", each)
		return
	case p.CPU == 0:
		f.line(true, "probes took about %s of the program's time (%s)", nanoseconds(p.NS), each)
	default:
		f.line(true, "probes took about %s of the program's CPU time, %s of %s (%s)",
			share(p.Share(p.NS)), nanoseconds(p.NS), nanoseconds(p.CPU), each)
	}
	f.line(len(p.Functions) > 0, "  those of %s",
		first(5, p.Functions, func(f stats.FunctionShare) string {
			return printable.Text(f.Function) + " " + share(f.Share)
		}))
	f.line(p.Others > 0, "other processes of the file are probed, too: it took about %s of their time", nanoseconds(p.Others))
}

func nanoseconds(ns float64) string { return units.Duration(int64(math.Round(ns))) }

// share writes a share of 1.
func share(of float64) string { return units.Percent(uint64(math.Round(of*1e6)), 1e6) }
