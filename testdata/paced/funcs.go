package main

var funcs = [...]func(uint64) uint64{
	c00, c01, c02, c03, c04, c05, c06, c07, c08, c09,
	c10, c11, c12, c13, c14, c15, c16, c17, c18, c19,
	c20, c21, c22, c23, c24, c25, c26, c27, c28, c29,
	c30, c31, c32, c33, c34, c35, c36, c37, c38, c39,
	c40, c41, c42, c43, c44, c45, c46, c47, c48, c49,
	c50, c51, c52, c53, c54, c55, c56, c57, c58, c59,
	c60, c61, c62, c63, c64, c65, c66, c67, c68, c69,
	c70, c71, c72, c73, c74, c75, c76, c77, c78, c79,
	c80, c81, c82, c83, c84, c85, c86, c87, c88, c89,
	c90, c91, c92, c93, c94, c95, c96, c97, c98, c99,
}

//go:noinline
func c00(x uint64) uint64 { return leaf(x) + 0 }

//go:noinline
func c01(x uint64) uint64 { return leaf(x) + 1 }

//go:noinline
func c02(x uint64) uint64 { return leaf(x) + 2 }

//go:noinline
func c03(x uint64) uint64 { return leaf(x) + 3 }

//go:noinline
func c04(x uint64) uint64 { return leaf(x) + 4 }

//go:noinline
func c05(x uint64) uint64 { return leaf(x) + 5 }

//go:noinline
func c06(x uint64) uint64 { return leaf(x) + 6 }

//go:noinline
func c07(x uint64) uint64 { return leaf(x) + 7 }

//go:noinline
func c08(x uint64) uint64 { return leaf(x) + 8 }

//go:noinline
func c09(x uint64) uint64 { return leaf(x) + 9 }

//go:noinline
func c10(x uint64) uint64 { return leaf(x) + 10 }

//go:noinline
func c11(x uint64) uint64 { return leaf(x) + 11 }

//go:noinline
func c12(x uint64) uint64 { return leaf(x) + 12 }

//go:noinline
func c13(x uint64) uint64 { return leaf(x) + 13 }

//go:noinline
func c14(x uint64) uint64 { return leaf(x) + 14 }

//go:noinline
func c15(x uint64) uint64 { return leaf(x) + 15 }

//go:noinline
func c16(x uint64) uint64 { return leaf(x) + 16 }

//go:noinline
func c17(x uint64) uint64 { return leaf(x) + 17 }

//go:noinline
func c18(x uint64) uint64 { return leaf(x) + 18 }

//go:noinline
func c19(x uint64) uint64 { return leaf(x) + 19 }

//go:noinline
func c20(x uint64) uint64 { return leaf(x) + 20 }

//go:noinline
func c21(x uint64) uint64 { return leaf(x) + 21 }

//go:noinline
func c22(x uint64) uint64 { return leaf(x) + 22 }

//go:noinline
func c23(x uint64) uint64 { return leaf(x) + 23 }

//go:noinline
func c24(x uint64) uint64 { return leaf(x) + 24 }

//go:noinline
func c25(x uint64) uint64 { return leaf(x) + 25 }

//go:noinline
func c26(x uint64) uint64 { return leaf(x) + 26 }

//go:noinline
func c27(x uint64) uint64 { return leaf(x) + 27 }

//go:noinline
func c28(x uint64) uint64 { return leaf(x) + 28 }

//go:noinline
func c29(x uint64) uint64 { return leaf(x) + 29 }

//go:noinline
func c30(x uint64) uint64 { return leaf(x) + 30 }

//go:noinline
func c31(x uint64) uint64 { return leaf(x) + 31 }

//go:noinline
func c32(x uint64) uint64 { return leaf(x) + 32 }

//go:noinline
func c33(x uint64) uint64 { return leaf(x) + 33 }

//go:noinline
func c34(x uint64) uint64 { return leaf(x) + 34 }

//go:noinline
func c35(x uint64) uint64 { return leaf(x) + 35 }

//go:noinline
func c36(x uint64) uint64 { return leaf(x) + 36 }

//go:noinline
func c37(x uint64) uint64 { return leaf(x) + 37 }

//go:noinline
func c38(x uint64) uint64 { return leaf(x) + 38 }

//go:noinline
func c39(x uint64) uint64 { return leaf(x) + 39 }

//go:noinline
func c40(x uint64) uint64 { return leaf(x) + 40 }

//go:noinline
func c41(x uint64) uint64 { return leaf(x) + 41 }

//go:noinline
func c42(x uint64) uint64 { return leaf(x) + 42 }

//go:noinline
func c43(x uint64) uint64 { return leaf(x) + 43 }

//go:noinline
func c44(x uint64) uint64 { return leaf(x) + 44 }

