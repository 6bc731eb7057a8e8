package arm64

// reach is the maximum distance in bytes of an exclusive store from its load. The processor guarantees that their loop
// ends only if both are in one block of 128 bytes (DDI 0487, B2.17.5).
const reach = 128

// exclusive reports whether an instruction may run between an exclusive load and its store. A trap there clears the
// monitor, so that the store fails and the loop never ends.
func exclusive(function []byte, at int) bool {
	start, until := max(0, at-reach), min(len(function)&^(size-1), at+reach+size)
	window := function[start:until]
	return leadsTo(window, from(window, loadEx), func(to int, _ class) bool { return to == at-start }) &&
		leadsTo(window, []int{at - start}, func(_ int, c class) bool { return c == storeEx })
}

// from returns the offsets of the instructions of a class.
func from(code []byte, of class) (all []int) {
	for at := 0; at < len(code); at += size {
		if classify(word(code[at:])) == of {
			all = append(all, at)
		}
	}
	return all
}

// leadsTo reports whether execution can get from some instructions to another one for which is returns true, without
// an exclusive access on the path.
func leadsTo(code []byte, from []int, is func(to int, c class) bool) bool {
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
	for _, at := range from {
		after(at)
	}
	for len(todo) > 0 {
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
