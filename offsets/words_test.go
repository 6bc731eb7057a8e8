package offsets

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestWords compares the words of a stripped program with the parameters in its twin's debug information. Words without
// "?" must be right without exception.
func TestWords(t *testing.T) {
	for _, of := range [][2]string{
		{"amd64", "1.18.10"}, {"amd64", "1.20.14"}, {"amd64", "1.22.12"}, {"amd64", "1.24.6"}, {"amd64", "1.26.8"}, {"amd64", "1.27.4"}, {"amd64", fixture.Current},
		{"arm64", "1.18.10"}, {"arm64", "1.20.14"}, {"arm64", "1.22.12"}, {"arm64", "1.24.6"},
	} {
		for _, program := range []string{"httpd", "signatures"} {
			t.Run(of[0]+" "+of[1]+" "+program, func(t *testing.T) {
				full := openPath(t, fixture.BuildFor(t, of[0], of[1], program))
				stripped := openPath(t, fixture.BuildFor(t, of[0], of[1], program, "-ldflags=-s -w"))
				right, known := compareWords(t, full, stripped)
				t.Logf("of %d functions with parameters %d are right", known, right)
				if right*100 < known*95 || known < 700 {
					t.Errorf("of %d functions with parameters %d are right", known, right)
				}
			})
		}
	}
}

// compareWords compares the parameters of a stripped program with those of its unstripped twin. It returns the number of
// functions with parameters, and of those whose parameters are right.
func compareWords(t *testing.T, full, stripped *Binary) (right, known int) {
	complete := full.goVer.Minor >= firstWithBlanks
	for i := range stripped.Funcs() {
		f := &stripped.Funcs()[i]
		twin, ok := full.FuncAt(f.Addr)
		if !ok || twin.Addr != f.Addr || f.ABI == SystemV {
			continue
		}
		want, err := full.Signature(twin)
		if err != nil || want.Source != fromDebug || slices.ContainsFunc(want.Params, func(v Variable) bool { return v.Err != nil }) {
			continue
		}
		got, err := stripped.Signature(f)
		if err != nil {
			if len(want.Params) > 0 {
				known++
			}
			continue
		}
		if len(got.Params) > len(want.Params) && (!complete || strings.Contains(f.Name, "].")) || len(want.Params)+len(got.Params) == 0 {
			continue // debug information lacks blank parameters, and dictionaries of closures
		}
		known++
		wrong := wrongPlaces(want, got, complete)
		if wrong == "" {
			right++
		} else if !strings.Contains(typeNames(got.Params), "?") && !slices.ContainsFunc(got.Params, lacksPlaces) {
			t.Errorf("%s: %s:\n got %s\nwant %s", twin.Name, wrong, spell(got.Params), spell(want.Params))
		}
	}
	return right, known
}

func typeNames(vars []Variable) string {
	var names []string
	for _, v := range vars {
		names = append(names, v.Type.Name)
	}
	return strings.Join(names, ", ")
}

// wrongPlaces describes the first difference, or returns "". Debug information may lack the results of wrappers.
func wrongPlaces(want, got *Signature, complete bool) string {
	if len(got.Params) > len(want.Params) || len(got.Params) < len(want.Params) && got.Note == "" {
		return fmt.Sprintf("%d parameters instead of %d", len(got.Params), len(want.Params))
	}
	for i, v := range got.Params {
		if got.Untyped && !samePlace(want.Params[i], v) {
			return fmt.Sprintf("%s is in %s", v.Name, whereIs(v))
		}
	}
	if got.Untyped || !complete && len(want.Results) == 0 {
		return ""
	}
	if len(got.Results) != len(want.Results) {
		return fmt.Sprintf("%d results instead of %d", len(got.Results), len(want.Results))
	}
	for i, v := range slices.Concat(got.Params, got.Results) {
		w := slices.Concat(want.Params, want.Results)[i]
		if v.Type.Kind != w.Type.Kind || v.Type.Size != w.Type.Size || len(v.Type.Fields) != len(w.Type.Fields) || whereIs(v) != whereIs(w) {
			return fmt.Sprintf("%s is of type %s in %s, not of %s in %s", v.Name, v.Type.Name, whereIs(v), w.Type.Name, whereIs(w))
		}
	}
	return ""
}

// lacksPlaces reports whether the location of a word is unknown.
func lacksPlaces(v Variable) bool { return v.Type.IsWord() && len(v.Pieces) < countWords(v.Type) }

// TestWordsOfC checks that C functions in the middle of Go's have no signature.
func TestWordsOfC(t *testing.T) {
	b := openPath(t, fixture.BuildWith(t, fixture.Current, "httpd", "-ldflags=-s -w"))
	found := 0
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		if !strings.HasPrefix(f.Name, "_cgo_") && !strings.HasPrefix(f.Name, "x_cgo_") {
			continue
		}
		if _, _, ok := b.Position(f.Addr); ok {
			continue // assembly, Go
		}
		found++
		if s, err := b.Signature(f); err == nil {
			t.Errorf("%s: %+v", f.Name, s)
		}
	}
	if found == 0 {
		t.Skip("there is none")
	}
}

