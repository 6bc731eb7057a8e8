// Command builder builds short strings as fast as it can, N of them, of which one in
// 10,000 is like no other, and prints how long that took. It is for measuring what a
// filter costs that lets through one call in 10,000.
//
// Usage: builder [-n N]
package main

import (
	"flag"
	"fmt"
	"strings"
	"time"
)

var total int

//go:noinline
func build(key string, n int) string {
	var b strings.Builder
	b.Grow(64)
	for i := 0; i < 4; i++ {
		b.WriteString(key)
		b.WriteByte(':')
	}
	b.WriteByte(byte('a' + n%26))
	return b.String()
}

func main() {
	n := flag.Int("n", 1000000, "build so many strings")
	flag.Parse()
	keys := [...]string{"alice", "bob", "carol", "dave", "eve"}
	begin := time.Now()
	for i := 0; i < *n; i++ {
		total += len(build(keys[i%5], i%10000))
	}
	fmt.Printf("{\"calls\":%d,\"ns\":%d}\n", *n, time.Since(begin).Nanoseconds())
}
