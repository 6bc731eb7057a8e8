// Command disguise calls itself what a line of a trace looks like, and passes such strings around:
// for each of them it renames its thread and calls main.take with it and with its number. At its
// end it prints the strings as a JSON list of lists of bytes.
//
// Usage: disguise [-n ROUNDS]
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"unsafe"
)

// disguises are names, of which a thread keeps the first 15 bytes, and arguments.
var disguises = []string{
	"plain", "", " ", "a b", "a  b", "x-1", "-4711", "x-4711 (4711)", "<...>", "<idle>-0", "[000]", "x [001] d...", "] [002]", "(4711) [000]",
	"\n", "a\nb", "\nx-1 [0] 1: e:", "# tracer: nop", "\n# tracer: nop\n", "CPU:0 [LOST 99", "CPU:0 [LOST 99 EVENTS]\n", "\nCPU:0 [LOST 9", "\t", "a\tb", "\r", "a\rb",
	": e: (0x4)", ": ftgo_1: (0x", ": entry0: (0x40", " 1.000001: e:", "d...1 1.0: e: ", "dNZff 1.000:", "(0x401000)", " s=\"x\" n=3", "s=0x0 n=1", "=", "=1+1", "@x",
	"\x1b[31mred", "\x1b]2;title\a", "\x1b[2J\x1b[H", "\x9b2J", "\a\b\v\f", "\x7f", "\u202emoc", "\u2028", "\u0085", "\xff\xfe", "\xc0\xaf", "\xed\xa0\x80", "\xe2\x80",
	"\"", "\\", "\"}\n{\"type\":1", "\",\"n\":7,\"s\":\"", "null", "{}", "a,b;c\td", "'=1", "%d%s%n", "世界世界世", "\U0001f600", "…+12", "<fault>", "(fault)",
	"ftgo", "ftgo-1", "kworker/0:1", "swapper/0", "..", "/", "$(id)", "`id`", "0", "18446744073709551615",
}

//go:noinline
func take(s string, n int) int {
	if n < 0 {
		panic("disguise: take: negative")
	}
	return len(s) + n
}

func main() {
	rounds := flag.Int("n", 1, "do it all so often")
	flag.Parse()
	runtime.LockOSThread()
	sum := 0
	for round := 0; round < *rounds; round++ {
		for i, s := range disguises {
			name := append([]byte(s), 0)
			if _, _, errno := syscall.Syscall(syscall.SYS_PRCTL, syscall.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0); errno != 0 {
				fmt.Fprintf(os.Stderr, "disguise: set name %q: %v\n", s, errno)
				os.Exit(1)
			}
			sum += take(s, round*len(disguises)+i)
		}
	}
	texts := make([][]byte, len(disguises))
	for i, s := range disguises {
		texts[i] = []byte(s)
	}
	if err := json.NewEncoder(os.Stdout).Encode(texts); err != nil || sum < 0 {
		fmt.Fprintln(os.Stderr, "disguise: print strings:", err)
		os.Exit(1)
	}
}
