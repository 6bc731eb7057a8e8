package where

import "encoding/binary"

// maxCompared is how much of a string the kernel compares.
const maxCompared = 64

// Piece is a part of a constant string that the kernel can compare at once.
type Piece struct {
	// Offset is the part's place in the string, Size its bytes: 8, 4, 2 or 1.
	Offset, Size int64
	// Value is the signed number that those bytes are on x86.
	Value int64
}

// pieces cuts a string, or the first of its bytes, into as few pieces as can be without
// reading beyond its end.
func pieces(constant []byte) []Piece {
	var out []Piece
	b := constant[:min(len(constant), maxCompared)]
	for at := int64(0); len(b) > 0; {
		p := Piece{Offset: at}
		switch {
		case len(b) >= 8:
			p.Size, p.Value = 8, int64(binary.LittleEndian.Uint64(b))
		case len(b) >= 4:
			p.Size, p.Value = 4, int64(int32(binary.LittleEndian.Uint32(b)))
		case len(b) >= 2:
			p.Size, p.Value = 2, int64(int16(binary.LittleEndian.Uint16(b)))
		default:
			p.Size, p.Value = 1, int64(int8(b[0]))
		}
		out = append(out, p)
		at, b = at+p.Size, b[p.Size:]
	}
	return out
}

// equality compares a string with a constant: its length first.
type equality struct {
	ref    Ref
	length numeric
	pieces []Piece
}

// newEquality is exact only for "": a piece that the kernel could not read is 0, and then
// the call must pass, since the comparison is unknown.
func newEquality(ref Ref, f Field, o op, constant []byte) (c cond, exact, ok bool) {
	e := equality{ref, numeric{f.Name, o, number{uint64(len(constant)), f.Signed}}, pieces(constant)}
	if o == opNotEqual {
		if len(constant) > maxCompared {
			return nil, false, false
		}
		for _, p := range e.pieces {
			if p.Value == 0 {
				return nil, false, false
			}
		}
	}
	return e, len(constant) == 0, true
}

func (c equality) append(b []byte, piece func(Ref, Piece) string) []byte {
	if len(c.pieces) == 0 {
		return c.length.append(b, piece)
	}
	b = c.length.append(append(b, '('), piece)
	for _, p := range c.pieces {
		same := numeric{piece(c.ref, p), c.length.op, number{uint64(p.Value), true}}
		unread := numeric{same.field, opEqual, number{0, true}}
		switch {
		case c.length.op == opNotEqual:
			b = same.append(append(b, " || "...), piece)
		case p.Value == 0:
			b = same.append(append(b, " && "...), piece)
		default:
			b = junction{false, same, unread}.append(append(b, " && "...), piece)
		}
	}
	return append(b, ')')
}
