package recording

import "github.com/ftgo/ftgo/tracefs"

// Options are what a recording's plan was made from, for the same plan to be made again.
type Options struct {
	Patterns []string         `json:"patterns"`
	Regexp   bool             `json:"regexp,omitempty"`
	Exclude  []string         `json:"exclude,omitempty"`
	Errors   bool             `json:"errors,omitempty"`
	Stack    int              `json:"stack,omitempty"`
	StrLen   int              `json:"strlen,omitempty"`
	Items    int              `json:"items,omitempty"`
	Where    string           `json:"where,omitempty"`
	Inside   string           `json:"inside,omitempty"`
	Entries  bool             `json:"entries,omitempty"`
	Features tracefs.Features `json:"features"`
	// Named and InsideFuncs are indices of the plan's functions; OnlyInside are those of the
	// latter that were not asked for otherwise.
	Named       []int `json:"named,omitempty"`
	InsideFuncs []int `json:"inside_funcs,omitempty"`
	OnlyInside  []int `json:"only_inside,omitempty"`
	// Wrappers are those that --fail-if does not look at.
	Wrappers []int `json:"wrappers,omitempty"`
	// Skipped are those left out of the plan, and why.
	Skipped [][2]string `json:"skipped,omitempty"`
}
