package main

func init() {
	targets = append(targets,
		target{name: "main.text", fn: text, params: "s"},
		target{name: "main.join", fn: join, params: "a b n", results: "joined err"},
		target{name: "main.raw", fn: raw, params: "b"},
		target{name: "main.ints", fn: ints, params: "list"},
		target{name: "main.bits", fn: bits, params: "a b c"},
		target{name: "main.words", fn: words, params: "list"},
		target{name: "main.places", fn: places, params: "list p"},
		target{name: "main.sum", fn: sum, params: "what nums"},
		target{name: "main.arrays", fn: arrays, params: "none one three"},
		target{name: "main.nine", fn: nine, params: "a"},
	)
}

//go:noinline
func text(s string) string {
	if len(s) > 100 {
		return s[1:]
	}
	return s + ", " + s
}

//go:noinline
func join(a, b string, n int) (joined string, err error) {
	if n < 0 {
		return "", errNegative
	}
	return a + b, nil
}

//go:noinline
func raw(b []byte) []byte {
	if len(b) > 1 {
		return b[1 : len(b)-1]
	}
	return []byte{}
}

//go:noinline
func ints(list []int) []int {
	if len(list) == 0 {
		return []int{}
	}
	return append(list[:len(list)-1:len(list)-1], -1)
}

//go:noinline
func bits(a []int16, b []bool, c []uint32) ([]uint32, []bool, []int16) {
	if len(a) > 3 {
		a = a[3:]
	}
	return c, b, a
}

//go:noinline
func words(list []string) []string {
	if len(list) > 1 {
		return list[:2]
	}
	return append(list, "one more")
}

//go:noinline
func places(list []point, p []*point) ([]*point, []point) {
	if len(list) > 1 {
		list = list[1:]
	}
	return p, list
}

//go:noinline
func sum(what string, nums ...int) (string, int) {
	n := 0
	for _, k := range nums {
		n += k
	}
	return what, n
}

//go:noinline
func arrays(none [0]int, one [1]string, three [3]int16) ([3]int16, [1]string, [0]int) {
	three[0], three[2] = three[2], three[1]
	return three, [1]string{one[0] + "!"}, none
}

//go:noinline
func nine(a [9]int32) [9]int32 {
	var r [9]int32
	for i := range a {
		r[i] = a[8-i]
	}
	return r
}
