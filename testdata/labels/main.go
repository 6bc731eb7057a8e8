// Labels is a program whose goroutines have labels for profiles. main.work runs 300, 200 and 100 times for three tenants, 10
// times where the label is not among the first six, 7 times in a goroutine that inherits the label, and 23 times without.
package main

import (
	"context"
	"runtime/pprof"
)

//go:noinline
func work(n int) int {
	sink = append(sink[:0], make([]int, n%3)...)
	return len(sink)
}

// unused uses none of its arguments, so that they are lost when the stack grows.
//
//go:noinline
func unused(_, _ int) {
	var buf [4000]byte
	fill(buf[:])
}

//go:noinline
func fill(b []byte) { b[0] = 1 }

var sink []int

func repeat(n int) {
	for i := range n {
		work(i)
	}
}

func main() {
	for i, tenant := range []string{"initech", "globex \"& sons\"", ""} {
		pprof.Do(context.Background(), pprof.Labels("tenant", tenant, "a b", "c"), func(context.Context) { repeat(300 - 100*i) })
	}
	many := pprof.Labels("1", "", "2", "", "3", "", "4", "", "5", "", "6", "", "tenant", "last")
	pprof.Do(context.Background(), many, func(context.Context) { repeat(10) })
	done := make(chan bool)
	pprof.Do(context.Background(), pprof.Labels("tenant", "hooli"), func(context.Context) {
		go func() {
			unused(1, 2)
			repeat(7)
			done <- true
		}()
	})
	<-done
	repeat(23)
}
