package view

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ftgo/ftgo/cmd/ftgo/internal/render"
	"github.com/ftgo/ftgo/internal/pairing"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// grow passes the events of a program to the trees, one for each word of play. "f" begins a call of f, "." ends the
// innermost call, "!" unwinds it, "-" ends it without passing the filters, and "?" abandons it. ">2" starts goroutine 2,
// "~" ends the goroutine, and "^" ends the process. A word is for goroutine 1, or goroutine 2 with the prefix "2:". A word
// takes 1 µs, but "1s" takes a second.
func grow(t *testing.T, trees *forest, play string) {
	t.Helper()
	now, id := uint64(0), uint64(0)
	at := func(us uint64) time.Time { return time.Unix(0, int64(us)*1000).UTC() }
	stacks := make(map[uint64][]pairing.Call)
	for word := range strings.FieldsSeq(play) {
		goid := uint64(1)
		if prefix, rest, other := strings.Cut(word, ":"); other {
			fmt.Sscan(prefix, &goid)
			word = rest
		}
		now++
		if word == "1s" {
			now += 1_000_000
			fixture.NoError(t, trees.writeDue(at(now)))
			continue
		}
		if word == "^" {
			fixture.NoError(t, trees.processEnded(0))
			continue
		}
		if strings.ContainsAny(word[:1], ">~") {
			g := &pairing.Goroutine{Goid: goid, Ended: word == "~"}
			if !g.Ended {
				stack := stacks[goid]
				fmt.Sscan(word[1:], &g.Goid)
				g.From = stack[len(stack)-1].ID
			}
			fixture.NoError(t, trees.goroutine(g, at(now)))
			continue
		}
		shown := render.Line{Thread: render.Thread{Goid: goid, TID: int(9 + goid)}, Time: at(now)}
		stack := stacks[goid]
		if strings.ContainsAny(word[:1], ".!-?") {
			c := stack[len(stack)-1]
			stacks[goid] = stack[:len(stack)-1]
			shown.Function, shown.End, shown.NS = string(rune(c.Func)), "return", int64(now-c.Start)*1000
			shown.Time = at(c.Start)
			line := &shown
			switch word {
			case "!":
				shown.End = "unwound"
			case "-":
				line = nil
			case "?":
				c.Outcome, shown.End = pairing.Abandoned, "lost"
			}
			fixture.NoError(t, trees.end(&c, line, at(now)))
			continue
		}
		id++
		c := pairing.Call{ID: id, Func: int(word[0]), Goid: goid, TID: int(9 + goid), Start: now, Depth: len(stack)}
		stacks[goid] = append(stack, c)
		fixture.NoError(t, trees.begin(&c, word, shown.Time))
	}
}

func TestCallTrees(t *testing.T) {
	var all strings.Builder
	for _, c := range []struct {
		name                      string
		depth, limit, slow, total int // slow is in µs
		play                      string
	}{
		{"nested", 0, 100, 0, maxTrees, "a b c . . d . ."},
		{"goroutines apart", 0, 100, 0, maxTrees, "a 2:x b 2:y . 2:. . 2:."},
		{"unwound", 0, 100, 0, maxTrees, "a b c ! ! d . ."},
		{"unwound root", 0, 100, 0, maxTrees, "a b . !"},
		{"unwanted between", 0, 100, 0, maxTrees, "a b c . - ."},
		{"nothing wanted", 0, 100, 0, maxTrees, "a b - -"},
		{"levels", 2, 100, 0, maxTrees, "a b c . . ."},
		{"in parts", 0, 4, 0, maxTrees, "a b . c . d e . . ."},
		{"deeper than a part", 0, 2, 0, maxTrees, "a b c d . . . ."},
		{"a goroutine below its call", 0, 100, 0, maxTrees, "a b >2 c 2:x . . 2:. 2:~ ."},
		{"its outermost calls, and what it calls", 0, 100, 0, maxTrees, "a >2 2:x 2:y . 2:. 2:. 2:z 2:. 2:~"},
		{"one that starts another", 0, 100, 0, maxTrees, "a >2 2:x 2:>3 3:y 3:. 3:~ 2:. 2:~ ."},
		{"trees in the order of their ends", 0, 100, 0, maxTrees, "a >2 3:b 2:x . 3:. 2:. 2:~"},
		{"it goes on", 0, 100, 0, maxTrees, "a >2 2:x 2:y 2:. . 1s 2:z 2:. 2:. 2:w 2:. 2:~"},
		{"it goes on without a call", 0, 100, 0, maxTrees, "a >2 . 1s 2:w 2:>3 3:x 3:. 3:~ 2:. 2:~"},
		{"too deep", 1, 100, 0, maxTrees, "a >2 2:x 2:>3 3:y 3:. 3:~ 2:. 2:~ ."},
		{"unwanted between goroutines", 0, 100, 0, maxTrees, "a b >2 2:x 2:. 2:~ - ."},
		{"goroutines in parts", 0, 4, 0, maxTrees, "a b >2 . c . 2:x 2:y 2:. 2:. 2:~ ."},
		{"its process ends", 0, 100, 0, maxTrees, "a >2 2:x 2:. . ^"},
		{"those that took longer", 0, 100, 3, 100, "a b . . c d e . . . f . "},
		{"with their goroutines", 0, 100, 3, 100, "a >2 2:x . 2:. 2:~ c >3 d 3:y . 3:z . 3:. 3:. 3:~"},
		{"what outlives a fast one", 0, 100, 9, 100, "a >2 2:x 2:y 2:. . 1s 2:. 2:~"},
		{"what outlives a slow one", 0, 100, 3, 100, "a >2 2:x 2:y 2:. . 1s 2:z 2:. 2:. 2:~"},
		{"unwound", 0, 100, 3, 100, "a b . b . !"},
		{"unseen", 0, 100, 3, 100, "a b . b . ? a b ? b . ."},
		{"no room in the tree", 0, 3, 3, 100, "a b . c . d e . . f . ."},
		{"no room at all", 0, 100, 3, 3, "a b c 2:x . . . 2:y 2:. 2:."},
	} {
		trees := newForest(c.depth, render.NewCallWriter(&all, render.LineOptions{}).Tree)
		trees.limit, trees.slow, trees.total = c.limit, time.Duration(c.slow)*time.Microsecond, c.total
		fmt.Fprintf(&all, "=== %s: %s\n", c.name, c.play)
		grow(t, trees, c.play)
		if len(trees.tracks)+len(trees.calls)+trees.open+trees.lines+len(trees.ended) != 0 {
			t.Errorf("%s: %d goroutines, %d calls, %d lines remain", c.name, len(trees.tracks), len(trees.calls), trees.lines)
		}
	}
	fixture.Golden(t, "testdata/trees.txt", all.String())
}

