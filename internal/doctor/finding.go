// Package doctor tells what is in the way of probing, and what mends it.
package doctor

// State is how a [Finding] bears on probing.
type State string

// States, from the best to the worst.
const (
	// OK: as it should be.
	OK State = "ok"
	// Unknown: it could not be found out.
	Unknown State = "unknown"
	// Warning: probing works, but with less, or not in every way.
	Warning State = "warning"
	// Missing: probing does not work without it.
	Missing State = "missing"
)

// Finding is one thing that probing needs, or that gets in its way.
type Finding struct {
	// Check names what was looked at, in one or two words that do not change.
	Check string
	State State
	// Text is what was found, in a line.
	Text string
	// Fix is a command to type that mends it, "" where there is none.
	Fix string
}

// of is a finding, whose check [Diagnose] names.
func (s State) of(text string) Finding { return Finding{State: s, Text: text} }

// fixedBy is a finding that a command mends.
func (f Finding) fixedBy(command string) Finding {
	f.Fix = command
	return f
}

// FirstMissing is the first finding that keeps probes from working.
func FirstMissing(findings []Finding) (f Finding, ok bool) {
	for _, f := range findings {
		if f.State == Missing {
			return f, true
		}
	}
	return Finding{}, false
}
