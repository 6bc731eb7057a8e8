// Command headless ends its first thread, which its process is named by, and goes on with
// others: /proc/PID/exe and /proc/PID/maps show nothing then, and the process's state is Z. It
// says "ready" and calls main.zeros with strings of NUL bytes, until it is killed.
package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func init() { runtime.LockOSThread() } // main runs on the first thread

//go:noinline
func zeros(s string) int { return len(s) }

func main() {
	go func() {
		for {
			if _, err := os.Readlink("/proc/self/exe"); err != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		fmt.Println("ready")
		for s := strings.Repeat("\x00", 8); ; time.Sleep(time.Millisecond) {
			zeros(s)
		}
	}()
	syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0)
}
