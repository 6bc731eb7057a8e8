package parse

// Hits count hits of probes by what they cost the program.
type Hits struct {
	// Emulated: the kernel emulates the instruction under the probe. Stepped: it
	// single-steps a copy, which takes several times as long.
	Emulated, Stepped uint64
	// Words of values were fetched with them.
	Words uint64
}

// add counts n hits.
func (h *Hits) add(n uint64, stepped bool, words int) {
	h.Words += n * uint64(words)
	if stepped {
		h.Stepped += n
	} else {
		h.Emulated += n
	}
}

// since are the hits after earlier ones.
func (h Hits) since(earlier Hits) Hits {
	return Hits{h.Emulated - earlier.Emulated, h.Stepped - earlier.Stepped, h.Words - earlier.Words}
}