// TestRandomCallTrees checks with random events that each ended call is written once and at most one level below the line
// before it, and that the trees keep nothing.
func TestRandomCallTrees(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var trees *forest
		shown, now := make(map[string]int), time.Unix(0, 0)
		trees = newForest(int(seed%4)*2, func(tree *render.Tree) error {
			for i, l := range tree.Lines {
				if i > 0 && l.Level > tree.Lines[i-1].Level+1 {
					t.Errorf("seed %d: level %d below %d", seed, l.Level, tree.Lines[i-1].Level)
				}
				if l.End != "" && l.End != "open" {
					shown[l.Function]++
				}
				if l.Event != "" {
					shown[l.Event]++
				}
			}
			return nil
		})
		if trees.limit = 5 + int(seed%7); seed%3 == 2 {
			trees.slow, trees.total = 20*time.Millisecond, 20
		}
		stacks, lives := make(map[uint64][]pairing.Call), []uint64{1, 2}
		id, goid, begun := uint64(0), uint64(2), 0
		end := func(g uint64) {
			stack := stacks[g]
			c := stack[len(stack)-1]
			stacks[g] = stack[:len(stack)-1]
			line := &render.Line{Function: fmt.Sprint(c.ID), End: "return", Time: now}
			fixture.NoError(t, trees.end(&c, line, now))
		}
		for range 400 {
			if now = now.Add(time.Millisecond); r.IntN(50) == 0 {
				now = now.Add(time.Second)
			}
			g := lives[r.IntN(len(lives))]
			depth := len(stacks[g])
			switch event := r.IntN(10); {
			case event < 4 && depth < 8:
				id++
				c := pairing.Call{ID: id, Goid: g, Depth: depth}
				if stacks[g] = append(stacks[g], c); trees.depth == 0 {
					begun++
				}
				fixture.NoError(t, trees.begin(&c, fmt.Sprint(id), now))
			case event < 7 && depth > 0:
				end(g)
			case event == 7:
				line := &render.Line{Event: fmt.Sprint("event ", now), Thread: render.Thread{Goid: g}}
				taken, err := trees.kernelEvent(line, true)
				if err != nil || taken != (depth > 0) {
					t.Fatalf("seed %d: an event in %d calls is taken: %v, %v", seed, depth, taken, err)
				}
				if taken && trees.slow == 0 && trees.depth == 0 {
					begun++
				}
			case event == 8 && depth > 0:
				goid++
				lives = append(lives, goid)
				fixture.NoError(t, trees.goroutine(&pairing.Goroutine{Goid: goid, From: stacks[g][depth-1].ID}, now))
			case depth == 0 && len(lives) > 1:
				lives = slices.DeleteFunc(lives, func(l uint64) bool { return l == g })
				fixture.NoError(t, trees.goroutine(&pairing.Goroutine{Goid: g, Ended: true}, now))
			}
		}
		for _, g := range lives {
			for len(stacks[g]) > 0 {
				end(g)
			}
		}
		fixture.NoError(t, trees.writeEnded())
		for _, g := range lives {
			fixture.NoError(t, trees.goroutine(&pairing.Goroutine{Goid: g, Ended: true}, now))
		}
		for of, n := range shown {
			if n != 1 {
				t.Errorf("seed %d: call %s is there %d times", seed, of, n)
			}
		}
		if trees.depth == 0 && trees.slow == 0 && len(shown) != begun {
			t.Errorf("seed %d: %d of %d calls", seed, len(shown), begun)
		}
		if len(trees.tracks)+len(trees.calls)+trees.open+trees.lines != 0 {
			t.Errorf("seed %d: %d goroutines, %d calls, %d open, %d lines remain", seed, len(trees.tracks), len(trees.calls), trees.open, trees.lines)
		}
	}
}

// TestCallTreesAreBounded checks that a call that never ends does not keep all ended calls below it in memory.
func TestCallTreesAreBounded(t *testing.T) {
	most, parts := 0, 0
	trees := newForest(0, nil)
	trees.write = func(tree *render.Tree) error {
		most, parts = max(most, len(tree.Lines)), parts+1
		return nil
	}
	grow(t, trees, "a"+strings.Repeat(" b . c d . .", 20_000))
	if most != maxTree || trees.lines > maxTree || parts < 5 {
		t.Errorf("%d parts of at most %d lines, %d still held", parts, most, trees.lines)
	}
	if got := fmt.Sprint(trees.open); got != "1" {
		t.Errorf("%s calls are open", got)
	}
}
