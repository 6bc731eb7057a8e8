package offsets

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

// whereIs describes the location of a value: registers, "x" for floating-point registers, or offsets from a register.
func whereIs(v Variable) string {
	if v.Err != nil {
		return "?"
	}
	var list []string
	for _, p := range v.Pieces {
		place := string(p.Register)
		switch {
		case p.Static:
			place = "static"
		case p.InMemory:
			place = strconv.FormatInt(p.Disp, 10) + "(" + string(p.Register) + ")"
		case p.Register == "":
			place = "x"
		}
		if p.Pointer {
			place = "*" + place
		}
		list = append(list, fmt.Sprintf("%s/%d", place, p.Size))
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ",")
}

func spell(variables []Variable) string {
	var words []string
	for _, v := range variables {
		words = append(words, v.Name+"="+whereIs(v))
	}
	return strings.Join(words, " ")
}

// goSignatures has the functions of testdata/signatures with their locations for ABIInternal.
var goSignatures = []struct {
	name                string
	params, results     string
	captured            string
	omitsBlank, unnamed bool // unnamed means that the results have no names
}{
	{name: "main.add", unnamed: true,
		params: "a=ax/8 b=bx/8", results: "r0=ax/8"},
	{name: "main.sizes",
		params: "a=ax/1 b=bx/2 c=cx/4 d=di/8 e=si/1 f=r8/8", results: "g=ax/1 h=bx/8"},
	{name: "main.text", unnamed: true,
		params: "s=ax/8,bx/8 n=cx/8", results: "r0=ax/8,bx/8 r1=cx/8,di/8"},
	{name: "main.slices", unnamed: true,
		params: "b=ax/8,bx/8,cx/8 l=di/8,si/8,r8/8", results: "r0=ax/8 r1=bx/8,cx/8,di/8"},
	{name: "main.floats", unnamed: true,
		params: "x=x/8 n=ax/8 y=x/4", results: "r0=x/8 r1=ax/8"},
	{name: "main.many", unnamed: true,
		params:  "a=ax/8 b=bx/8 c=cx/8 d=di/8 e=si/8 f=r8/8 g=r9/8 h=r10/8 i=r11/8 j=8(sp)/8 k=16(sp)/8",
		results: "r0=ax/8 r1=bx/8 r2=cx/8 r3=di/8 r4=si/8 r5=r8/8 r6=r9/8 r7=r10/8 r8=r11/8 r9=24(sp)/8"},
	{name: "main.spill",
		params:  "a=ax/8 b=bx/8 c=cx/8 d=di/8 e=si/8 f=r8/8 g=r9/8 s=8(sp)/24 last=r10/1",
		results: "n=ax/8 m=bx/8,cx/8"},
	{name: "main.structs", unnamed: true,
		params: "p=ax/4,bx/4 m=cx/1,di/1,x/4,si/8 n=r8/8", results: "r0=ax/1,bx/1,x/4,cx/8 r1=di/4,si/4"},
	{name: "main.arrays", unnamed: true,
		params: "a=none b=ax/8,bx/8 c=8(sp)/8 d=cx/8 e=di/8", results: "r0=16(sp)/8 r1=ax/8,bx/8"},
	{name: "main.zero", unnamed: true,
		params: "a=none b=ax/8 c=none", results: "r0=none r1=ax/8"},
	{name: "main.blank", unnamed: true, omitsBlank: true,
		params: "p0=ax/8,bx/8 a=cx/8 p2=di/8 b=si/8,r8/8", results: "r0=ax/8"},
	{name: "main.point.Blank", unnamed: true, omitsBlank: true,
		params: "p0=ax/4,bx/4 p1=cx/8 x=di/8", results: "r0=ax/8"},
	{name: "main.point.Sum", unnamed: true,
		params: "p=ax/4,bx/4", results: "r0=ax/4"},
	{name: "main.(*node).Name", unnamed: true,
		params: "n=ax/8", results: "r0=ax/8,bx/8"},
	{name: "main.complexes", unnamed: true,
		params: "c=x/8,x/8 d=x/4,x/4 n=ax/8", results: "r0=x/8,x/8"},
	{name: "main.references", unnamed: true,
		params:  "m=ax/8 c=bx/8 f=cx/8 e=di/8,si/8 n=r8/8,r9/8 a=r10/8,r11/8 p=8(sp)/8",
		results: "r0=ax/8 r1=bx/8"},
	{name: "main.units", unnamed: true,
		params: "d=ax/8 t=bx/8,cx/8,di/8 c=x/8", results: "r0=ax/8 r1=x/8"},
	{name: "main.nothing"},
	{name: "main.variadic", unnamed: true,
		params: "format=ax/8,bx/8 args=cx/8,di/8,si/8", results: "r0=ax/8"},
	{name: "main.ordered",
		params: "z=ax/4 y=bx/4 x=cx/4 b=di/8,si/8 a=r8/1", results: "w=ax/8 c=bx/8"},
	{name: "main.gatherer.func1", unnamed: true,
		params: "k=ax/8", results: "r0=ax/8,bx/8",
		captured: "total=*8(dx)/8 step=16(dx)/8 prefix=24(dx)/16"},
}

