// Command pull takes numbers from a coroutine, 101 of them. Each side asks the kernel
// something that the other does not: main.pull for the parent, main.generate for the group.
package main

import (
	"iter"
	"syscall"
)

func ask(number uintptr) { syscall.RawSyscall(number, 0, 0, 0) }

//go:noinline
func generate(yield func(int) bool) {
	for i := range 101 {
		ask(syscall.SYS_GETPGID)
		if !yield(i) {
			return
		}
		ask(syscall.SYS_GETPGID)
	}
}

//go:noinline
func pull() (sum int) {
	next, stop := iter.Pull(generate)
	defer stop()
	for {
		n, ok := next()
		if !ok {
			return sum
		}
		ask(syscall.SYS_GETPPID)
		sum += seen(n)
		ask(syscall.SYS_GETPPID)
	}
}

//go:noinline
func seen(n int) int { return n + 1 }

func main() { pull() }
