package render

import (
	"fmt"
	"math"
	"strings"

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
func correctionMark(row stats.Row, of func(stats.Latencies) int64) string {
	switch b := row.Bounds; {
	case row.Raw:
		return rawMark
	case b != nil && of(&b.Raw)-of(row.Latency) > of(row.Latency):
		return approxMark
	}
	return ""
}

// howNet tells what was taken off latencies.
func howNet(line func(format string, args ...any), rows []stats.Row) {
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
	if net {
		line("latencies are net of what probes cost, as far as that is known (-o json has bounds, --raw-latency leaves it in)")
	}
	if approx {
		line("%s more was taken off than is left", approxMark)
	}
	if raw {
		line("%s as seen, with what probes cost, which may be nearly all of it", rawMark)
	}
}

// maxShares is how many functions the footer names whose probes cost much.
const maxShares = 5

// whatProbesCost tells what share of the program's time probes took.
func whatProbesCost(line func(format string, args ...any), s stats.Summary) {
	p := s.Probing
	if p == nil {
		return
	}
	each := fmt.Sprintf("each hit %s, or %s where the kernel single-steps", nanoseconds(p.Emulated), nanoseconds(p.Stepped))
	if p.NS == 0 {
		line("probes cost the program, here, %s", each)
		return
	}
	if p.CPU == 0 {
		line("probes took about %s of the program's time (%s)", nanoseconds(p.NS), each)
	} else {
		line("probes took about %s of the program's CPU time, %s of %s (%s)", share(p.Share(p.NS)), nanoseconds(p.NS), nanoseconds(p.CPU), each)
	}
	if len(p.Functions) > 0 {
		var names []string
		for _, f := range p.Functions[:min(len(p.Functions), maxShares)] {
			names = append(names, printable.Text(f.Function)+" "+share(f.Share))
		}
		if more := len(p.Functions) - maxShares; more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		line("  those of %s", strings.Join(names, ", "))
	}
	if p.Others > 0 {
		line("other processes of the file are probed, too: it took about %s of their time", nanoseconds(p.Others))
	}
}

func nanoseconds(ns float64) string { return units.Duration(int64(math.Round(ns))) }

// share writes a share of 1.
func share(of float64) string { return units.Percent(uint64(math.Round(of*1e6)), 1e6) }
