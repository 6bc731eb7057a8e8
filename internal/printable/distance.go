package printable

import (
	"iter"
	"strings"
)

// DidYouMean returns a suggestion to append to the error about an unknown word: ": did you mean WORD?". The
// suggested word begins with text, if text has more than one byte, or its [Distance] from text is at most a third of
// the length of text without leading hyphens. DidYouMean returns "" if no word is so similar.
func DidYouMean(text string, words iter.Seq[string]) string {
	nearest, least := "", len(strings.TrimLeft(text, "-"))/3+1
	for word := range words {
		distance := Distance(text, word)
		if len(text) > 1 && strings.HasPrefix(word, text) {
			distance = 0
		}
		if distance < least {
			nearest, least = word, distance
		}
	}
	if nearest == "" {
		return ""
	}
	return ": did you mean " + nearest + "?"
}

// maxCompared is the length in bytes of the longest text that Distance compares byte by byte.
const maxCompared = 128

// Distance returns the optimal string alignment distance of two texts: the number of insertions, deletions and
// substitutions of bytes, and of swaps of adjacent bytes. If a text is longer than maxCompared, comparing would take
// too long; the distance of different texts is then the length of the longer one.
func Distance(a, b string) int {
	if len(a) > maxCompared || len(b) > maxCompared {
		if a == b {
			return 0
		}
		return max(len(a), len(b))
	}
	var rows [3][maxCompared + 1]uint8
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = uint8(j)
	}
	for i := range len(a) {
		row[0] = uint8(i + 1)
		for j := range len(b) {
			if a[i] == b[j] {
				row[j+1] = last[j]
				continue
			}
			d := min(last[j], last[j+1], row[j]) + 1
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
		}
		before, last, row = last, row, before
	}
	return int(last[len(b)])
}
