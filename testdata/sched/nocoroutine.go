//go:build !go1.23
// +build !go1.23

package main

func newPull() func() { return nil }
