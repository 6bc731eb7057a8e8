package offsets

import (
	"debug/elf"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/symname"
	"github.com/ftgo/ftgo/offsets/internal/image"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestWords: the words that a stripped program tells are where its twin's debug information has
// the parameters, those that are shown as sure without any exception.
func TestWords(t *testing.T) {
	for _, version := range []string{"1.18.10", "1.20.14", "1.22.12", "1.24.6", "1.26.8", "1.27.4", fixture.Current} {
		for _, program := range []string{"httpd", "signatures"} {
			t.Run(version+" "+program, func(t *testing.T) {
				full := openPath(t, fixture.BuildWith(t, version, program))
				stripped := openPath(t, fixture.BuildWith(t, version, program, "-ldflags=-s -w"))
				n := compareWords(t, full, stripped)
				t.Logf("%v", n)
				if known := n["right"] + n["wrong"] + n["unknown"]; n["right"]*100 < known*95 || known < 700 {
					t.Errorf("of %d functions with parameters %d are right", known, n["right"])
				}
			})
		}
	}
}

// compareWords compares functions that have parameters with those of the unstripped twin.
func compareWords(t *testing.T, full, stripped *Binary) map[string]int {
	n := make(map[string]int)
	for i := range stripped.Funcs() {
		f := &stripped.Funcs()[i]
		twin, ok := full.FuncAt(f.Addr)
		if !ok || twin.Addr != f.Addr || f.ABI == SystemV {
			continue
		}
		want, err := full.Signature(twin)
		if err != nil || want.Source != fromDebug || slices.ContainsFunc(want.Params, func(v Variable) bool { return v.Err != nil }) {
			n["without debug information"]++
			continue
		}
		got, err := stripped.Signature(f)
		switch {
		case err != nil:
			if len(want.Params) > 0 {
				n["unknown"]++
				if n["unknown"] < 10 {
					t.Logf("%s: %v\nwant %s", twin.Name, err, spell(want.Params))
				}
			}
		case len(got.Params) > len(want.Params) && (full.goVer.Minor < firstWithBlanks || strings.Contains(f.Name, "].")):
			n["incomplete debug information"]++ // blank ones, and dictionaries of closures
		default:
			if len(want.Params) == 0 && len(got.Params) == 0 {
				continue
			}
			sure := !strings.Contains(typeNames(got.Params), "?") && !slices.ContainsFunc(got.Params, lacksPlaces)
			n[got.Source]++
			if wrong := wrongPlaces(want, got, full.goVer.Minor >= firstWithBlanks); wrong == "" {
				n["right"]++
			} else if n["wrong"]++; sure {
				n["sure and wrong"]++
				t.Errorf("%s: %s:\n got %s\nwant %s", twin.Name, wrong, spell(got.Params), spell(want.Params))
			} else if n["wrong"] < 10 {
				t.Logf("%s: %s:\n got %s\nwant %s", twin.Name, wrong, spell(got.Params), spell(want.Params))
			}
			if sure {
				n["sure"]++
			}
		}
	}
	return n
}

func typeNames(vars []Variable) string {
	var names []string
	for _, v := range vars {
		names = append(names, v.Type.Name)
	}
	return strings.Join(names, ", ")
}

// wrongPlaces tells what is not where debug information has it, which may lack the results of wrappers.
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

// lacksPlaces tells of words that are shown as not known where.
func lacksPlaces(v Variable) bool { return v.Type.IsWord() && len(v.Pieces) < countWords(v.Type) }

// TestWordsOfC: C that Go's linker put among Go's functions has parameters that nobody knows of.
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

// TestDictionaries: the first type in the dictionary of a generic type is that type, or a pointer to it, so that a method
// finds its receiver's there, and nothing before it looks like a type.
func TestDictionaries(t *testing.T) {
	for _, version := range []string{"1.20.14", "1.21.13", "1.22.12", "1.23.12", "1.24.6", "1.25.0", "1.26.8", "1.27.4", fixture.Current} {
		for _, mode := range []string{"exe", "pie"} {
			t.Run(version+" "+mode, func(t *testing.T) {
				if mode != "exe" {
					fixture.NeedLong(t)
				}
				b := openPath(t, fixture.BuildWith(t, version, "httpd", "-buildmode="+mode))
				generic := make(map[string]bool) // types that have methods with pointer receivers
				for _, f := range b.Funcs() {
					if name := symname.Split(f.Name); name.Pointer && b.dictionary(&f) == 1 {
						generic[name.Prefix+name.Receiver] = true
					}
				}
				compared := 0
				b.image.EachSymbol(elf.SHT_SYMTAB, func(s image.Symbol) {
					pkg, of, ok := strings.Cut(s.Name, "..dict.")
					of, _, _ = strings.Cut(of, "[")
					if !ok || !generic[pkg+"."+of] {
						return
					}
					first := ""
					for at := uint64(0); at < s.Size && at < 8*dictionaryWords && first == ""; at += 8 {
						word, _ := b.image.Pointer(s.Addr + at)
						if typ, err := b.Internals().RuntimeType(word); err == nil {
							first = typ.Name
						}
					}
					if name, _, _ := strings.Cut(first, "["); first != "" && name[strings.LastIndexByte(name, '.')+1:] != of {
						t.Errorf("the first type of %s is %q", s.Name, first)
					} else if first != "" {
						compared++
					}
				})
				if compared == 0 {
					t.Errorf("only %d dictionaries", compared)
				}
			})
		}
	}
}
