// Command skewed looks up so many keys, some of them far more often than others. It waits for a line of its
// input before each 10,000 calls, and prints how often it has taken each key.
//
// Usage: skewed [-n N] [-of K]
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
)

//go:noinline
func lookup(key string, n int) int { return len(key) * n }

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
		lookup(key, i)
	}
	return json.NewEncoder(os.Stdout).Encode(taken)
}

func main() {
	n := flag.Int("n", 1000000, "look up so many keys")
	of := flag.Int("of", 100000, "of so many")
	flag.Parse()
	if err := skewed(*n, *of); err != nil {
		fmt.Fprintln(os.Stderr, "skewed:", err)
		os.Exit(1)
	}
}
