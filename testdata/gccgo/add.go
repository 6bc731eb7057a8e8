// Add calls main.add and fmt.Println known numbers of times, each between two lines
// that it writes without fmt: "ready" and "add N println M". It waits for a line on
// its standard input before the first of those calls. The numbers may be given as
// arguments.
package main

import (
	"fmt"
	"os"
	"strconv"
)

//go:noinline
func add(a, b int) int { return a + b }

// Variables, or the compiler makes a copy of add for these constants.
var x, y = 42, 13

func main() {
	adds, lines := number(1, 1009), number(2, 13)
	os.Stdout.WriteString("ready\n")
	var line [1]byte
	for line[0] != '\n' {
		if _, err := os.Stdin.Read(line[:]); err != nil {
			break
		}
	}
	for i := 0; i < adds; i++ {
		if add(x, y) != 55 {
			os.Exit(1)
		}
	}
	for i := 0; i < lines; i++ {
		fmt.Println("Hello, BPF!")
	}
	os.Stdout.WriteString("add " + strconv.Itoa(adds) + " println " + strconv.Itoa(lines) + "\n")
}

// number is an argument, or its default.
func number(at, otherwise int) int {
	if at >= len(os.Args) {
		return otherwise
	}
	n, err := strconv.Atoi(os.Args[at])
	if err != nil {
		os.Exit(2)
	}
	return n
}
