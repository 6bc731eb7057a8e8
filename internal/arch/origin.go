package arch

// Registers says what a processor's instructions do to its registers, which are Rs. Instructions go by their
// addresses, as in [Way].
type Registers[R any] interface {
	// Sets tells whether an instruction writes a register; known is false if that is not certain.
	Sets(w Way, at uint64, r R) (sets, known bool)
	// Value is what an instruction writes to a register.
	Value(s *Search[R], at uint64, r R) Value[R]
}

// Value is what an instruction writes to a register, or where a jump leads.
type Value[R any] struct {
	Kind ValueKind
	Addr uint64 // of an Address, or of an Element's array
	Of   []R    // what a Copy is of: one of these, which is not known
}

// ValueKind is a kind of values.
type ValueKind uint8

const (
	Unknown   ValueKind = iota
	Elsewhere           // what no switch goes by: a word of memory that is no element of an array, the result of a call
	Inside              // what only a switch goes by: a distance from a table, added to an address
	Address             // a constant one
	Element             // an element of an array of addresses
	Copy                // the value of another register
)

const (
	maxCopies   = 4  // of a register to another
	maxSearches = 64 // for what sets a register
	// maxSearch bounds the instructions gone back over; compilers keep the parts of a
	// switch close together.
	maxSearch = 500
)

// Search is the search for what one jump goes by: for where the value of a register is from. What an instruction does
// to a register its processor says; the search back through a function is the same for all.
type Search[R any] struct {
	Way
	registers Registers[R]
	searches  int // as many are left
}

// NewSearch begins a search.
func NewSearch[R any](w Way, r Registers[R]) *Search[R] { return &Search[R]{w, r, maxSearches} }

// Leads tells whether the value stays inside the function that a register has before an instruction. All ways that
// lead there must say the same.
func (s *Search[R]) Leads(r R, at uint64) (inside, ok bool) { return s.leads(r, at, maxCopies) }

func (s *Search[R]) leads(r R, at uint64, copies int) (inside, ok bool) {
	from, ok := s.origins(r, at)
	if !ok {
		return false, false
	}
	for i, o := range from {
		leads := false // an argument is another function
		if !o.argument {
			leads, ok = s.follow(s.registers.Value(s, o.at, r), o.at, copies)
		}
		if !ok || i > 0 && leads != inside {
			return false, false
		}
		inside = leads
	}
	return inside, true
}

// Follow tells whether a value stays inside the function that an instruction has.
func (s *Search[R]) Follow(v Value[R], at uint64) (inside, ok bool) {
	return s.follow(v, at, maxCopies)
}

func (s *Search[R]) follow(v Value[R], at uint64, copies int) (inside, ok bool) {
	switch v.Kind {
	case Elsewhere:
		return false, true
	case Inside:
		return true, true
	case Address:
		return s.Inside(v.Addr)
	case Element:
		first, ok := s.Pointer(v.Addr)
		if !ok {
			return false, false
		}
		return s.Inside(first)
	case Copy:
		if copies == 0 {
			return false, false
		}
		for i, r := range v.Of {
			leads, ok := s.leads(r, at, copies-1)
			if !ok || i > 0 && leads != inside {
				return false, false
			}
			inside = leads
		}
		return inside, len(v.Of) > 0
	}
	return false, false
}

// All tells whether the instructions that may have set a register before another one are known, and something is so of each.
func (s *Search[R]) All(r R, at uint64, is func(at uint64) bool) bool {
	from, ok := s.origins(r, at)
	for _, o := range from {
		if o.argument || !is(o.at) {
			return false
		}
	}
	return ok
}

// One is the only instruction that may have set a register before another one.
func (s *Search[R]) One(r R, at uint64) (set uint64, ok bool) {
	from, ok := s.origins(r, at)
	if !ok || len(from) != 1 || from[0].argument {
		return 0, false
	}
	return from[0].at, true
}

// origin is where the value of a register is from: an instruction, or the caller.
type origin struct {
	argument bool
	at       uint64
}

// origins goes back along all ways that lead to an instruction, to where a register
// was set last. It fails at any instruction that it does not understand, and
// where it can't see how execution got there.
func (s *Search[R]) origins(r R, at uint64) (from []origin, ok bool) {
	if s.searches--; s.searches < 0 {
		return nil, false
	}
	seen := map[uint64]bool{at: true}
	for todo := []uint64{at}; len(todo) > 0; {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		before := s.Before(p)
		if p == s.Start() {
			from = append(from, origin{argument: true})
		} else if len(before) == 0 {
			return nil, false
		}
		for _, b := range before {
			if seen[b] {
				continue
			}
			if seen[b] = true; len(seen) > maxSearch {
				return nil, false
			}
			switch sets, known := s.registers.Sets(s.Way, b, r); {
			case !known:
				return nil, false
			case sets:
				from = append(from, origin{at: b})
			default:
				todo = append(todo, b)
			}
		}
	}
	return from, len(from) > 0
}
