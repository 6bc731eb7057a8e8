// Package offsets knows ELF files and Go's code: which functions a binary has,
// where in the file their bytes are, and at which instructions a call of one
// begins and ends.
//
// A [Site] is only ever made by decoding a function from its first byte to its
// last without a doubt; a function that leaves one is refused with the reason.
// What a probe is, and how the kernel is told of one, is left to package tracefs.
package offsets
