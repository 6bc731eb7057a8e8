package gotab

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// told is what a program's moduledata leads to: the types that are listed, what they hold, and inlined calls.
func told(t *testing.T, b *Tables) string {
	var all []string
	if types, err := b.types(); err == nil {
		named, err := types.named()
		if err != nil {
			return err.Error()
		}
		for name, addrs := range named {
			for _, addr := range addrs {
				typ, err := b.RuntimeType(addr)
				if err != nil {
					return err.Error()
				}
				all = append(all, fmt.Sprint(name, addr, typ.Name, typ.Kind, typ.Size, typ.Len, len(typ.Fields)))
			}
		}
	}
	b.Calls(func(callee, caller, file string, line int) { all = append(all, fmt.Sprint(callee, caller, file, line)) })
	slices.Sort(all)
	return fmt.Sprint(len(all), all)
}

// TestModuleMoved: a program of a Go that does not exist yet, which has a field of moduledata more, or one less, or
// two the other way round, is known not to be known, or its types and inlined calls are what they were.
func TestModuleMoved(t *testing.T) {
	for _, version := range []string{fixture.Current, "1.26.8", "1.27.4"} {
		t.Run(version, func(t *testing.T) {
			path := fixture.BuildWith(t, version, "greet", "-ldflags=-s -w")
			sound, err := os.ReadFile(path)
			fixture.NoError(t, err)
			b := openPath(t, path)
			minpc, _ := b.table.findModule(b.image)
			start := bytes.Index(sound, inFile(b, minpc, 3))
			release := fixture.Release(version)
			sound = bytes.ReplaceAll(sound, []byte(release), []byte("go1.28."+strings.Repeat("0", len(release)-len("go1.28."))))
			moved := filepath.Join(t.TempDir(), "moved")
			open := func(data []byte) *Tables {
				fixture.NoError(t, os.WriteFile(moved, data, 0o755))
				return openPath(t, moved)
			}
			b = open(sound)
			right := told(t, b)
			if later := release > "go1.27"; b.KnownLayout() != later || later && len(right) < 10000 {
				t.Fatalf("known: %v, %s", b.KnownLayout(), right)
			}
			const last = 26 // no field behind is of use
			unknown := 0
			for i := range uint64(last) {
				for name, change := range map[string]func(module []byte){
					"more":    func(m []byte) { copy(m[8*i+8:], m[8*i:len(m)-8]); clear(m[8*i:][:8]) },
					"twice":   func(m []byte) { copy(m[8*i+8:], m[8*i:len(m)-8]) },
					"less":    func(m []byte) { copy(m[8*i:], m[8*i+8:]) },
					"swapped": func(m []byte) { copy(m[8*i:], slices.Concat(m[8*i+8:][:8], m[8*i:][:8])) },
				} {
					data := slices.Clone(sound)
					change(data[start : start+8*(last+2)])
					b := open(data)
					if got := told(t, b); b.KnownLayout() && got != right {
						t.Errorf("word %d %s: %.200s\nwant %.200s", i, name, got, right)
					} else if !b.KnownLayout() {
						if unknown++; got != "0 []" {
							t.Errorf("word %d %s, which is not known: %.200s", i, name, got)
						}
					}
				}
			}
			t.Logf("%d of %d not known", unknown, 4*last)
			if unknown < last {
				t.Errorf("only %d are not known", unknown)
			}
		})
	}
}

// inFile are some words of a file, as they are there.
func inFile(b *Tables, addr uint64, n int) (text []byte) {
	for i := range n {
		word, _ := b.image.Pointer(addr + 8*uint64(i))
		text = binary.LittleEndian.AppendUint64(text, word)
	}
	return text
}