// TestMethodTypes checks the types of methods, and of the compiler's wrappers, in a stripped program.
func TestMethodTypes(t *testing.T) {
	for _, version := range []string{"1.12.17", "1.16.15", "1.17.13", "1.18.10", "1.20.14", "1.24.6", "1.26.8", "1.27.4", fixture.Current} {
		t.Run(version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, version, "httpd", "-ldflags=-s -w"))
			for _, want := range []struct{ name, params, results string }{
				{"net/http.(*response).Write", "p0=ax/8 p1=bx/8,cx/8,di/8: *http.response, []uint8", "r0=ax/8 r1=bx/8,cx/8: int, error"},
				{"net/http.HandlerFunc.ServeHTTP", "p0=ax/8 p1=bx/8,cx/8 p2=di/8: http.HandlerFunc, http.ResponseWriter, *http.Request", ": "},
				{"net/http.(*HandlerFunc).ServeHTTP", "p0=ax/8 p1=bx/8,cx/8 p2=di/8: *http.HandlerFunc, http.ResponseWriter, *http.Request", ": "},
				{"time.Duration.String", "p0=ax/8: time.Duration", "r0=ax/8,bx/8: string"},
				{"net.(*IPAddr).String", "p0=ax/8: *net.IPAddr", "r0=ax/8,bx/8: string"},
				{"net.(*conn).SetDeadline", "p0=ax/8 p1=bx/8,cx/8,di/8: *net.conn, time.Time", "r0=ax/8,bx/8: error"},
			} {
				s := signatureOf(t, b, want.name)
				params, results := spell(s.Params)+": "+typeNames(s.Params), spell(s.Results)+": "+typeNames(s.Results)
				if minor, _ := b.GoVersion(); minor < b.File().Processor.Machine().FirstRegisters {
					_, want.params, _ = strings.Cut(want.params, ": ")
					_, want.results, _ = strings.Cut(want.results, ": ")
					params, results = typeNames(s.Params), typeNames(s.Results)
				}
				if s.Source != fromTypes || params != want.params || results != want.results {
					t.Errorf("%s by %s\n got %s | %s\nwant %s | %s", want.name, s.Source, params, results, want.params, want.results)
				}
			}
		})
	}
}

// TestRuntimeTypeNamed checks that types are found by their names in source files, in stripped programs as well, and
// constants in debug information.
func TestRuntimeTypeNamed(t *testing.T) {
	b := openPath(t, fixture.Build(t, "httpd"))
	for name, want := range map[string]string{"*http.response": "*http.response", "*net/http.response": "*http.response", "net/http.Header": "http.Header", "*http/net.response": ""} {
		if got, err := b.Internals().RuntimeTypeNamed(name); (err == nil) != (want != "") || err == nil && got.Name != want {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	// This test itself has types of math/rand/v2, whose name is rand.
	self := openPath(t, "/proc/self/exe")
	for name, want := range map[string]string{"math/rand/v2.Source": "rand.Source", "*math/rand/v2.PCG": "*rand.PCG", "*math/rand.PCG": "", "*math/rand/v2.None": "", "[]math/rand/v2.PCG": ""} {
		if got, err := self.Internals().RuntimeTypeNamed(name); (err == nil) != (want != "") || err == nil && got.Name != want {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	for _, version := range []string{fixture.Current, "1.7.6", "1.12.17", "1.16.15", "1.18.10", "1.20.14", "1.25.0", "1.26.8", "1.27.4"} {
		for _, flags := range []string{"", "-s -w"} {
			b := openPath(t, fixture.BuildWith(t, version, "asked", "-ldflags", flags))
			minor, _ := b.GoVersion()
			pathError := "os"
			if minor >= 16 {
				pathError = "fs"
			}
			for name, want := range map[string]string{
				"*main.box": "*main.box", "main.box": "main.box", "main.tag": "main.tag", "*x/main.box": "",
				"*" + pathError + ".PathError": "*" + pathError + ".PathError", "*vendor/" + pathError + ".PathError": "",
				"string": "string", "[]byte": "[]uint8", "map[string][]string": "map[string][]string", "*main.nothing": "", "": "",
			} {
				got, err := b.Internals().RuntimeTypeNamed(name)
				switch {
				case want == "" && (err == nil || !strings.HasPrefix(err.Error(), "find type "+name+": ")):
					t.Errorf("Go %s %s: %s is %v, %v", version, flags, name, got, err)
				case want != "" && (err != nil || got.Name != want):
					t.Errorf("Go %s %s: %s is %v, %v", version, flags, name, got, err)
				case want == "map[string][]string" && (got.Group() == nil || got.Elem() == nil || got.Elem().Name != "[]string"):
					t.Errorf("Go %s %s: %s has %v in %v", version, flags, name, got.Elem(), got.Group())
				}
			}
			if minor < 12 { // debug information lacks constants, or the names of units
				continue
			}
			_, ofMain, ok := b.Internals().Constant("main.done", "")
			_, own, okOwn := b.Internals().Constant("highest", "main")
			if told := flags == ""; ok != told || okOwn != told || told && (ofMain != 2 || own != 255) {
				t.Errorf("Go %s %s: done is %d, %v, highest %d, %v", version, flags, ofMain, ok, own, okOwn)
			}
		}
	}
}
