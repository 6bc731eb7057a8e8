package arch

import "slices"

const (
	maxCopies   = 4  // the number of copies from register to register that a search follows
	maxSearches = 64 // the number of searches for the instructions that set a register, for each jump
	// maxSearch is the number of instructions of one search. Compilers keep the parts of a switch close together.
	maxSearch = 500
)

// Search finds the target of a jump: it follows the value of a register back through the function to the instructions
// that set it. The search is the same for all processors.
type Search struct {
	Way
	processor Processor
	copies    int // the number of copies that may still be followed
	searches  int // the number of searches left
}

// NewSearch returns a search in a function.
func NewSearch(w Way, p Processor) *Search {
	return &Search{w, p, maxCopies, maxSearches}
}

// Leads reports whether a register holds an address inside the function before the instruction at at. ok is false
// if the paths that lead there disagree or the value is unknown.
func (s *Search) Leads(r int, at uint64) (inside, ok bool) {
	from, argument, ok := s.origins(r, at)
	if !ok {
		return false, false
	}
	for i, o := range from { // an argument is the address of another function
		leads, ok := s.processor.WrittenLeads(s, o, r)
		if !ok || (i > 0 || argument) && leads != inside {
			return false, false
		}
		inside = leads
	}
	return inside, true
}

// Element reports whether the first element of an array of addresses is an address inside the function.
func (s *Search) Element(array uint64) (inside, ok bool) {
	first, ok := s.Pointer(array)
	if !ok {
		return false, false
	}
	return s.Inside(first)
}

// Copy reports whether a copy of one of the registers, which the instruction at at makes, is an address inside the function.
func (s *Search) Copy(at uint64, registers ...int) (inside, ok bool) {
	if s.copies == 0 {
		return false, false
	}
	s.copies--
	defer func() { s.copies++ }()
	for i, r := range registers {
		leads, ok := s.Leads(r, at)
		if !ok || i > 0 && leads != inside {
			return false, false
		}
		inside = leads
	}
	return inside, true
}

// All reports whether match returns true for every instruction that may have set a register before the instruction at
// at. It returns false if these instructions are unknown.
func (s *Search) All(r int, at uint64, match func(at uint64) bool) bool {
	from, argument, ok := s.origins(r, at)
	return ok && !argument && !slices.ContainsFunc(from, func(at uint64) bool { return !match(at) })
}

// One returns the only instruction that may have set a register before the instruction at at. ok is false if several
// instructions may have set the register.
func (s *Search) One(r int, at uint64) (set uint64, ok bool) {
	from, argument, ok := s.origins(r, at)
	if !ok || argument || len(from) != 1 {
		return 0, false
	}
	return from[0], true
}

// origins follows all paths that lead to an instruction back to the instructions that last set a register. argument means
// that the register may also hold an argument, which the caller has set. ok is false if an instruction on a path has an
// unknown effect, or if nothing leads to it.
func (s *Search) origins(r int, at uint64) (from []uint64, argument, ok bool) {
	if s.searches--; s.searches < 0 {
		return nil, false, false
	}
	seen := map[uint64]bool{at: true}
	for todo := []uint64{at}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		before := s.Before(p)
		if p == s.Start() {
			argument = true
		} else if len(before) == 0 {
			return nil, false, false
		}
		for _, b := range before {
			if seen[b] {
				continue
			}
			if seen[b] = true; len(seen) > maxSearch {
				return nil, false, false
			}
			switch sets, known := s.processor.Sets(s.Way, b, r); {
			case !known:
				return nil, false, false
			case sets:
				from = append(from, b)
			default:
				todo = append(todo, b)
			}
		}
	}
	return from, argument, argument || len(from) > 0
}
