package printable

import (
	"iter"
	"strings"

	"github.com/hbollon/go-edlib"
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

const maxCompared = 128 // bytes

// Distance returns the optimal string alignment distance of two texts: the number of insertions, deletions and
// substitutions of characters, and of swaps of adjacent ones. Comparing texts longer than maxCompared would take too long;
// the distance of such texts, if they differ, is the length of the longer one.
func Distance(a, b string) int {
	if longest := max(len(a), len(b)); longest > maxCompared && a != b {
		return longest
	}
	return edlib.OSADamerauLevenshteinDistance(a, b)
}
