package session

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/cli"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/compare"
	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/stats"
)

// Diff is the command diff.
type Diff struct {
	*Options
	sides [2][]string // the files of OLD and of NEW
	by    []compare.Aspect
	fail  bool
	top   int
}

// alpha is the limit for the share of unchanged functions that are reported as changed.
const alpha = 0.01

// Define defines the flags that only diff has.
func (d *Diff) Define(fs *cli.Flags) {
	d.by = []compare.Aspect{compare.Calls, compare.Errors, compare.Latency, compare.Tail}
	cli.Define(fs, &d.by, "compare", "", "compare only `ASPECTS`: calls, errors, latency, tail", cli.Form[[]compare.Aspect]{Read: readAspects})
	fs.IntVarP(&d.top, "top", "t", 0, "show only the first `N` functions")
	fs.BoolVar(&d.fail, "fail", false, "exit with status 6 if any function has changed")
}

// ReadArgs reads OLD... -- NEW..., or OLD NEW.
func (d *Diff) ReadArgs(_ string, words, behind []string) error {
	if behind == nil && len(words) == 2 {
		words, behind = words[:1], words[1:]
	}
	if len(words) == 0 || len(behind) == 0 {
		return cli.Usage("diff: takes OLD... -- NEW..., or OLD NEW (see ftgo diff -h)")
	}
	d.sides = [2][]string{words, behind}
	return nil
}

// Run compares the files.
func (d *Diff) Run(ctx context.Context) (err error) {
	result := compare.Compared{Alpha: alpha}
	for i, names := range d.sides {
		if result.Sides[i], err = d.readRuns(ctx, names); err != nil {
			return err
		}
		sum, err := compare.Merge(result.Sides[i], false)
		if err != nil {
			return err
		}
		result.AsSeen = result.AsSeen || sum.RawLatencies
	}
	limit := result.Alpha
	if result.TooFew() {
		limit = -1 // one run a side does not show how much runs differ by themselves
	}
	result.Functions = compare.Compare(alignFunctions(result.Sides, result.AsSeen), d.by, limit)
	if err := d.Write(d.Env, slices.Concat(d.sides[:]...), func(out io.Writer) error { return d.write(out, &result) }); err != nil {
		return err
	}
	// With one run on each side, no function counts as changed, and --fail has no effect. So warn even with --quiet if --fail
	// is given.
	if result.TooFew() && (d.fail || !d.Env.Quiet) {
		d.Env.Warn("one run a side is too few to call anything changed, because runs differ by themselves: give three or more, ftgo diff OLD... -- NEW...")
	}
	if _, changed := result.Numbers(); d.fail && changed > 0 {
		return cli.WithStatus(cli.ExitFailIf, fmt.Errorf("%d of %d functions changed (--fail), first %s", changed, len(result.Functions), result.Functions[0].Name))
	}
	return nil
}

// write writes the rows of a comparison to out. --top limits the number of rows. Then write writes the summary: with -o
// json as the last object to out, otherwise as text to stderr. With --quiet, it writes no text to stderr.
func (d *Diff) write(out io.Writer, result *compare.Compared) error {
	shown := result.Functions
	if d.top > 0 {
		shown = shown[:min(d.top, len(shown))]
	}
	if err := compare.Difference(out, shown, d.StyleFor(out)); err != nil {
		return err
	}
	switch {
	case d.Format == render.JSON:
		return result.JSON(out)
	case d.Env.Quiet:
		return nil
	}
	return result.Footer(d.Stderr)
}

// alignFunctions returns the functions of both sides, with the numbers of each run. If a run probed a function but
// contains no row for it, the program did not call the function in this run, and the numbers are 0. If a run did not probe
// a function, the function gets no numbers of this run. The same applies to a run that only estimates the function's
// calls, because it counted 0 of them.
func alignFunctions(runs [2][]*compare.Run, asSeen bool) (all []compare.Function) {
	names := make(map[string]bool)
	for _, r := range slices.Concat(runs[0], runs[1]) {
		for i := range r.Funcs {
			names[r.Funcs[i].Name] = true
		}
	}
	for name := range names {
		all = append(all, compare.Function{Name: name})
	}
	for side := range runs {
		for _, r := range runs[side] {
			seen, skipped := make(map[string]*stats.Func), make(map[string]bool)
			for _, s := range r.Skipped {
				skipped[s.Function] = true
			}
			for i := range r.Funcs {
				f := &r.Funcs[i]
				if f.Estimate != nil && f.Calls == 0 {
					skipped[f.Name] = true
					continue
				}
				if seen[f.Name] == nil {
					seen[f.Name] = &stats.Func{}
				}
				seen[f.Name].Add(comparedCounts(f, asSeen)) // a run may have a row for each process
			}
			for i := range all {
				p := &all[i]
				if f := seen[p.Name]; f != nil || !skipped[p.Name] {
					p.Side[side] = append(p.Side[side], cmp.Or(f, &stats.Func{}).Over(r.Seconds))
				}
			}
		}
	}
	return all
}

// comparedCounts returns the numbers of a function that diff compares. If asSeen is true, the latencies include the
// cost of probes.
func comparedCounts(f *stats.Func, asSeen bool) *stats.Func {
	o := &stats.Func{
		Calls: uint64(f.Number()), Completed: f.Completed, Errors: f.Errors, ReturnsErrors: f.ReturnsErrors, Latency: f.Latency, Bounds: f.Bounds,
	}
	if asSeen {
		o.Latency, o.Bounds = f.RawLatency(), nil
	}
	return o
}

func readAspects(text string) (by []compare.Aspect, err error) {
	for name := range strings.SplitSeq(text, ",") {
		i := slices.Index(compare.Names[:], name)
		if i < 0 {
			return nil, fmt.Errorf("parse aspect %q: not %s", name, strings.Join(compare.Names[:], ", "))
		}
		if !slices.Contains(by, compare.Aspect(i)) {
			by = append(by, compare.Aspect(i))
		}
	}
	return by, nil
}
