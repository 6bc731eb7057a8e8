package arch

import (
	"testing"
)

// instruction writes a value to a register: a, b, c, nothing, or doubt if that is not known.
type instruction struct {
	writes int
	leads  func(s *Search, at uint64) (inside, ok bool)
	before []uint64 // instead of the one above
}

// toy is a function of instructions 0, 1 ...; addresses below 1000 are its own, those below 2000 another one's.
type toy []instruction

const nothing, a, b, c, doubt = 0, 1, 2, 3, 4

// toyProcessor has the instructions of a toy.
type toyProcessor struct {
	Processor
	toy
}

func (f toy) Start() uint64                        { return 0 }
func (f toy) Code(uint64) []byte                   { return nil }
func (f toy) Above(at uint64) (uint64, bool)       { return at - 1, at > 0 }
func (f toy) Pointer(at uint64) (uint64, bool)     { return at - 5000, at >= 5000 }
func (f toy) Inside(addr uint64) (inside, ok bool) { return addr < 1000, addr < 2000 }

func (f toy) Before(at uint64) []uint64 {
	if f[at].before != nil || at == 0 {
		return f[at].before
	}
	return []uint64{at - 1}
}

func (p toyProcessor) Sets(_ Way, at uint64, r int) (sets, known bool) {
	return p.toy[at].writes == r, p.toy[at].writes != doubt
}

func (p toyProcessor) WrittenLeads(s *Search, at uint64, _ int) (inside, ok bool) {
	return p.toy[at].leads(s, at)
}

// These are instructions that write to register a.

func known(inside, ok bool) instruction {
	return instruction{writes: a, leads: func(*Search, uint64) (bool, bool) { return inside, ok }}
}

func address(addr uint64) instruction {
	return instruction{writes: a, leads: func(s *Search, _ uint64) (bool, bool) { return s.Inside(addr) }}
}

func element(array uint64) instruction {
	return instruction{writes: a, leads: func(s *Search, _ uint64) (bool, bool) { return s.Element(array) }}
}

func copies(to int, of ...int) instruction {
	return instruction{writes: to, leads: func(s *Search, at uint64) (bool, bool) { return s.Copy(at, of...) }}
}

// TestLeads: a value is followed to where it is from, by all ways.
func TestLeads(t *testing.T) {
	inside, elsewhere := known(true, true), known(false, true)
	other, doubtful := instruction{writes: b}, instruction{writes: doubt}
	from := func(i instruction, before ...uint64) instruction {
		i.before = before
		return i
	}
	chain := func(n int) (f toy) {
		f = toy{inside}
		for range n {
			f = append(f, copies(b, a), copies(a, b))
		}
		return append(f, other)
	}
	long := toy{inside}
	for len(long) < maxSearch+2 {
		long = append(long, other)
	}
	for _, test := range []struct {
		scenario   string
		code       toy // of a jump through a, which is the last
		inside, ok bool
	}{
		{"argument", toy{other, other}, false, true},
		{"memory", toy{elsewhere, other}, false, true},
		{"distance", toy{inside, other}, true, true},
		{"own address", toy{address(7), other, other}, true, true},
		{"another one's", toy{address(1007), other}, false, true},
		{"address of nothing", toy{address(4000), other}, false, false},
		{"array of own", toy{element(5001), other}, true, true},
		{"array of others", toy{element(6001), other}, false, true},
		{"array that is not there", toy{element(3), other}, false, false},
		{"not known", toy{known(false, false), other}, false, false},
		{"instruction that may write anything", toy{inside, doubtful, other}, false, false},
		{"copies", chain(2), true, true},
		{"more copies", chain(3), false, false},
		{"either of two that agree", toy{inside, copies(b, a), copies(a, b, a), other}, true, true},
		{"either of two that differ", toy{other, inside, copies(b, c), copies(a, b, a), other}, false, false},
		{"two ways that agree", toy{inside, from(address(7), 0), from(other, 0, 1)}, true, true},
		{"two ways that differ", toy{inside, from(elsewhere, 0), from(other, 0, 1)}, false, false},
		{"loop", toy{inside, from(other, 0, 2), other, from(other, 2)}, true, true},
		{"nothing leads there", toy{inside, instruction{before: []uint64{}}, other}, false, false},
		{"too far back", long, false, false},
	} {
		s := NewSearch(test.code, toyProcessor{toy: test.code})
		if leads, ok := s.Leads(a, uint64(len(test.code)-1)); leads != test.inside || ok != test.ok {
			t.Errorf("%s: %v, %v; want %v, %v", test.scenario, leads, ok, test.inside, test.ok)
		}
	}
}

// TestSearches: a search ends, even if each value is one of many.
func TestSearches(t *testing.T) {
	f := toy{known(false, true)}
	for range 3 {
		f = append(f, copies(a, a, a, a, a, a))
	}
	f = append(f, instruction{})
	s := NewSearch(f, toyProcessor{toy: f})
	if _, ok := s.Leads(a, uint64(len(f)-1)); ok || s.searches >= 0 {
		t.Errorf("found, after %d searches", maxSearches-s.searches)
	}
}
