package arm64

// reach is how far, in bytes, an exclusive store may be from its load for the loop to end for certain: both
// are in one block of 128 bytes (DDI 0487, B2.17.5).
const reach = 128

// exclusive tells whether an instruction may be executed after an exclusive load and before
// its store. A trap in between clears the monitor, so that the store fails and the loop starts over, forever.
func exclusive(function []byte, at int) bool {
	from, until := max(0, at-reach), min(len(function)&^(size-1), at+reach+size)
	window := function[from:until]
	loads, stores := false, false
	for p := 0; p < len(window); p += size {
		switch classify(word(window[p:])) {
		case loadEx:
			loads = true
		case storeEx:
			stores = true
		}
	}
	if !loads || !stores {
		return false
	}
	for p := 0; p < len(window); p += size {
		if classify(word(window[p:])) == loadEx && leadsTo(window, p, func(to int, c class) bool { return to == at-from }) {
			return leadsTo(window, at-from, func(_ int, c class) bool { return c == storeEx })
		}
	}
	return false
}

// leadsTo tells whether execution gets from behind an instruction to another of which something is so, without
// an exclusive access on the way.
func leadsTo(code []byte, from int, is func(to int, c class) bool) bool {
	var seen [2*reach/size + 1]bool
	var todo []int
	next := func(at int) {
		if at >= 0 && at < len(code) && !seen[at/size] {
			seen[at/size] = true
			todo = append(todo, at)
		}
	}
	after := func(at int) {
		w := word(code[at:])
		c := classify(w)
		if goesOn(c) {
			next(at + size)
		}
		if c == jump || c == condJump || c == newCond {
			next(at + int(target(w)))
		}
	}
	for after(from); len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		c := classify(word(code[at:]))
		if is(at, c) {
			return true
		}
		if c != loadEx && c != storeEx {
			after(at)
		}
	}
	return false
}
