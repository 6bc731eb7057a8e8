package symname

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDemangle(t *testing.T) {
	for _, c := range []struct{ scenario, name, want string }{
		{"C", "malloc", "malloc"},
		{"C, copy for constants", "read_line.constprop.0", "read_line.constprop.0"},
		{"C, cold part", "my_func.cold", "my_func.cold"},
		{"C++ function", "_Z3addii", "add"},
		{"C++ method", "_ZN5Store3getERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "Store::get"},
		{"C++ template", "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back"},
		{"C++ destructor", "_ZN5StoreD0Ev", "Store::~Store"},
		{"C++, cold part", "_Z3addii.cold", "add.cold"},
		{"not quite C++", "_Zap", "_Zap"},
		{"Rust before 2018", "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"},
		{"Rust v0", "_RNvCs1234_7mycrate3foo", "mycrate::foo"},
		{"gccgo underscore", "main.my__func", "main.my_func"},
		{"gccgo package path", "net_1http.Client.Do", "net/http.Client.Do"},
		{"gccgo closure", "main.main..func2", "main.main.func2"},
		{"gccgo init", "main..init1", "main.init.1"},
		{"gccgo init of a method's name", "main.T.x..init", "main.T.x..init"},
		{"gccgo beyond ASCII", "main.f_u00e9", "main.fé"},
		{"gccgo stub", "main.W.my__PM_0_0stub2", "main.W.my_PM..stub2"},
		{"gccgo type", "main._6122_7uintptr..eq", "main.[122]uintptr..eq"},
		{"gccgo, cold part", "net_1http.f.cold", "net/http.f.cold"},
		{"bad escape", "main.a_q", "main.a_q"},
		{"surrogate", "main.a_ud800", "main.a_ud800"},
		{"one underscore at the end", "main.a_", "main.a_"},
		{"empty", "", ""},
		{"only a suffix", ".cold", ".cold"},
		{"very long", "_Z" + strings.Repeat("9", 5000), "_Z" + strings.Repeat("9", 5000)},
	} {
		if got := Demangle(c.name)[0]; got != c.want {
			t.Errorf("%s: Demangle(%q) = %q, want %q", c.scenario, c.name, got, c.want)
		}
	}
}

// TestDemangleIsBounded checks the length of a name in which each substitution doubles the type.
func TestDemangleIsBounded(t *testing.T) {
	var name strings.Builder
	name.WriteString("_Z1fSt4pairIiiE")
	for _, digit := range "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ" {
		name.WriteString("St4pairIS" + string(digit) + "_S" + string(digit) + "_E")
	}
	for _, f := range languageSpellings {
		if got := f(name.String()); len(got) > 1<<maxDemangled+len(name.String()) {
			t.Errorf("%d bytes from %d", len(got), len(name.String()))
		}
	}
}

func TestDemangleMany(t *testing.T) {
	in := []string{"_Z3addii", "_Z3addff", "_Z3addff.cold", "_Z3onei", "_Z3onei.cold", "_ZN1AC1Ei", "_ZN1AC2Ei", "one_more", "main.T.M"}
	want := []string{"add(int, int)", "add(float, float)", "add(float, float).cold", "one", "one.cold", "A::A(int) [C1]", "A::A(int) [C2]", "one_more", "main.T.M"}
	if got := Demangle(in...); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func FuzzDemangle(f *testing.F) {
	for _, s := range []string{"_Z3addii", "_RNvCs1234_7mycrate3foo", "net_1http.Client.Do", "main.f_u00e9..func1", "_ZN4core3fmt17h0123456789abcdefE.llvm.1", "a.cold.b_x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := Demangle(name)[0]
		if got == "" && name != "" {
			t.Errorf("%q became empty", name)
		}
		if utf8.ValidString(name) && !utf8.ValidString(got) {
			t.Errorf("%q became %q", name, got)
		}
		if len(got) > 1<<maxDemangled+len(name) {
			t.Errorf("%d bytes became %d", len(name), len(got))
		}
	})
}
