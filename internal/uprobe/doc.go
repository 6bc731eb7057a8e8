// Package uprobe is where Go and the kernel meet: it turns the sites of functions
// into events for package tracefs, and tells what an event at an address means.
//
// It decides which values each event fetches, so that package parse can find the
// goroutine and the depth of its stack in the line. It does no I/O of its own.
package uprobe
