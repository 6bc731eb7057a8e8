package view

import (
	"testing"
	"time"
)

func TestSlowTrees(t *testing.T) {
	for _, c := range []struct {
		name         string
		slow         time.Duration
		limit, total int
		play, want   string
	}{
		{"those that took longer", 3 * time.Microsecond, 100, 100, "a b . . c d e . . . f . ", `
goroutine 1  00:00:00.000005  thread 10
  5.00µs   100%  c()
  3.00µs    60%    d()
  1.00µs    20%      e()
`},
		{"with their goroutines", 3 * time.Microsecond, 100, 100, "a >2 2:x . 2:. 2:~ c >3 d 3:y . 3:z . 3:. 3:. 3:~", `
goroutine 1  00:00:00.000007  thread 10
  6.00µs   100%  c()
  2.00µs    33%    d()
  5.00µs    83%    goroutine 3  y()  outlived c by 2.00µs
  2.00µs    33%      z()
`},
		{"what outlives a fast one", 9 * time.Microsecond, 100, 100, "a >2 2:x 2:y 2:. . 1s 2:. 2:~", `
goroutine 2  00:00:00.000003  thread 11  started by a of goroutine 1, which it has outlived
   1.00s   100%  x()
  1.00µs <0.01%    y()
`},
		{"what outlives a slow one", 3 * time.Microsecond, 100, 100, "a >2 2:x 2:y 2:. . 1s 2:z 2:. 2:. 2:~", `
goroutine 1  00:00:00.000001  thread 10
  5.00µs   100%  a()
       -      -    goroutine 2  x(…) = open
  1.00µs    20%      y()
       …      -    goroutine 2  goes on after a
goroutine 2  00:00:00.000003  thread 11  started by a of goroutine 1, which it has outlived  continued
   1.00s   100%  x()
  1.00µs <0.01%    z()
`},
		{"unwound", 3 * time.Microsecond, 100, 100, "a b . b . !", `
goroutine 1  00:00:00.000001  thread 10
       -      -  a() = unwound
  1.00µs      -    b()
  1.00µs      -    b()
`},
		{"unseen", 3 * time.Microsecond, 100, 100, "a b . b . ? a b ? b . .", `
goroutine 1  00:00:00.000007  thread 10
  5.00µs   100%  a()
       -      -    b() = lost
  1.00µs    20%    b()
`},
		{"no room in the tree", 3 * time.Microsecond, 3, 100, "a b . c . d e . . f . .", `
goroutine 1  00:00:00.000001  thread 10
  11.0µs   100%  a()
  1.00µs  9.09%    b()
  1.00µs  9.09%    c()
       …      -  3 lines left out, as there was no room for more
`},
		{"no room at all", 3 * time.Microsecond, 100, 3, "a b c 2:x . . . 2:y 2:. 2:.", `
goroutine 1  00:00:00.000001  thread 10
  6.00µs   100%  a()
  4.00µs    66%    b()
  2.00µs    33%      c()
goroutine 2  00:00:00.000004  thread 11
       …      -  2 lines left out, as there was no room for more
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			trees := newForest(0, nil)
			trees.slow, trees.limit, trees.total = c.slow, c.limit, c.total
			grown(t, trees, c.play, c.want)
		})
	}
}
