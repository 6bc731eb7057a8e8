// Package recording has both ends of the format that docs/recording.md specifies: the shell script
// of a [Script] writes a recording on a machine without ftgo, and [Open] reads it.
//
// All events are named by a NONCE, which is longer than a thread's name: no traced program can
// forge a line that has it.
package recording
