package recording

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/internal/tracefs"
	"github.com/ftgo/ftgo/internal/uprobe"
	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/binaries"
	"github.com/ftgo/ftgo/testdata/fixture"
)

// TestPlan checks that an encoded plan is decoded with everything that pairing needs, and that SetEventNames refuses
// another plan.
func TestPlan(t *testing.T) {
	about := About{Plan: planOf(t, 3), Processor: "x86-64", Skipped: [][2]string{{"main.f", "no code"}}}
	text, err := json.Marshal(about)
	if err != nil {
		t.Fatal(err)
	}
	var r Recording
	if err := r.about(string(text)); err != nil {
		t.Fatal(err)
	}
	p, read := about.Plan, r.Plan
	if len(read.Events) != len(p.Events) || len(read.Funcs) != len(p.Funcs) || read.StackWords() != p.StackWords() || len(read.Skipped) != 1 {
		t.Fatalf("%d events, %d functions, skipped %v", len(read.Events), len(read.Funcs), read.Skipped)
	}
	for i := range p.Events {
		a, b := p.Events[i], read.Events[i]
		for k := range a.Sites {
			a.Sites[k].Offset = 0
		}
		if a.PC = ""; !reflect.DeepEqual(a, b) {
			t.Errorf("event %+v was read as %+v", a, b)
		}
	}
	for i := range p.Funcs {
		if a, b := p.Funcs[i], read.Funcs[i]; a.Name != b.Name || a.Addr != b.Addr || a.ABI != b.ABI || a.Returns != b.Returns || a.Restarts != b.Restarts {
			t.Errorf("function %+v was read as %+v", a, b)
		}
	}
	again := planOf(t, 3)
	if err := r.SetEventNames(again); err != nil || again.Events[0].Name != p.Events[0].Name {
		t.Errorf("the same plan is not adopted: %v", err)
	}
	if err := r.SetEventNames(planOf(t, 2)); err == nil {
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

// TestReadPlanRefuses checks that about refuses plans that pairing could not handle.
func TestReadPlanRefuses(t *testing.T) {
	const fields = `"fields":{"SP":0,"G":1,"Goid":3,"Hi":2,"Lo":-1,"Flags":-1,"Creator":-1,"CreatorGoid":-1,"Start":-1,"Stack":-1,"Values":-1}`
	const args = `"args":[{"Name":"sp"},{"Name":"g"},{"Name":"hi"},{"Name":"id"}]`
	const site = `{"kind":0,"addr":2,"func":0,"cond":255}`
	good := `{"processor":"x86-64","plan":{"mode":0,"funcs":[{"name":"main.f"}],"events":[{"name":"e",` + args + `,` + fields + `,"sites":[` + site + `]}]}}`
	if err := new(Recording).about(good); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string][2]string{
		"processor":          {`x86-64`, `pdp-11`},
		"no processor":       {`"processor":"x86-64",`, ``},
		"no plan":            {`"plan"`, `"plam"`},
		"no function":        {`{"name":"main.f"}`, `{}`},
		"mode":               {`"mode":0`, `"mode":9`},
		"negative kind":      {`"kind":0`, `"kind":-1`},
		"kind beyond a byte": {`"kind":0`, `"kind":256`},
		"kind":               {`"kind":0`, `"kind":99`},
		"counter":            {`"kind":0`, `"kind":14`},
		"function":           {`"func":0`, `"func":1`},
		"function below":     {`"func":0`, `"func":-1`},
		"condition":          {`255`, `256`},
		"field beyond":       {`"Hi":2`, `"Hi":4`},
		"field below":        {`"Hi":2`, `"Hi":-2`},
		"no end of stack":    {`"Hi":2`, `"Hi":-1`},
		"no flags":           {`"kind":0`, `"kind":1`},
		"callers":            {`"Stack":-1`, `"Stack":9`},
		"many callers":       {`"mode":0`, `"mode":0,"stack":16`},
		"values":             {`"Values":-1`, `"Values":9`},
		"array":              {`{"Name":"id"}`, `{"Name":"id","Type":"x64[65]"}`},
		"negative array":     {`{"Name":"id"}`, `{"Name":"id","Type":"x64[-1]"}`},
		"huge array":         {`{"Name":"id"}`, `{"Name":"id","Type":"x64[99999999999999999999]"}`},
		"twice":              {site, site + "," + site},
		"runtime probe":      {`"kind":0`, `"kind":6`},
		"ABI":                {`"main.f"`, `"main.f","abi":3`},
		"creation":           {site, `{"kind":16,"addr":2,"func":-1}`},
		"creation beyond":    {`"Start":-1`, `"Start":4`},
		"stack that can't":   {`"kind":0`, `"kind":8`},
		"number":             {`"mode":0`, `"mode":-1`},
		"nothing":            {good, ``},
		"garbage":            {good, "\x00\xff"},
		"a number too large": {`"addr":2`, `"addr":99999999999999999999`},
	} {
		text := strings.Replace(good, edit[0], edit[1], 1)
		if err := new(Recording).about(text); err == nil || text == good {
			t.Errorf("%s: %s is a plan", name, text)
		}
	}
}
