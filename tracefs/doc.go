// Package tracefs drives the kernel's uprobe_events interface through the files
// of tracefs: it finds and mounts the file system, writes probe definitions,
// runs a session in an instance of its own, reads trace_pipe or the pages of the ring
// buffer, the hit counters and the error log, and leaves nothing behind.
//
// It knows the kernel's files and nothing of Go or of ELF: what is probed comes in as a path and file
// offsets ([Event]), what was hit goes out as the kernel's own text, or bytes. Package offsets
// decides which instruction deserves a probe, package parse what a line means.
//
// The only probe it can express is a plain "p:" one. A return probe ("r:") would
// rewrite return addresses on a stack that Go's runtime walks and moves.
package tracefs
