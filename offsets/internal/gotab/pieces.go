package gotab

import "io"

// pieces reads a function table of many megabytes in two places at a time: from
// front to back, since functions and what is told of each are in one order.
type pieces struct {
	r    io.ReaderAt
	size uint64
	// functab is for the pairs and what is before them, infos for what they lead to.
	functab, infos piece
	// budget is how many bytes may still be read: a damaged table may lead to and fro.
	budget uint64
}

// piece is some of the bytes of a table.
type piece struct {
	start uint64
	data  []byte
}

const pieceSize = 1 << 16

func newPieces(r io.ReaderAt, size uint64) *pieces {
	return &pieces{r: r, size: size, budget: 4*size + 4*pieceSize}
}

// at returns the bytes from an offset on, at least n; nil if they can't be read. Offset
// and n are within size.
func (p *pieces) at(offset, n uint64, functab bool) []byte {
	w := &p.infos
	if functab {
		w = &p.functab
	}
	if offset < w.start || offset-w.start+n > uint64(len(w.data)) {
		if w.data == nil {
			w.data = make([]byte, pieceSize)
		}
		size := min(pieceSize, p.size-offset)
		w.start, w.data = offset, w.data[:size]
		_, err := p.r.ReadAt(w.data, int64(offset))
		if err != nil || p.budget < size {
			w.data = w.data[:0]
			return nil
		}
		p.budget -= size
	}
	return w.data[offset-w.start:]
}