//go:noinline
func c45(x uint64) uint64 { return leaf(x) + 45 }

//go:noinline
func c46(x uint64) uint64 { return leaf(x) + 46 }

//go:noinline
func c47(x uint64) uint64 { return leaf(x) + 47 }

//go:noinline
func c48(x uint64) uint64 { return leaf(x) + 48 }

//go:noinline
func c49(x uint64) uint64 { return leaf(x) + 49 }

//go:noinline
func c50(x uint64) uint64 { return leaf(x) + 50 }

//go:noinline
func c51(x uint64) uint64 { return leaf(x) + 51 }

//go:noinline
func c52(x uint64) uint64 { return leaf(x) + 52 }

//go:noinline
func c53(x uint64) uint64 { return leaf(x) + 53 }

//go:noinline
func c54(x uint64) uint64 { return leaf(x) + 54 }

//go:noinline
func c55(x uint64) uint64 { return leaf(x) + 55 }

//go:noinline
func c56(x uint64) uint64 { return leaf(x) + 56 }

//go:noinline
func c57(x uint64) uint64 { return leaf(x) + 57 }

//go:noinline
func c58(x uint64) uint64 { return leaf(x) + 58 }

//go:noinline
func c59(x uint64) uint64 { return leaf(x) + 59 }

//go:noinline
func c60(x uint64) uint64 { return leaf(x) + 60 }

//go:noinline
func c61(x uint64) uint64 { return leaf(x) + 61 }

//go:noinline
func c62(x uint64) uint64 { return leaf(x) + 62 }

//go:noinline
func c63(x uint64) uint64 { return leaf(x) + 63 }

//go:noinline
func c64(x uint64) uint64 { return leaf(x) + 64 }

//go:noinline
func c65(x uint64) uint64 { return leaf(x) + 65 }

//go:noinline
func c66(x uint64) uint64 { return leaf(x) + 66 }

//go:noinline
func c67(x uint64) uint64 { return leaf(x) + 67 }

//go:noinline
func c68(x uint64) uint64 { return leaf(x) + 68 }

//go:noinline
func c69(x uint64) uint64 { return leaf(x) + 69 }

//go:noinline
func c70(x uint64) uint64 { return leaf(x) + 70 }

//go:noinline
func c71(x uint64) uint64 { return leaf(x) + 71 }

//go:noinline
func c72(x uint64) uint64 { return leaf(x) + 72 }

//go:noinline
func c73(x uint64) uint64 { return leaf(x) + 73 }

//go:noinline
func c74(x uint64) uint64 { return leaf(x) + 74 }

//go:noinline
func c75(x uint64) uint64 { return leaf(x) + 75 }

//go:noinline
func c76(x uint64) uint64 { return leaf(x) + 76 }

//go:noinline
func c77(x uint64) uint64 { return leaf(x) + 77 }

//go:noinline
func c78(x uint64) uint64 { return leaf(x) + 78 }

//go:noinline
func c79(x uint64) uint64 { return leaf(x) + 79 }

//go:noinline
func c80(x uint64) uint64 { return leaf(x) + 80 }

//go:noinline
func c81(x uint64) uint64 { return leaf(x) + 81 }

//go:noinline
func c82(x uint64) uint64 { return leaf(x) + 82 }

//go:noinline
func c83(x uint64) uint64 { return leaf(x) + 83 }

//go:noinline
func c84(x uint64) uint64 { return leaf(x) + 84 }

//go:noinline
func c85(x uint64) uint64 { return leaf(x) + 85 }

//go:noinline
func c86(x uint64) uint64 { return leaf(x) + 86 }

//go:noinline
func c87(x uint64) uint64 { return leaf(x) + 87 }

//go:noinline
func c88(x uint64) uint64 { return leaf(x) + 88 }

//go:noinline
func c89(x uint64) uint64 { return leaf(x) + 89 }

//go:noinline
func c90(x uint64) uint64 { return leaf(x) + 90 }

//go:noinline
func c91(x uint64) uint64 { return leaf(x) + 91 }

//go:noinline
func c92(x uint64) uint64 { return leaf(x) + 92 }

//go:noinline
func c93(x uint64) uint64 { return leaf(x) + 93 }

//go:noinline
func c94(x uint64) uint64 { return leaf(x) + 94 }

//go:noinline
func c95(x uint64) uint64 { return leaf(x) + 95 }

//go:noinline
func c96(x uint64) uint64 { return leaf(x) + 96 }

//go:noinline
func c97(x uint64) uint64 { return leaf(x) + 97 }

//go:noinline
func c98(x uint64) uint64 { return leaf(x) + 98 }

//go:noinline
func c99(x uint64) uint64 { return leaf(x) + 99 }

//go:noinline
func leaf(x uint64) uint64 { return x >> 1 }