var blankName = regexp.MustCompile(`p\d+=\S+ ?`)

// TestSignature checks that parameters and results are where the calling convention puts them, or for ABI0, which
// TestSignatureLocations checks, that their names are right. If the debug information of a version lacks a variable, it is
// missing or has no location, but never has a wrong one.
func TestSignature(t *testing.T) {
	for _, version := range append(fixture.Releases(), "1.10.8", "1.11.13", "1.24.6") {
		for _, flags := range []string{"", "-gcflags=-N -l"} {
			t.Run(strings.TrimSpace(version+" "+flags), func(t *testing.T) {
				if version == "1.5.4" && flags == "" {
					flags = "-gcflags=-l" // go:noinline is of Go 1.6
				}
				b := openPath(t, fixture.BuildWith(t, version, "signatures", flagList(flags)...))
				checkSignatures(t, b, strings.Contains(flags, "-N"))
			})
		}
	}
}

// onArm64 replaces the registers of goSignatures by those of arm64.
var onArm64 = strings.NewReplacer("ax/", "x0/", "bx/", "x1/", "cx/", "x2/", "di/", "x3/", "si/", "x4/", "r8/", "x5/", "r9/", "x6/", "r10/", "x7/", "r11/", "x8/", "(dx)", "(x26)")

// moreOnArm64 has the functions of goSignatures whose variables fit into registers on arm64 only.
var moreOnArm64 = map[string][2]string{
	"main.many": {
		"a=x0/8 b=x1/8 c=x2/8 d=x3/8 e=x4/8 f=x5/8 g=x6/8 h=x7/8 i=x8/8 j=x9/8 k=x10/8",
		"r0=x0/8 r1=x1/8 r2=x2/8 r3=x3/8 r4=x4/8 r5=x5/8 r6=x6/8 r7=x7/8 r8=x8/8 r9=x9/8",
	},
	"main.spill":      {"a=x0/8 b=x1/8 c=x2/8 d=x3/8 e=x4/8 f=x5/8 g=x6/8 s=x7/8,x8/8,x9/8 last=x10/1", "n=x0/8 m=x1/8,x2/8"},
	"main.references": {"m=x0/8 c=x1/8 f=x2/8 e=x3/8,x4/8 n=x5/8,x6/8 a=x7/8,x8/8 p=x9/8", "r0=x0/8 r1=x1/8"},
}

// TestArm64Signature does the same for arm64, which passes arguments in registers since Go 1.18.
func TestArm64Signature(t *testing.T) {
	for _, version := range []string{"1.17.13", "1.18.10", "1.20.14", "1.22.12", "1.24.6", "1.26.8", "1.27.4", fixture.Current} {
		for _, flags := range []string{"", "-gcflags=-N -l"} {
			t.Run(strings.TrimSpace(version+" "+flags), func(t *testing.T) {
				b := openPath(t, fixture.BuildFor(t, "arm64", version, "signatures", flagList(flags)...))
				checkSignatures(t, b, strings.Contains(flags, "-N"))
			})
		}
	}
}

