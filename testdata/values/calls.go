package main

import "reflect"

func init() {
	targets = append(targets,
		target{name: "main.many", fn: many, params: "a b c d e f g h i j s k err"},
		target{name: "main.wide", fn: wide, params: "s t u v w x"},
		target{name: "main.ten", fn: ten, params: "n", results: "a b c d e f g h i j"},
		target{name: "main.blank", fn: blank, params: "p0 b p2"},
		target{name: "main.manyFloats", fn: manyFloats, params: "a b c d e f g h i j k l m n o p q"},
	)
}

// many has more parameters than there are registers.
//
//go:noinline
func many(a int, b int8, c uint16, d int32, e int64, f uint8, g, h, i, j int, s string, k bool, err error) (bool, string, int) {
	return !k, s, a + j
}

// wide has strings that would be half in registers: the last ones go to the stack whole,
// and a number behind them takes the last register.
//
//go:noinline
func wide(s, t, u, v, w string, x uint32) (string, uint32) { return w, x + 1 }

//go:noinline
func ten(n int) (a int8, b int16, c int32, d int64, e uint8, f uint16, g uint32, h uint64, i bool, j int) {
	return int8(n), int16(n), int32(n), int64(n), uint8(n), uint16(n), uint32(n), uint64(n), n&1 == 0, n
}

//go:noinline
func blank(_ int, b string, _ uint8) (string, int) { return b, len(b) }

//go:noinline
func manyFloats(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p float64, q int) (int, float64) {
	return q + 1, a
}

// adder returns a closure that changes one variable that it captures, and only reads the
// other.
//
//go:noinline
func adder(total int, label string) func(k int) (int, string) {
	return func(k int) (int, string) {
		total += k
		return total, label
	}
}

// closures makes a closure and calls it three times.
func (rec *recorder) closures(r *random) {
	total, label := r.Intn(1000), r.text()
	args := []reflect.Value{reflect.ValueOf(total), reflect.ValueOf(label)}
	fn := rec.call("main.adder", reflect.ValueOf(adder), []string{"total", "label"}, nil, args, nil)[0]
	for i := 0; i < 3; i++ {
		k := r.Intn(1000)
		captured := []variable{{"total", reflect.ValueOf(total)}, {"label", reflect.ValueOf(label)}}
		rec.call("main.adder.func1", fn, []string{"k"}, nil, []reflect.Value{reflect.ValueOf(k)}, captured)
		total += k
	}
}
