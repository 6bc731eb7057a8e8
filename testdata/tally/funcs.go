package main

var funcs = [...]func(uint64) uint64{
	f00, f01, f02, f03, f04, f05, f06, f07, f08, f09,
	f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
	f20, f21, f22, f23, f24, f25, f26, f27, f28, f29,
	f30, f31, f32, f33, f34, f35, f36, f37, f38, f39,
}

//go:noinline
func f00(x uint64) uint64 { return spin(x+0, steps[0]) }

//go:noinline
func f01(x uint64) uint64 { return spin(x+1, steps[1]) }

//go:noinline
func f02(x uint64) uint64 { return spin(x+2, steps[2]) }

//go:noinline
func f03(x uint64) uint64 { return spin(x+3, steps[3]) }

//go:noinline
func f04(x uint64) uint64 { return spin(x+4, steps[0]) }

//go:noinline
func f05(x uint64) uint64 { return spin(x+5, steps[1]) }

//go:noinline
func f06(x uint64) uint64 { return spin(x+6, steps[2]) }

//go:noinline
func f07(x uint64) uint64 { return spin(x+7, steps[3]) }

//go:noinline
func f08(x uint64) uint64 { return spin(x+8, steps[0]) }

//go:noinline
func f09(x uint64) uint64 { return spin(x+9, steps[1]) }

//go:noinline
func f10(x uint64) uint64 { return spin(x+10, steps[2]) }

//go:noinline
func f11(x uint64) uint64 { return spin(x+11, steps[3]) }

//go:noinline
func f12(x uint64) uint64 { return spin(x+12, steps[0]) }

//go:noinline
func f13(x uint64) uint64 { return spin(x+13, steps[1]) }

//go:noinline
func f14(x uint64) uint64 { return spin(x+14, steps[2]) }

//go:noinline
func f15(x uint64) uint64 { return spin(x+15, steps[3]) }

//go:noinline
func f16(x uint64) uint64 { return spin(x+16, steps[0]) }

//go:noinline
func f17(x uint64) uint64 { return spin(x+17, steps[1]) }

//go:noinline
func f18(x uint64) uint64 { return spin(x+18, steps[2]) }

//go:noinline
func f19(x uint64) uint64 { return spin(x+19, steps[3]) }

//go:noinline
func f20(x uint64) uint64 { return spin(x+20, steps[0]) }

//go:noinline
func f21(x uint64) uint64 { return spin(x+21, steps[1]) }

//go:noinline
func f22(x uint64) uint64 { return spin(x+22, steps[2]) }

//go:noinline
func f23(x uint64) uint64 { return spin(x+23, steps[3]) }

//go:noinline
func f24(x uint64) uint64 { return spin(x+24, steps[0]) }

//go:noinline
func f25(x uint64) uint64 { return spin(x+25, steps[1]) }

//go:noinline
func f26(x uint64) uint64 { return spin(x+26, steps[2]) }

//go:noinline
func f27(x uint64) uint64 { return spin(x+27, steps[3]) }

//go:noinline
func f28(x uint64) uint64 { return spin(x+28, steps[0]) }

//go:noinline
func f29(x uint64) uint64 { return spin(x+29, steps[1]) }

//go:noinline
func f30(x uint64) uint64 { return spin(x+30, steps[2]) }

//go:noinline
func f31(x uint64) uint64 { return spin(x+31, steps[3]) }

//go:noinline
func f32(x uint64) uint64 { return spin(x+32, steps[0]) }

//go:noinline
func f33(x uint64) uint64 { return spin(x+33, steps[1]) }

//go:noinline
func f34(x uint64) uint64 { return spin(x+34, steps[2]) }

//go:noinline
func f35(x uint64) uint64 { return spin(x+35, steps[3]) }

//go:noinline
func f36(x uint64) uint64 { return spin(x+36, steps[0]) }

//go:noinline
func f37(x uint64) uint64 { return spin(x+37, steps[1]) }

//go:noinline
func f38(x uint64) uint64 { return spin(x+38, steps[2]) }

//go:noinline
func f39(x uint64) uint64 { return spin(x+39, steps[3]) }
