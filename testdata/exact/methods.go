package main

type point struct{ x, y int }

//go:noinline
func (p *point) move(k int) int {
	p.x += k
	return leaf(p.x, p.y)
}

//go:noinline
func (p point) norm(k int) int {
	switch {
	}
	return p.x*k + p.y
}

type figure interface {
	area(k int) int
}

type square struct{ side int }

//go:noinline
func (s *square) area(k int) int {
	s.side++
	return leaf(s.side, k)
}

// circle is not the size of a pointer, so that its method is reached through
// the wrapper main.(*circle).area when it is in an interface.
type circle struct{ radius, weight int }

//go:noinline
func (c circle) area(k int) int { return leaf(c.radius*c.weight, k) }

type climber interface {
	climb(k int) int
}

type gauge struct{ level int }

//go:noinline
func (g *gauge) climb(k int) int {
	g.level += k
	return leaf(g.level, k)
}

// labelled promotes climb through a wrapper that adjusts the receiver.
type labelled struct {
	label string
	gauge
}

// borrowed promotes climb through a wrapper that may be a mere jump.
type borrowed struct{ *gauge }

// Variables of the package, so that no compiler can tell what is called.
var (
	figures   []figure
	climbers  []climber
	boundMove func(int) int
	exprMove  func(*point, int) int
)

func methods(b *ledger) {
	p := &point{3, 4}
	sum := 0
	for i := 0; i < 503; i++ {
		sum += p.move(i) + p.norm(i)
	}
	b.returned("main.(*point).move", 503)
	b.returned("main.point.norm", 503)
	b.returned("main.leaf", 503)
	b.work(sum)

	figures = []figure{&square{3}, circle{5, 7}}
	climbers = []climber{&gauge{1}, &labelled{"a", gauge{2}}, borrowed{&gauge{3}}, &borrowed{&gauge{4}}}
	for i := 0; i < 307; i++ {
		for _, f := range figures {
			sum += f.area(i)
		}
		for _, c := range climbers {
			sum += c.climb(i)
		}
	}
	b.returned("main.(*square).area", 307)
	b.returned("main.circle.area", 307)
	b.returned("main.(*gauge).climb", 4*307)
	b.returned("main.leaf", 6*307)
	b.unbooked("main.(*circle).area")
	b.unbooked("main.(*labelled).climb")
	b.unbooked("main.(*borrowed).climb")
	b.unbooked("main.borrowed.climb")
	b.work(sum)

	boundMove, exprMove = p.move, (*point).move
	for i := 0; i < 211; i++ {
		sum += boundMove(i) + exprMove(p, i)
	}
	b.returned(nameOf(boundMove), 211)
	b.returned("main.(*point).move", 2*211)
	b.returned("main.leaf", 2*211)
	b.work(sum)
}
