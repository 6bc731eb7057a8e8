package recording

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestPortablePlan checks that an encoded plan is decoded with everything that pairing needs, and that SetEventNames
// refuses another plan.
func TestPortablePlan(t *testing.T) {
	p := planOf(t, 3)
	text, err := json.Marshal(portable(p))
	if err != nil {
		t.Fatal(err)
	}
	read, err := readPlan(text)
	if err != nil {
		t.Fatal(err)
	}
	if len(read.Events) != len(p.Events) || len(read.Funcs) != len(p.Funcs) || read.StackWords() != p.StackWords() {
		t.Fatalf("%d events, %d functions", len(read.Events), len(read.Funcs))
	}
	for i := range p.Events {
		a, b := &p.Events[i], &read.Events[i]
		if !same(*a, *b) || a.Name != b.Name || !slices.EqualFunc(a.Sites, b.Sites, func(a, b uprobe.Site) bool { return a.Cond == b.Cond }) {
			t.Errorf("event %+v was read as %+v", a, b)
		}
	}
	for i := range p.Funcs {
		if a, b := p.Funcs[i], read.Funcs[i]; a.Name != b.Name || a.ABI != b.ABI || a.Returns != b.Returns || a.Sites.Restarts != b.Sites.Restarts {
			t.Errorf("function %+v was read as %+v", a, b)
		}
	}
	rec := &Recording{Plan: read}
	again := planOf(t, 3)
	if err := rec.SetEventNames(again); err != nil || again.Events[0].Name != p.Events[0].Name {
		t.Errorf("the same plan is not adopted: %v", err)
	}
	if err := rec.SetEventNames(planOf(t, 2)); err == nil {
		t.Error("another plan is adopted")
	}
}

// planOf returns a plan for some functions that fetches a number of callers.
func planOf(t *testing.T, callers int) *uprobe.Plan {
	t.Helper()
	b := binaries.Open(t, fixture.Build(t, "exact"))
	var funcs []*offsets.Func
	for _, name := range []string{"main.leaf", "main.returns", "main.catch"} {
		f, ok := b.Lookup(name)
		if !ok {
			t.Fatalf("no function %s", name)
		}
		funcs = append(funcs, f)
	}
	features := tracefs.Features{Memory: true, Instances: true, Append: true, PushEmulated: true}
	p, err := uprobe.New(b, funcs, uprobe.Options{Features: features, Stack: callers})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestReadPlanRefuses checks that readPlan refuses plans that pairing could not handle.
func TestReadPlanRefuses(t *testing.T) {
	const fields = `"fields":{"SP":0,"G":1,"Goid":3,"Hi":2,"Lo":-1,"Flags":-1,"Stack":-1,"Values":-1}`
	const args = `"args":[{"Name":"sp"},{"Name":"g"},{"Name":"hi"},{"Name":"id"}]`
	good := `{"processor":"x86-64","mode":0,"funcs":[{"name":"main.f"}],"events":[{"name":"e",` + args + `,` + fields + `,"sites":[[0,1,2,0,255]]}]}`
	if _, err := readPlan([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string][2]string{
		"processor":          {`x86-64`, `pdp-11`},
		"no processor":       {`"processor":"x86-64",`, ``},
		"mode":               {`"mode":0`, `"mode":9`},
		"negative kind":      {`[0,1,2`, `[-1,1,2`},
		"kind beyond a byte": {`[0,1,2`, `[256,1,2`},
		"kind":               {`[0,1,2`, `[99,1,2`},
		"counter":            {`[0,1,2`, `[14,1,2`},
		"function":           {`[0,1,2,0,255]`, `[0,1,2,1,255]`},
		"function below":     {`[0,1,2,0,255]`, `[0,1,2,-1,255]`},
		"condition":          {`[0,1,2,0,255]`, `[0,1,2,0,256]`},
		"field beyond":       {`"Hi":2`, `"Hi":4`},
		"field below":        {`"Hi":2`, `"Hi":-2`},
		"no end of stack":    {`"Hi":2`, `"Hi":-1`},
		"no flags":           {`[0,1,2`, `[1,1,2`},
		"callers":            {`"Stack":-1`, `"Stack":9`},
		"many callers":       {`"mode":0`, `"mode":0,"stack":16`},
		"values":             {`"Values":-1`, `"Values":9`},
		"array":              {`{"Name":"id"}`, `{"Name":"id","Type":"x64[65]"}`},
		"negative array":     {`{"Name":"id"}`, `{"Name":"id","Type":"x64[-1]"}`},
		"huge array":         {`{"Name":"id"}`, `{"Name":"id","Type":"x64[99999999999999999999]"}`},
		"twice":              {`[[0,1,2,0,255]]`, `[[0,1,2,0,255],[0,3,2,0,255]]`},
		"fetch":              {fields, fields + `,"fetch":[[],[]]`},
		"runtime probe":      {`[0,1,2`, `[6,1,2`},
		"ABI":                {`"main.f"`, `"main.f","abi":3`},
		"creation":           {`[0,1,2,0,255]`, `[16,1,2,-1,255]`},
		"creation beyond":    {`"sites"`, `"creation":[1,2,4],"sites"`},
		"stack that can't":   {`[0,1,2`, `[8,1,2`},
		"number":             {`"mode":0`, `"mode":-1`},
		"nothing":            {good, ``},
		"garbage":            {good, "\x00\xff"},
		"a number too large": {`[0,1,2,0,255]`, `[0,99999999999999999999,2,0,255]`},
	} {
		text := strings.Replace(good, edit[0], edit[1], 1)
		if _, err := readPlan([]byte(text)); err == nil || text == good {
			t.Errorf("%s: %s is a plan", name, text)
		}
	}
}
