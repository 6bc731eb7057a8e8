// Command sheds calls main.work 53 times, does something to its own code, and calls it as often
// again: what breakpoints there were may be gone by then, or not. It waits for a line before
// that, and for the end of its standard input afterwards.
//
// It is to be linked to a fixed address.
//
// Usage: sheds nothing|drop|protect|map|write|replace
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"reflect"
	"syscall"
	"unsafe"
)

const calls = 53

//go:noinline
func work(n int) int {
	if n > 1 {
		return work(n-1) + n
	}
	return n
}

const (
	page     = 4096
	linked   = 0x400000 // where the file begins, by what Go's linker does
	readExec = syscall.PROT_READ | syscall.PROT_EXEC
	writable = readExec | syscall.PROT_WRITE
)

func main() {
	exe, err := os.Open("/proc/self/exe")
	check(err)
	file, err := io.ReadAll(exe)
	check(err)
	entry := reflect.ValueOf(work).UnsafePointer()
	const length = 2 * page
	code := unsafe.Slice((*byte)(unsafe.Add(entry, -int(uintptr(entry)%page))), length)
	text := uintptr(unsafe.Pointer(&code[0]))
	offset := text - linked
	original := file[offset : offset+length]

	in := bufio.NewReader(os.Stdin)
	fmt.Println("ready", os.Getpid())
	in.ReadString('\n')
	sum := work(calls)
	switch os.Args[1] {
	case "nothing":
	case "drop": // the next use reads the file
		check(syscall.Madvise(code, syscall.MADV_DONTNEED))
	case "protect":
		check(syscall.Mprotect(code, writable))
		code[0] += 0
		check(syscall.Mprotect(code, readExec))
	case "map": // the file, anew
		mapAt(syscall.SYS_MMAP, text, length, readExec, syscall.MAP_PRIVATE|syscall.MAP_FIXED, exe.Fd(), offset)
	case "write":
		check(syscall.Mprotect(code, writable))
		copy(code, original)
		check(syscall.Mprotect(code, readExec))
	case "replace": // by other memory with the same code
		other, err := syscall.Mmap(-1, 0, len(code), writable, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		check(err)
		copy(other, original)
		const mayMove, fixed = 1, 2
		mapAt(syscall.SYS_MREMAP, uintptr(unsafe.Pointer(&other[0])), length, length, mayMove|fixed, text, 0)
	}
	sum += work(calls)
	fmt.Println("done", sum)
	io.Copy(io.Discard, in)
}

func mapAt(call, a, b, c, d, e, f uintptr) {
	if _, _, errno := syscall.RawSyscall6(call, a, b, c, d, e, f); errno != 0 {
		check(errno)
	}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "sheds:", err)
		os.Exit(1)
	}
}
