package render

import "slices"

// sparks are eighths of a line's height.
var sparks = []rune("▁▂▃▄▅▆▇█")

// spark draws numbers, none negative, as a row of bars: the largest is the highest, and 0 is
// a blank.
func spark(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	top := slices.Max(values)
	line := make([]rune, len(values))
	for i, v := range values {
		line[i] = ' '
		if v > 0 {
			line[i] = sparks[min(int(v/top*float64(len(sparks))), len(sparks)-1)]
		}
	}
	return string(line)
}
