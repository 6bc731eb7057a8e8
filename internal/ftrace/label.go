package ftrace

import "encoding/binary"

// label is a text that lines are compared with, over and over: its first eight bytes at
// once.
type label struct {
	text       string
	word, mask uint64 // the first eight bytes, or as many as there are
}

func newLabel(text string) label {
	var word, mask [8]byte
	for i := range min(copy(word[:], text), 8) {
		mask[i] = 0xff
	}
	return label{text, binary.LittleEndian.Uint64(word[:]), binary.LittleEndian.Uint64(mask[:])}
}

// at tells whether the label stands at line[i:].
func (l *label) at(line []byte, i int) bool {
	if len(line)-i >= 8 {
		if binary.LittleEndian.Uint64(line[i:])&l.mask != l.word {
			return false
		}
		if len(l.text) <= 8 {
			return true
		}
	}
	return len(line)-i >= len(l.text) && string(line[i:i+len(l.text)]) == l.text
}
