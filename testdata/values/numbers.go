package main

import (
	"time"
	"unsafe"
)

func init() {
	targets = append(targets,
		target{name: "main.signed", fn: signed, params: "a b c d e"},
		target{name: "main.unsigned", fn: unsigned, params: "a b c d e f", results: "u v w x y z"},
		target{name: "main.truths", fn: truths, params: "a b c"},
		target{name: "main.counter", fn: counter, params: "p q", results: "r s"},
		target{name: "main.untyped", fn: untyped, params: "p", args: (*random).pointers},
		target{name: "main.floats", fn: floats, params: "f g"},
		target{name: "main.complexes", fn: complexes, params: "c d"},
		target{name: "main.measured", fn: measured, params: "m"},
		target{name: "main.measures", fn: measures, params: "p list"},
		target{name: "main.delay", fn: delay, params: "d n"},
		target{name: "main.moment", fn: moment, params: "t p"},
	)
}

//go:noinline
func signed(a int8, b int16, c int32, d int64, e int) (int, int64, int32, int16, int8) {
	return e - 1, -d, int32(b) - c, b - int16(a), a + 1
}

//go:noinline
func unsigned(a uint8, b uint16, c uint32, d uint64, e uint, f uintptr) (u uint8, v uint16, w uint32, x uint64, y uint, z uintptr) {
	u, v, w = uint8(b), uint16(c), uint32(d)
	x, y, z = uint64(e), uint(f), uintptr(a)
	return
}

//go:noinline
func truths(a, b bool, c rune) (bool, bool, rune) { return !a, a != b, c / 2 }

//go:noinline
func counter(p *int, q *uint16) (r *int, s *uint16) {
	if p == nil || q == nil {
		return p, q
	}
	r, s = new(int), new(uint16)
	*r, *s = *p+1, *q+1
	return r, s
}

//go:noinline
func untyped(p unsafe.Pointer) unsafe.Pointer {
	if p == nil {
		return unsafe.Pointer(new(int))
	}
	return nil
}

func (r *random) pointers() []interface{} {
	if r.Intn(2) == 0 {
		return []interface{}{unsafe.Pointer(new(int64))}
	}
	return []interface{}{unsafe.Pointer(nil)}
}

//go:noinline
func floats(f float32, g float64) (float64, float32) { return g / 2, f + float32(g) }

//go:noinline
func complexes(c complex64, d complex128) (complex128, complex64) { return d * complex128(c), -c }

type measure struct {
	Unit  uint8
	Low   float32
	Value float64
	At    complex64
}

//go:noinline
func measured(m measure) measure {
	return measure{Unit: m.Unit + 1, Low: -m.Low, Value: float64(m.Low), At: complex(m.Low, m.Low)}
}

// measures has all floats in memory.
//
//go:noinline
func measures(p *measure, list []float32) (*measure, [2]float64) {
	if p == nil || len(list) < 2 {
		return nil, [2]float64{1.5, 0.1}
	}
	return &measure{Value: float64(list[0]), Low: list[1]}, [2]float64{p.Value, float64(p.Low)}
}

//go:noinline
func delay(d time.Duration, n int) (time.Duration, *time.Duration) {
	e := d / 3
	return d * time.Duration(n), &e
}

//go:noinline
func moment(t time.Time, p *time.Time) (time.Time, *time.Time) {
	if p == nil || t.Year() < 1800 || t.Year() > 2200 {
		return t, nil
	}
	u := t.Add(time.Hour)
	return *p, &u
}
