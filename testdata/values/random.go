package main

import (
	"math"
	"math/rand"
	"reflect"
	"strings"
	"time"
)

// random makes values of any type.
type random struct {
	*rand.Rand
	// call is the number of the call that values are made for.
	call int
	// texts is the number of awkward strings so far, which are met one after the other.
	texts int
}

// awkward are strings that are hard to fetch, to print or to read again.
var awkward = []string{
	"", "\n", "\x00", "two\nlines\n", "a\x00b\x00", "\xff\xfe\xc0\x80 not UTF-8", "Grüße, 世界 \U0001f30d",
	strings.Repeat("0123456789abcdef", 256),
	strings.Repeat("\x00", 4096),
	strings.Repeat("\xe2\x82", 40),
	// As long as what is fetched, a byte more, and with a rune across the cut.
	strings.Repeat("x", 64), strings.Repeat("y", 65), strings.Repeat("z", 63) + "€ uro", strings.Repeat("z", 62) + "\xe2\x82",
	// Lines of a trace.
	"x-1 [000] ..... 1.0: e0_0123456789abcd: (0x1) v0=1\nftgo",
	"\n           values-1     [000] .....     1.000000: e0_00000000000000: (0x401000) g=0xc000002380 hi=0xc000100000 sp=0xc0000fff00 v0=1 v1=0x2a\n",
	"\nCPU:0 [LOST 4711 EVENTS]\n",
	"\x1b[2J\x1b[31mred\x1b]0;title\x07\x1b[0m\r\u202e\u009b1m",
	`"},"results":{"r0":"forged"}}`, `quote " backslash \ slash / <&>`, "\ufeff\ufffd\u2028",
}

func (r *random) text() string {
	if r.Intn(2) == 0 {
		r.texts++
		return awkward[r.texts%len(awkward)]
	}
	b := make([]byte, r.Intn(100))
	for i := range b {
		b[i] = byte(' ' + r.Intn(95))
	}
	return string(b)
}

// bits are those of an integer, often an extreme or a small one.
func (r *random) bits() uint64 {
	switch r.Intn(8) {
	case 0:
		return 0
	case 1:
		return math.MaxUint64
	case 2:
		return 1 << uint(r.Intn(64))
	case 3:
		return 1<<uint(r.Intn(64)) - 1
	case 4:
		return uint64(r.Intn(1000))
	}
	return uint64(r.Int63())<<1 ^ uint64(r.Int63())
}

func (r *random) float() float64 {
	special := []float64{0, math.Copysign(0, -1), 1, -1.5, math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat32, math.SmallestNonzeroFloat32, 1e-7, 1e21}
	if r.Intn(3) == 0 {
		return special[r.Intn(len(special))]
	}
	return r.NormFloat64() * 1e6
}

func (r *random) time() time.Time {
	switch r.Intn(5) {
	case 0:
		return time.Time{}
	case 1:
		return time.Now() // with a reading of the monotonic clock
	case 2:
		return time.Date(2024, 2, 29, 23, 59, 59, r.Intn(1e9), time.FixedZone("", 3600*r.Intn(12)))
	case 3:
		return time.Date(r.Intn(9999)+1, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return time.Unix(r.Int63n(4e9), r.Int63n(1e9))
}

var (
	timeType  = reflect.TypeOf(time.Time{})
	errorType = reflect.TypeOf((*error)(nil)).Elem()
	anyType   = reflect.TypeOf((*interface{})(nil)).Elem()
)

// value returns a random value of a type. Functions and interfaces other than error and
// interface{} are nil.
func (r *random) value(t reflect.Type) reflect.Value {
	v := reflect.New(t).Elem()
	r.set(v)
	return v
}

func (r *random) set(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.Intn(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		// SetInt keeps the low bits.
		v.SetInt(int64(r.bits()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(r.bits())
	case reflect.Float32, reflect.Float64:
		v.SetFloat(r.float())
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(r.float(), r.float()))
	case reflect.String:
		v.SetString(r.text())
	case reflect.Array:
		for i := 0; i < v.Len(); i++ {
			r.set(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == timeType {
			v.Set(reflect.ValueOf(r.time()))
			return
		}
		for i := 0; i < v.NumField(); i++ {
			r.set(v.Field(i))
		}
	case reflect.Interface:
		switch v.Type() {
		case errorType:
			if err := r.err(); err != nil {
				v.Set(reflect.ValueOf(err))
			}
		case anyType:
			if x := r.any(); x != nil {
				v.Set(reflect.ValueOf(x))
			}
		}
	default:
		r.refer(v)
	}
}

// refer sets what can be nil, and sometimes is.
func (r *random) refer(v reflect.Value) {
	if r.Intn(6) == 0 {
		return
	}
	t := v.Type()
	switch t.Kind() {
	case reflect.Ptr:
		v.Set(reflect.New(t.Elem()))
		r.set(v.Elem())
	case reflect.Slice:
		n := r.Intn(20)
		v.Set(reflect.MakeSlice(t, n, n+r.Intn(5)))
		for i := 0; i < n; i++ {
			r.set(v.Index(i))
		}
		if t.Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(r.text()))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		for n := r.Intn(40); n > 0; n-- {
			v.SetMapIndex(r.value(t.Key()), r.value(t.Elem()))
		}
	case reflect.Chan:
		both := reflect.MakeChan(reflect.ChanOf(reflect.BothDir, t.Elem()), r.Intn(5))
		for n := r.Intn(both.Cap() + 1); n > 0; n-- {
			both.Send(r.value(t.Elem()))
		}
		v.Set(both)
	}
}
