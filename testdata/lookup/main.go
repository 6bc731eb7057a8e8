// Command lookup looks up keys in a table: N of them, and two more from main.twice, of
// which tests know the arguments and results. It counts in package variables.
//
// With -of K the keys are K, some of them taken more often than others. It waits for a line of its input
// before each 10,000 calls, and prints how often it has taken each key.
//
// Usage: lookup [-n N] [-of K]
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"os"
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

// skewed looks up n keys of so many. Each is taken, and those with small numbers most.
func skewed(n, of int) error {
	often := rand.NewZipf(rand.New(rand.NewSource(1)), 1.05, 1, uint64(of-1))
	taken := make(map[string]int)
	in := bufio.NewReader(os.Stdin)
	for i := 0; i < n; i++ {
		if i%10000 == 0 {
			fmt.Println("more?")
			if _, err := in.ReadString('\n'); err != nil {
				return err
			}
		}
		k := often.Uint64()
		if i%(n/of) == 0 {
			k = uint64(i / (n / of))
		}
		key := fmt.Sprint("key-", k)
		taken[key]++
		lookup(key, 1000)
	}
	return json.NewEncoder(os.Stdout).Encode(taken)
}

func main() {
	n := flag.Int("n", 1007, "look up so many keys")
	of := flag.Int("of", 0, "look up N keys of so many, and say how often each")
	flag.Parse()
	cfg.limit = &cfg.Limits.Max
	if *of > 0 {
		if err := skewed(*n, *of); err != nil {
			fmt.Fprintln(os.Stderr, "lookup:", err)
			os.Exit(1)
		}
		return
	}
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
