// Package parse makes calls of events: it pairs those where calls begin with those where they
// end, splits their time by what the scheduler did, and counts what became of every hit. Events
// come from lines or raw pages of the kernel, which package ftrace reads in order of time.
package parse
