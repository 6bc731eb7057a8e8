package amd64

import (
	"testing"

	"github.com/ftgo/ftgo/internal/arch"
)

// checked holds whole functions with a stack check, as the compilers named made them.
var checked = []struct {
	name, code string
	want       arch.Check
}{
	{"1.4 small frame, stackguard1: runtime.goenvs",
		"64488b0c25f0ffffff 483b6118 7707 e86cb80000 ebea e815840000 c3", arch.Check{Jump: 13, Post: 22}},
	{"1.4 medium frame: runtime.call256",
		"64488b0c25f0ffffff488d442480483b4110 7707 e817fcffff ebe5 4881ec00010000488b59204885db7410488dbc240801000048393b7503488923488bb424100100008b8c24180100004889e7f3a4488b942408010000ff12488bbc24100100008b8c24180100008b9c241c0100004889e64801df4801de4829d9f3a44881c400010000c3",
		arch.Check{Jump: 18, Post: 27}},
	{"1.4 large frame: runtime.call8192",
		"64488b0c25f0ffffff488b71104881fedefaffff 7413 488d8424000200004829f0483d80210000 7707 e832f9ffff ebd0 4881ec00200000488b59204885db7410488dbc240820000048393b7503488923488bb424102000008b8c24182000004889e7f3a4488b942408200000ff12488bbc24102000008b8c24182000008b9c241c2000004889e64801df4801de4829d9f3a44881c400200000c3",
		arch.Check{Jump: 39, Post: 48}},
	{"1.5 small frame, no frame at all: runtime.goenvs",
		"64488b0c25f8ffffff483b6110 7606 e8dc0b0100 c3 e8261c0300 ebe4", arch.Check{Jump: 13, Post: 15}},
	{"1.5 large frame, both jumps near and far: runtime.init.2",
		"64488b0c25f8ffffff488b71104881fedefaffff 0f848d000000 488d8424800200004829f0483da0180000 767a 4881eca0160000488d7c241031c048c7c1d2020000f348ab488b1db4d042004881fb90160000744ae8365f0000488b1d9fd0420048891c24e856670000e86161000048c7042490160000e844670000e89f610000e88a5f0000488d1db3d6310048891c2448c744240824000000e8914d00004881c4a0160000c3 e884410300 e94fffffff",
		arch.Check{Jump: 43, Post: 45}},
	{"1.12 position-independent, small: main.loop",
		"48c7c1f8ffffff64488b09483b6110 7613 4883ec0848892c24488d2c24e80e000000ebf9 e87743e0ff ebd5", arch.Check{Jump: 15, Post: 17}},
	{"1.12 position-independent, large: debugCall4096",
		"48c7c1f8ffffff64488b09488b71104881fedefaffff7453488d8424700300004829f0483df8120000 7640 4881ec081000004889ac2400100000488dac2400100000488b59204885db752748c7c000000000cc48c7c001000000cc488bac24001000004881c408100000c3 e820d9ffff eb8e 488dbc241010000048393b75cc488923ebc7",
		arch.Check{Jump: 41, Post: 43}},
	{"1.12 shared library, small: runtime._System",
		"488b0d91e2120064488b09483b6110 761a 4883ec0848892c24488d2c24e8deffffff488b2c244883c408c3 e880d80100 ebce", arch.Check{Jump: 15, Post: 17}},
	{"1.16 medium frame: debugCall128",
		"64488b0c25f8ffffff488d4424f8483b4110 7640 4881ec880000004889ac2480000000488dac2480000000488b59204885db752748c7c000000000cc48c7c001000000cc488bac24800000004881c488000000c3 e847090000 eba5 488dbc249000000048393b75cc488923ebc7",
		arch.Check{Jump: 18, Post: 20}},
	{"1.16 large frame: debugCall4096",
		"64488b0c25f8ffffff488b71104881fedefaffff7453488d8424a00300004829f0483d28130000 7640 4881ec081000004889ac2400100000488dac2400100000488b59204885db752748c7c000000000cc48c7c001000000cc488bac24001000004881c408100000c3 e8b2060000 eb90 488dbc241010000048393b75cc488923ebc7",
		arch.Check{Jump: 39, Post: 41}},
	{"1.17 small frame, nop in the tail: main.loop",
		"493b6610 7613 4883ec0848892c24488d2c24e829000000ebf9 e8027ee7ff 6690 ebde", arch.Check{Jump: 4, Post: 6}},
	{"1.17 medium frame, argument kept over morestack: a closure of crypto/tls",
		"4c8d6424d84d3b6610 0f8686000000 4881eca80000004889ac24a0000000488dac24a0000000488d7c242048896c24f0488d6c24f0e8e852edff488b6d004c8d057b0000004c894424204c8b42084c89442428488d7210488d7c24300f1f400048896c24f0488d6c24f0e80f56edff488b6d00bb0200000031c9488d7c242090e8bbd7f6ff488bac24a00000004881c4a8000000c3 4889442408e8c12aedff488b442408e957ffffff",
		arch.Check{Jump: 9, Post: 15}},
	{"1.17 assembly loads g, large frame: debugCall4096",
		"644c8b3425f8ffffff4989e44981ec880f000072464d3b6610 7640 4881ec081000004889ac2400100000488dac24001000004d8b66204d85e4752749c7c400000000cc49c7c401000000cc488bac24001000004881c408100000c3 e8c0050000 eb9e 4c8dac24101000004d392c2475cb49892424ebc5",
		arch.Check{Jump: 25, Post: 27}},
	{"1.26 small frame: runtime._System",
		"493b6610 760b 554889e5e8f1ffffff5dc3 e88ae60200 ebe8", arch.Check{Jump: 4, Post: 6}},
	{"1.26 medium frame: runtime.deferreturn",
		"4c8d6424f84d3b6610 7667 554889e54883c480488d4c2418440f1139440f117910440f117920440f117930440f117940440f117950440f117958c644247301488d8c2490000000488b9c2488000000e82c030000eb08488b084889c2ffd1488d442418e89804000084db75ea4883ec805dc3 e809db0300 eb87",
		arch.Check{Jump: 9, Post: 11}},
	{"1.26 large frame, jb before the guard is read: a function with 8 kB of locals",
		"4989e44981eca81f000072784d3b6610 7672 554889e54881ec20200000488d7c2418b9000400004889c231c0f348ab31c0eb0d488d3410408874041848ffc090483d002000007ceb4889942418200000488d442418bb002000004889d90f1f00e8fb000000488b94241820000081e2ff1f00000fb65414184801d04881c4202000005dc3 4889442408e8524ce6ff488b442408 e968ffffff",
		arch.Check{Jump: 16, Post: 18}},
	{"1.26 position-independent assembly: debugCall128",
		"49c7c6f8ffffff644d8b364c8d6424f84d3b6610 761e 554889e54883c48049c7c400000000cc49c7c401000000cc4883ec805dc3 e867070000 ebc5",
		arch.Check{Jump: 20, Post: 22}},
	{"1.5 with the padding counted in: runtime.goenvs",
		"64488b0c25f8ffffff483b6110 7606 e8dc0b0100 c3 e8261c0300 ebe4 0000000000", arch.Check{Jump: 13, Post: 15}},
}

