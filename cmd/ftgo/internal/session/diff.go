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
	sides [2][]string // files
	by    []compare.Aspect
	fail  bool
	top   int
}

// alpha is the share of unchanged functions that may be called changed.
const alpha = 0.01

// NewDiff is without any flag.
func NewDiff(e *cli.Env) *Diff {
	d := &Diff{Options: NewOptions(e)}
	d.Signatures = true
	return d
}

// Define defines the flags of diff alone.
func (d *Diff) Define(fs *cli.Flags) {
	d.by = []compare.Aspect{compare.Calls, compare.Errors, compare.Latency, compare.Tail}
	cli.Define(fs, &d.by, "compare", "", "compare only `ASPECTS`: calls, errors, latency, tail", cli.Form[[]compare.Aspect]{Read: readAspects})
	fs.IntVarP(&d.top, "top", "t", 0, "show only the first `N` functions")
	fs.BoolVar(&d.fail, "fail", false, "exit with status 6 if any function has changed")
}

// Files are the arguments: OLD... -- NEW..., or just two.
func (d *Diff) Files(_ string, words, behind []string) error {
	if behind == nil && len(words) == 2 {
		words, behind = words[:1], words[1:]
	}
	if len(words) == 0 || len(behind) == 0 {
		return cli.Usage("diff: takes OLD... -- NEW..., or OLD NEW (see ftgo diff -h)")
	}
	d.sides = [2][]string{words, behind}
	return onceStdin(slices.Concat(words, behind))
}

// Run is diff, once its arguments are read.
func (d *Diff) Run(ctx context.Context) (err error) {
	whole := compare.Compared{Alpha: alpha}
	for i, names := range d.sides {
		if whole.Sides[i], err = d.runs(ctx, names); err != nil {
			return err
		}
		sum, err := compare.Merge(whole.Sides[i], false)
		if err != nil {
			return err
		}
		whole.AsSeen = whole.AsSeen || sum.AsSeen
	}
	rows := compare.Compare(functions(whole.Sides, whole.AsSeen), d.by, alpha)
	whole.Functions = rows
	if whole.TooFew() {
		compare.Doubt(rows)
	}
	if err := d.Write(d.Env, slices.Concat(d.sides[:]...), func(out io.Writer) error { return d.write(out, &whole) }); err != nil {
		return err
	}
	if whole.TooFew() && (d.fail || !d.Env.Quiet) { // a script that asks for the status never gets any but 0
		d.Env.Warn("one run a side is too few to call anything changed, because runs differ by themselves: give three or more, ftgo diff OLD... -- NEW...")
	}
	if _, changed := whole.Numbers(); d.fail && changed > 0 {
		return cli.WithStatus(cli.ExitFailIf, fmt.Errorf("%d of %d functions changed (--fail), first %s", changed, len(rows), rows[0].Name))
	}
	return nil
}

// write writes a comparison: the first rows, and how far it can be trusted.
func (d *Diff) write(out io.Writer, whole *compare.Compared) error {
	shown := whole.Functions
	if d.top > 0 {
		shown = shown[:min(d.top, len(shown))]
	}
	if err := compare.Difference(out, shown, render.Options{Format: d.Format, Width: cli.Width(out), FullNames: d.Full}); err != nil {
		return err
	}
	switch {
	case d.Format == render.JSON:
		return whole.JSON(out)
	case d.Env.Quiet:
		return nil
	}
	return whole.Footer(d.Stderr)
}

// functions are those of both sides. A run has no row of one that it has seen no call of; of one that
// it did not probe it tells nothing.
func functions(runs [2][]*compare.Run, asSeen bool) (all []compare.Function) {
	known := make(map[string]bool)
	for _, r := range slices.Concat(runs[0], runs[1]) {
		for i := range r.Funcs {
			if name := r.Funcs[i].Name; !known[name] {
				known[name] = true
				all = append(all, compare.Function{Name: name})
			}
		}
	}
	for side := range runs {
		for _, r := range runs[side] {
			seen, skipped := make(map[string]*stats.Func), make(map[string]bool)
			for _, s := range r.Skipped {
				skipped[s.Function] = true
			}
			for i := range r.Funcs {
				f := &r.Funcs[i]
				if f.Whole != nil && f.Calls == 0 {
					skipped[f.Name] = true
					continue
				}
				if seen[f.Name] == nil {
					seen[f.Name] = &stats.Func{}
				}
				seen[f.Name].Add(observed(f, asSeen)) // there may be several, of each process
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

// observed is what is compared of a function, with latencies as they were seen if those of any are.
func observed(f *stats.Func, asSeen bool) *stats.Func {
	o := &stats.Func{
		Calls: uint64(f.Number()), Completed: f.Completed, Errors: f.Errors, ReturnsErrors: f.ReturnsErrors, Latency: f.Latency, Bounds: f.Bounds,
	}
	if asSeen {
		o.Latency, o.Bounds = f.Seen(), nil
	}
	return o
}

// readAspects reads a list of names.
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
