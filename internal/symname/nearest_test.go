package symname

import (
	"slices"
	"testing"
)

func TestNearest(t *testing.T) {
	names := []string{
		"main.main", "main.main.func1", "main.run", "main.handleRequest", "main.handleRequest.func1", "main.init.0", "main.lend", "example.com/store.Get",
		"main.(*Store).Get", "main.(*Store).Get.func1", "main.(*Store).Put", "main.Store.Len", "main.(*Cache).Get",
		"main.Map[go.shape.int]", "main.Map[go.shape.string]", "main.(*Stack[go.shape.int]).Push", "main.(*Stack[go.shape.int]).Push.func1",
		"net/http.Get", "net/http.(*Client).Get", "net/http.(*Client).Do", "net/http.(*Client).do", "net/http.(*conn).serve",
		"gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml%2ev3.(*Decoder).Decode", "encoding/json.Unmarshal", "encoding/json.(*Decoder).Decode",
		"runtime.mallocgc", "runtime.memmove", "runtime.memmove", "runtime.gcStart", "io.Copy", "type:.eq.main.Store", "go:struct { *main.T }.Len", "printf",
	}
	tests := []struct {
		scenario, text string
		n              int
		want           []string
	}{
		{"letter missing", "main.handleRequst", 1, []string{"main.handleRequest"}},
		{"wrong letter", "main.(*Store).Pot", 3, []string{"main.(*Store).Put", "main.(*Store).Get"}},
		{"letters swapped", "main.Stroe.Put", 1, []string{"main.(*Store).Put"}},
		{"wrong case", "main.store.get", 1, []string{"main.(*Store).Get"}},
		{"case tells no functions apart", "net/http.client.DO", 2, []string{"net/http.(*Client).Do", "net/http.(*Client).do"}},
		{"package missing", "Store.Put", 1, []string{"main.(*Store).Put"}},
		{"package missing and letters swapped", "Stroe.Put", 1, []string{"main.(*Store).Put"}},
		{"last element and a slip", "htpp.Client.Do", 1, []string{"net/http.(*Client).Do"}},
		{"slip in the package", "net/htpp.Get", 1, []string{"net/http.Get"}},
		{"slip behind a dotted package", "gopkg.in/yaml.v3.Unmarshall", 1, []string{"gopkg.in/yaml.v3.Unmarshal"}},
		{"receiver missing from several", "main.Get", 5, []string{"main.(*Cache).Get", "main.(*Store).Get"}},
		{"function before methods", "Get", 3, []string{"net/http.Get", "example.com/store.Get", "main.(*Cache).Get"}},
		{"slip in a method without its receiver", "main.Psuh", 1, []string{"main.(*Stack).Push"}},
		{"package before a type of that name", "store.Get", 2, []string{"example.com/store.Get", "main.(*Store).Get"}},
		{"receiver missing rather than a slip", "main.Len", 2, []string{"main.Store.Len", "main.lend"}},
		{"closure's name alone", "func2", 3, nil},
		{"methods of two packages", "Decode", 3, []string{"encoding/json.(*Decoder).Decode", "gopkg.in/yaml.v3.(*Decoder).Decode"}},
		{"instances under one name", "main.Mpa", 3, []string{"main.Map"}},
		{"wrong type argument", "main.Map[float64]", 3, []string{"main.Map"}},
		{"start of a name", "main.handle", 3, []string{"main.handleRequest"}},
		{"star in the wrong receiver", "main.(*Stor).Put", 1, []string{"main.(*Store).Put"}},
		{"glob", "main.Stoer.Pu*", 1, []string{"main.(*Store).Put"}},
		{"suffix of the symbol table", "runtime.memmove.abi0", 3, []string{"runtime.memmove"}},
		{"methods of a type, not what the compiler makes of it", "Store.*", 2, []string{"main.Store.Len", "main.(*Store).Get"}},
		{"C function", "prinft", 3, []string{"printf"}},
		{"none asked for", "main.rum", 0, nil},
		{"nonsense in a known package", "main.qwertyuiop", 3, nil},
		{"wildcards alone", "**", 3, nil},
		{"empty", "", 3, nil},
	}
	for _, tt := range tests {
		t.Run(tt.scenario, func(t *testing.T) {
			got := Nearest(tt.text, slices.Values(names), tt.n)
			if !slices.Equal(got, tt.want) {
				t.Errorf("Nearest(%q) = %q, want %q", tt.text, got, tt.want)
			}
			for _, name := range got {
				if _, unmatched := Select(slices.Values(names), compile(t, parseGlob, name), nil); unmatched != nil {
					t.Errorf("the suggestion %s selects nothing", name)
				}
			}
			slices.Reverse(names)
			if again := Nearest(tt.text, slices.Values(names), tt.n); !slices.Equal(got, again) {
				t.Errorf("in another order of names: %q, before %q", again, got)
			}
			slices.Reverse(names)
		})
	}
}

func FuzzNearest(f *testing.F) {
	f.Add("main.Stroe.Get", "main.(*Store).Get")
	f.Add("x[", "a/b%2ec.(*T[go.shape.struct { A int }]).M-fm")
	f.Fuzz(func(t *testing.T, text, name string) {
		for _, got := range Nearest(text, slices.Values([]string{name, "main.main"}), 3) {
			if got != respell(name, keepPointer) && got != "main.main" {
				t.Errorf("Nearest(%q) suggests %q", text, got)
			}
		}
	})
}