func TestStackCheck(t *testing.T) {
	for _, tt := range checked {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := arch.StackCheck(Processor, unhex(t, tt.code), arch.Instructions(Processor, unhex(t, tt.code)))
			if !ok || got != tt.want {
				t.Errorf("StackCheck = %+v, %v, want %+v", got, ok, tt.want)
			}
		})
	}
}

func TestStackCheckRefuses(t *testing.T) {
	for _, tt := range []struct{ name, code string }{
		{"no code", ""},
		{"1.26 leaf without a check", "554889e54883ec085dc3"},
		{"1.5 frameless loop that jumps back to post: main.loop",
			"64488b0c25f8ffffff483b6110 7607 e80c000000 ebf9 e855800500 ebe3"},
		{"1.4 frameless loop that jumps back to post: main.loop",
			"64488b0c25f0ffffff483b6110 7707 e82c430200 ebea e805000000 ebf9"},
		{"a branch into the check", "493b6610 760b 554889e5e8f1ffffff5dc3 e88ae60200 ebe8 ebe8"},
		{"tail that does not go back to the start", "493b6610 760b 554889e5e8f1ffffff5dc3 e88ae60200 ebe9"},
		{"tail that calls twice", "493b6610 760b 554889e5e8f1ffffff5dc3 e88ae60200 e88ae60200 ebe3"},
		{"tail without a call", "493b6610 760b 554889e5e8f1ffffff5dc3 ebed"},
		{"tail with a branch", "493b6610 760b 554889e5e8f1ffffff5dc3 7400 e88ae60200 ebe6"},
		{"jae instead of jbe", "493b6610 730b 554889e5e8f1ffffff5dc3 e88ae60200 ebe8"},
		{"comparison with something else than the guard", "493b6620 760b 554889e5e8f1ffffff5dc3 e88ae60200 ebe8"},
		{"push before the check", "55 493b6610 760a 4889e5e8f1ffffff5dc3 e88ae60200 ebe8"},
		{"argument register written before the check", "488b5b08 493b6610 760b 554889e5e8f1ffffff5dc3 e88ae60200 ebe4"},
		{"memory written before the check", "48894308 493b6610 760b 554889e5e8f1ffffff5dc3 e88ae60200 ebe4"},
		{"cut within the tail", "493b6610 760b 554889e5e8f1ffffff5dc3 e88ae60200"},
		{"gccgo, -fsplit-stack", "64483b242570000000 7207 4883ec08 e800000000 c3 e800000000 c3 ebef"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := arch.StackCheck(Processor, unhex(t, tt.code), arch.Instructions(Processor, unhex(t, tt.code))); ok {
				t.Errorf("StackCheck = %+v", got)
			}
		})
	}
}