func checkSignatures(t *testing.T, b *Binary, unoptimized bool) {
	minor, _ := b.GoVersion()
	firstRegisters := b.File().Processor.Machine().FirstRegisters
	for _, want := range goSignatures {
		if b.File().Processor.Machine().Name == "arm64" {
			want.params, want.results, want.captured = onArm64.Replace(want.params), onArm64.Replace(want.results), onArm64.Replace(want.captured)
			if more, ok := moreOnArm64[want.name]; ok {
				want.params, want.results = more[0], more[1]
			}
		}
		params, results := want.params, want.results
		if minor < 22 {
			params = blankName.ReplaceAllString(params, "")
		}
		if minor < 10 && !want.unnamed && results != "" {
			params, results = params+" "+results, ""
		}
		optimized17 := minor == 17 && minor == firstRegisters && !unoptimized
		if optimized17 {
			results = ""
		}
		captured := want.captured
		if minor < 23 {
			captured = ""
		}
		s := signatureOf(t, b, want.name)
		// Variables may have no location if debug information omits others.
		unknown := want.omitsBlank && minor < 18
		for _, c := range []struct{ what, got, want string }{
			{"parameters", spell(s.Params), params}, {"results", spell(s.Results), results}, {"captured", spell(s.Captured), captured},
		} {
			if minor < firstRegisters {
				c.got, c.want = sortedNames(c.got), sortedNames(c.want)
			}
			if !sameValues(c.got, c.want, unknown) {
				t.Errorf("%s: %s\n got %s\nwant %s", want.name, c.what, c.got, c.want)
			}
		}
		if noted := strings.Contains(s.Note, "results"); noted != (optimized17 || minor < 10 && len(s.Results) == 0 && len(s.Params) > 0) {
			t.Errorf("%s: note %q", want.name, s.Note)
		}
	}
}

// sortedNames returns the names of variables in a text of spell.
func sortedNames(text string) string {
	var names []string
	for v := range strings.FieldsSeq(text) {
		name, _, _ := strings.Cut(v, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// sameValues compares two texts of spell by the names of variables. With unknown, got may lack locations.
func sameValues(got, want string, unknown bool) bool {
	got, want = strings.TrimSpace(got), strings.TrimSpace(want)
	if got == want {
		return true
	}
	if !unknown {
		return false
	}
	wanted := make(map[string]string)
	for v := range strings.FieldsSeq(want) {
		name, place, _ := strings.Cut(v, "=")
		wanted[name] = place
	}
	names := strings.Fields(got)
	for _, v := range names {
		name, place, _ := strings.Cut(v, "=")
		if right, ok := wanted[name]; !ok || place != "?" && place != right {
			return false
		}
	}
	return len(names) == len(wanted)
}

func flagList(flag string) []string {
	if flag == "" {
		return nil
	}
	return []string{flag}
}

// TestGenericSignature checks where generic functions of each version of Go take their dictionary.
func TestGenericSignature(t *testing.T) {
	for _, c := range []struct{ version, method, value, function string }{
		{"1.18.10", "p=bx/8 x=cx/8,di/8 n=si/8", "p=bx/8,cx/8,di/8 n=si/8", "key=bx/8 value=cx/8,di/8 n=si/8"},
		{"1.20.14", "p=ax/8 x=cx/8,di/8 n=si/8", "p=ax/8,bx/8,cx/8 n=si/8", "key=bx/8 value=cx/8,di/8 n=si/8"},
		{"1.27.4", "p=ax/8 x=cx/8,di/8 n=si/8", "p=ax/8,bx/8,cx/8 n=si/8", "key=bx/8 value=cx/8,di/8 n=si/8"},
		{fixture.Current, "p=ax/8 x=cx/8,di/8 n=si/8", "p=ax/8,bx/8,cx/8 n=si/8", "key=bx/8 value=cx/8,di/8 n=si/8"},
	} {
		t.Run(c.version, func(t *testing.T) {
			b := openPath(t, fixture.BuildWith(t, c.version, "signatures"))
			text, second := "go.shape.string", "go.shape.string"
			number := "go.shape.int"
			if c.version == "1.18.10" {
				text, second, number = text+"_0", second+"_1", number+"_0"
			}
			for name, want := range map[string]string{
				"main.(*pile[" + text + "]).push":          c.method,
				"main.pile[" + text + "].first":            c.value,
				"main.pick[" + number + "," + second + "]": c.function,
			} {
				s := signatureOf(t, b, name)
				if got := spell(s.Params); got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
		})
	}
}
