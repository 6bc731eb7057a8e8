//go:build exactcgo
// +build exactcgo

package main

// int one(void) { return 1; }
import "C"

// linked makes the C linker put the program together.
var linked = C.one()
