package main

import "github.com/ftgo/ftgo/cmd/ftgo/internal/own"

// ownFunctions are those that ftgo probes in itself. Its tests do not find them, where package main
// has another name.
var ownFunctions = own.Functions{
	Framed:    own.Function{Name: "main.framed", Call: framed},
	Frameless: own.Function{Name: "main.frameless", Call: frameless},
	Fetched:   own.Function{Name: "main.fetched", Call: fetched},
}

// framed has a frame and a stack check, as most functions do.
//
//go:noinline
func framed(n int) int { return called(n) + 1 }

//go:noinline
func called(n int) int { return n * 5 }

//go:noinline
func frameless(n int) int { return n * 3 }

//go:noinline
func fetched(n int) int { return called(n) + 4 }
