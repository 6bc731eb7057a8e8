// Package parse makes calls of events: it pairs those where calls begin with those where they
// end, splits their time by what the scheduler did, and counts what became of every hit. Events
// come from package [github.com/ftgo/ftgo/parse/ftrace], in order of time.
package parse
