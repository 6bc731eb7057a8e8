package main

func init() {
	targets = append(targets,
		target{name: "main.move", fn: move, params: "p by"},
		target{name: "main.pad", fn: pad, params: "p"},
		target{name: "main.rename", fn: rename, params: "p name"},
		target{name: "main.nest", fn: nest, params: "n"},
		target{name: "main.enlarge", fn: enlarge, params: "l"},
		target{name: "main.nothing", fn: nothing, params: "e n"},
		target{name: "main.mirror", fn: mirror, params: "p"},
		target{name: "main.handle", fn: handle, params: "req", results: "next"},
		target{name: "main.length", fn: length, params: "l"},
		target{name: "main.point.norm", fn: point.norm, params: "p k"},
		target{name: "main.(*point).shift", fn: (*point).shift, params: "p k"},
		target{name: "main.person.String", fn: person.String, params: "p"},
	)
}

type point struct{ X, Y int8 }

//go:noinline
func move(p, by point) point { return point{p.X + by.X, p.Y - by.Y} }

// norm is on a value.
//
//go:noinline
func (p point) norm(k int) int { return int(p.X)*k + int(p.Y) }

//go:noinline
func (p *point) shift(k int8) (*point, bool) {
	if p == nil {
		return nil, false
	}
	return &point{p.X + k, p.Y}, true
}

// padded has holes.
type padded struct {
	A bool
	B int64
	C uint16
	D *uint8
}

//go:noinline
func pad(p padded) padded { return padded{!p.A, int64(p.C), uint16(p.B), nil} }

type person struct {
	ID   int32
	Name string
}

//go:noinline
func rename(p person, name string) (person, string) { return person{p.ID + 1, name}, p.Name }

//go:noinline
func (p person) String() string { return "person " + p.Name }

// nested fills the nine registers.
type nested struct {
	Name string
	At   point
	In   struct {
		Who  person
		Flag bool
	}
	One [1]uint16
}

//go:noinline
func nest(n nested) nested {
	var r nested
	r.Name, r.In.Who.Name = n.In.Who.Name, n.Name
	r.At.X, r.One[0] = n.At.Y, n.One[0]+1
	return r
}

// large does not fit in registers.
type large struct {
	A, B, C, D, E, F, G, H int
	Name                   string
}

//go:noinline
func enlarge(l large) (large, int) {
	l.A, l.H = l.H, l.A
	return l, l.C
}

//go:noinline
func nothing(e struct{}, n int) (struct{}, int) { return e, n / 2 }

//go:noinline
func mirror(p *padded) *padded {
	if p == nil {
		return &padded{}
	}
	return &padded{A: p.A, B: -p.B, C: p.C}
}

// location and request are shaped like those of net/http.
type location struct{ Scheme, Path string }

type request struct {
	Method string
	URL    *location
	Length int64
	Tags   []string
}

//go:noinline
func handle(req *request) (next *request) {
	if req == nil || req.URL == nil {
		return nil
	}
	return &request{Method: "GET", URL: &location{Path: req.URL.Path + "/"}, Length: -1}
}

type list struct {
	Value int
	Next  *list
}

//go:noinline
func length(l *list) (*list, int) {
	n := 0
	last := l
	for ; l != nil; l = l.Next {
		n++
		last = l
	}
	return last, n
}
