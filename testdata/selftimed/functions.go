package main

//go:noinline
func f00(w *worker) { w.sum = work(rounds[0], w.sum) }

//go:noinline
func f01(w *worker) { w.sum = work(rounds[1], w.sum) }

//go:noinline
func f02(w *worker) { w.sum = work(rounds[2], w.sum) }

//go:noinline
func f03(w *worker) { w.sum = work(rounds[3], w.sum) }

//go:noinline
func f04(w *worker) { w.sum = work(rounds[4], w.sum) }

//go:noinline
func f10(w *worker) {
	w.sum = work(rounds[5], w.sum)
	w.call(0, f00)
	w.call(0, f00)
	w.call(1, f01)
}

//go:noinline
func f11(w *worker) {
	w.sum = work(rounds[6], w.sum)
	w.call(1, f01)
	w.call(0, f00)
	w.call(1, f01)
}

//go:noinline
func f12(w *worker) {
	w.sum = work(rounds[7], w.sum)
	w.call(2, f02)
	w.call(0, f00)
	w.call(1, f01)
}

//go:noinline
func f13(w *worker) {
	w.sum = work(rounds[8], w.sum)
	w.call(3, f03)
	w.call(0, f00)
	w.call(1, f01)
}

//go:noinline
func f14(w *worker) {
	w.sum = work(rounds[9], w.sum)
	w.call(4, f04)
}

//go:noinline
func f20(w *worker) {
	w.sum = work(rounds[10], w.sum)
	w.call(5, f10)
	w.call(5, f10)
	w.call(0, f00)
}

//go:noinline
func f21(w *worker) {
	w.sum = work(rounds[11], w.sum)
	w.call(6, f11)
	w.call(5, f10)
	w.call(1, f01)
}

//go:noinline
func f22(w *worker) {
	w.sum = work(rounds[12], w.sum)
	w.call(7, f12)
	w.call(5, f10)
	w.call(2, f02)
}

//go:noinline
func f23(w *worker) {
	w.sum = work(rounds[13], w.sum)
	w.call(8, f13)
	w.call(0, f00)
}

//go:noinline
func f24(w *worker) {
	w.sum = work(rounds[14], w.sum)
	w.call(9, f14)
	w.call(0, f00)
}

//go:noinline
func f30(w *worker) {
	w.sum = work(rounds[15], w.sum)
	w.call(10, f20)
	w.call(10, f20)
	w.call(0, f00)
}

//go:noinline
func f31(w *worker) {
	w.sum = work(rounds[16], w.sum)
	w.call(11, f21)
	w.call(10, f20)
	w.call(1, f01)
}

//go:noinline
func f32(w *worker) {
	w.sum = work(rounds[17], w.sum)
	w.call(12, f22)
	w.call(10, f20)
	w.call(2, f02)
}

//go:noinline
func f33(w *worker) {
	w.sum = work(rounds[18], w.sum)
	w.call(13, f23)
	w.call(0, f00)
}

//go:noinline
func f34(w *worker) {
	w.sum = work(rounds[19], w.sum)
	w.call(14, f24)
	w.call(0, f00)
}

//go:noinline
func f40(w *worker) {
	w.sum = work(rounds[20], w.sum)
	w.call(15, f30)
	w.call(15, f30)
	w.call(0, f00)
}

//go:noinline
func f41(w *worker) {
	w.sum = work(rounds[21], w.sum)
	w.call(16, f31)
	w.call(15, f30)
	w.call(1, f01)
}

//go:noinline
func f42(w *worker) {
	w.sum = work(rounds[22], w.sum)
	w.call(17, f32)
	w.call(15, f30)
	w.call(2, f02)
}

//go:noinline
func f43(w *worker) {
	w.sum = work(rounds[23], w.sum)
	w.call(18, f33)
	w.call(0, f00)
}

//go:noinline
func f44(w *worker) {
	w.sum = work(rounds[24], w.sum)
	w.call(19, f34)
	w.call(0, f00)
}

//go:noinline
func f50(w *worker) {
	w.sum = work(rounds[25], w.sum)
	w.call(20, f40)
	w.call(20, f40)
	w.call(0, f00)
}

//go:noinline
func f51(w *worker) {
	w.sum = work(rounds[26], w.sum)
	w.call(21, f41)
	w.call(20, f40)
	w.call(1, f01)
}

//go:noinline
func f52(w *worker) {
	w.sum = work(rounds[27], w.sum)
	w.call(22, f42)
	w.call(20, f40)
	w.call(2, f02)
}

//go:noinline
func f53(w *worker) {
	w.sum = work(rounds[28], w.sum)
	w.call(23, f43)
	w.call(0, f00)
}

//go:noinline
func f54(w *worker) {
	w.sum = work(rounds[29], w.sum)
	w.call(24, f44)
	w.call(0, f00)
}

var roots = [5]func(*worker){f50, f51, f52, f53, f54}
