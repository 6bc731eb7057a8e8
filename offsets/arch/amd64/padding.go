package amd64

// Trim returns how many bytes of code are instructions: Go's linker fills the room
// up to the next function with INT3, with zeros up to Go 1.5. The same bytes may end
// the last instruction, a jump to somewhere near most of all; so what counts is where
// instructions begin.
func (processor) Trim(code []byte) int {
	if len(code) == 0 {
		return 0
	}
	pad := code[len(code)-1]
	if pad != 0xcc && pad != 0 {
		return len(code)
	}
	end := len(code)
	for end > 1 && code[end-1] == pad {
		end--
	}
	at := 0
	for at < end {
		in, err := decode(code[at:])
		if err != nil {
			return end // of no use as code, but not longer than it was
		}
		at += in.Len
	}
	return at
}
