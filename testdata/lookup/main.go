// Command lookup looks up keys in a table: N of them, and two more from main.twice, of
// which tests know the arguments and results. It counts in package variables.
//
// Usage: lookup [-n N]
package main

import (
	"errors"
	"flag"
	"fmt"
	"time"
)

type limits struct{ Max, Min int }

var (
	counter int
	cfg     = config{limits{100, 1}, "seven", nil}
	last    []int
)

type config struct {
	Limits limits
	name   string
	limit  *int
}

var errNoKey = errors.New("no such key")

//go:noinline
func lookup(key string, n int) (value string, found bool, err error) {
	counter++
	*cfg.limit++
	last = []int{n}
	if n > 999 {
		return "", false, errNoKey
	}
	return fmt.Sprint("value-", n), true, nil
}

//go:noinline
func twice(key string) int {
	a, _, _ := lookup(key, 500)
	b, _, _ := lookup(key, 501)
	return len(a) + len(b) + len(cfg.name)
}

// never is not called.
//
//go:noinline
func never(key string) int {
	a, _, _ := lookup(key, -1)
	return len(a)
}

func main() {
	n := flag.Int("n", 1007, "look up so many keys")
	flag.Parse()
	cfg.limit = &cfg.Limits.Max
	for i := 0; i < *n; i++ {
		key := fmt.Sprint("key-", i)
		if i == 1<<40 {
			never(key)
		}
		lookup(key, i)
	}
	twice("twice")
	time.Sleep(100 * time.Millisecond) // for what is left in memory to be looked at
}
