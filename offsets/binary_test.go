package offsets

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ftgo/ftgo/testdata/fixture"
)

func TestMain(m *testing.M) {
	if job := os.Getenv(mutantsVar); job != "" {
		if err := readMutants(job); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	fixture.Main(m)
}

func openFixture(t testing.TB, name string, flags ...string) *Binary {
	t.Helper()
	return openPath(t, fixture.Build(t, name, flags...))
}

func openPath(t testing.TB, path string) *Binary {
	t.Helper()
	b, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	return b
}

// goTool is the largest Go binary that every machine with Go has.
func goTool(t testing.TB) *Binary {
	t.Helper()
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	return openPath(t, path)
}

// TestOffsetRulesAgree: the rule of the program headers and the one of .text give the
// same offset for every function in .text.
func TestOffsetRulesAgree(t *testing.T) {
	for name, b := range map[string]*Binary{
		"exact":    openFixture(t, "exact"),
		"pie":      openFixture(t, "exact", "-buildmode=pie"),
		"external": openFixture(t, "exact", "-ldflags=-linkmode=external"),
		"go tool":  goTool(t),
	} {
		inText := 0
		for i := range b.Funcs() {
			f := &b.Funcs()[i]
			off, err := b.File().FileOffset(f.Addr)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, f.Name, err)
			}
			back, err := b.File().AddrOf(off)
			if err != nil || back != f.Addr {
				t.Errorf("%s: %s: offset %#x is address %#x, %v; want %#x", name, f.Name, off, back, err, f.Addr)
			}
			text, ok := textOffset(b, f.Addr)
			if !ok {
				continue // .init, .plt
			}
			inText++
			if text != off {
				t.Errorf("%s: %s: %#x by the program headers, %#x by .text", name, f.Name, off, text)
			}
		}
		if inText < 1000 {
			t.Errorf("%s: only %d functions in .text", name, inText)
		}
	}
	b := openFixture(t, "exact")
	if off, err := b.File().FileOffset(1); err == nil {
		t.Errorf("address 1 is at file offset %#x", off)
	}
}

// textOffset is the file offset by the rule that people use by hand: va - text_va +
// text_off. It knows .text alone.
func textOffset(b *Binary, addr uint64) (offset uint64, ok bool) {
	text := b.image.ELF.Section(".text")
	if text == nil || addr < text.Addr || addr-text.Addr >= text.Size {
		return 0, false
	}
	return addr - text.Addr + text.Offset, true
}

// TestReturnsAgainstObjdump compares returns and entries with what the Go project's own
// disassembler says of the same functions.
func TestReturnsAgainstObjdump(t *testing.T) {
	path := fixture.Build(t, "exact")
	b := openFixture(t, "exact")
	out, err := exec.Command("go", "tool", "objdump", "-s", `^main\.`, path).Output()
	if err != nil {
		t.Fatal(err)
	}
	type listing struct {
		returns []uint64
		post    uint64 // after the first JBE to a part that calls morestack
		first   uint64
	}
	line := regexp.MustCompile(`^\s+\S+:-?\d+\s+0x([0-9a-f]+)\s+[0-9a-f]+\s+(\S+)`)
	funcs := make(map[string]*listing)
	var cur *listing
	afterCheck, stackGuard := false, false
	for l := range strings.Lines(string(out)) {
		if text, ok := strings.CutPrefix(l, "TEXT "); ok {
			name, _, _ := strings.Cut(text, "(SB)")
			cur, afterCheck = &listing{}, false
			funcs[name] = cur
			continue
		}
		m := line.FindStringSubmatch(l)
		if m == nil || cur == nil {
			continue
		}
		addr, err := strconv.ParseUint(m[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if cur.first == 0 {
			cur.first = addr
		}
		if afterCheck && cur.post == 0 {
			cur.post = addr
		}
		switch {
		case m[2] == "RET":
			cur.returns = append(cur.returns, addr)
		case m[2] == "JBE" && stackGuard:
			afterCheck = true
		}
		stackGuard = strings.Contains(l, "0x10(R14)")
	}
	compared := 0
	for name, want := range funcs {
		f, ok := b.Lookup(name)
		if !ok {
			t.Errorf("%s: in the disassembly only", name)
			continue
		}
		s, err := b.Sites(f)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []uint64
		for _, r := range s.Returns {
			got = append(got, r.Addr())
		}
		if !slices.Equal(got, want.returns) {
			t.Errorf("%s: returns at %#x, objdump has %#x", name, got, want.returns)
		}
		entry := want.first
		if want.post != 0 {
			entry = want.post
		}
		if s.Entry.Addr() != entry {
			t.Errorf("%s: entry at %#x, want %#x", name, s.Entry.Addr(), entry)
		}
		compared++
	}
	if compared < 100 {
		t.Errorf("only %d functions compared", compared)
	}
}

// TestRefusals: of all functions of a large binary next to none is refused, and each
// with a reason; sites are inside of their function.
func TestRefusals(t *testing.T) {
	b := goTool(t)
	refused := 0
	for i := range b.Funcs() {
		f := &b.Funcs()[i]
		s, err := b.Sites(f)
		if err != nil {
			refused++
			t.Logf("%s: %v", f.Name, err)
			continue
		}
		for _, site := range slices.Concat(begins(s), s.Returns, s.Tails) {
			off, err := b.File().FileOffset(site.Addr())
			if err != nil || site.Addr() < f.Addr || site.Addr() >= f.Addr+f.Size || off != site.Offset() {
				t.Errorf("%s: site %+v", f.Name, site)
			}
		}
	}
	if refused*200 > len(b.Funcs()) {
		t.Errorf("%d of %d functions refused: more than 0.5%%", refused, len(b.Funcs()))
	}
}

func callsOf(b *Binary, f, callee *Func) ([]Site, error) {
	c, err := b.Decode(f)
	if err != nil {
		return nil, err
	}
	return c.CallsOf(callee)
}

// TestCallsOf: the call is found, and no other.
func TestCallsOf(t *testing.T) {
	b := openFixture(t, "exact")
	from, ok1 := b.Lookup("runtime.recovery")
	to, ok2 := b.Lookup("runtime.gogo")
	if !ok1 || !ok2 {
		t.Fatal("no runtime.recovery or runtime.gogo")
	}
	calls, err := callsOf(b, from, to)
	if err != nil || len(calls) != 1 {
		t.Fatalf("%d calls, %v; want 1", len(calls), err)
	}
	code, err := b.code(from)
	if err != nil {
		t.Fatal(err)
	}
	if op := code[calls[0].Addr()-from.Addr]; op != 0xe8 {
		t.Errorf("opcode %#x is no call", op)
	}
	if none, err := callsOf(b, to, from); err != nil || len(none) != 0 {
		t.Errorf("gogo calls recovery: %v, %v", none, err)
	}
}

func TestFuncAt(t *testing.T) {
	b := openFixture(t, "exact")
	f, ok := b.Lookup("main.leaf")
	if !ok {
		t.Fatal("no main.leaf")
	}
	for _, at := range []uint64{f.Addr, f.Addr + f.Size - 1} {
		if got, ok := b.FuncAt(at); !ok || got != f {
			t.Errorf("%#x is in %v, want main.leaf", at, got)
		}
	}
	if got, ok := b.FuncAt(f.Addr + f.Size); ok && got == f {
		t.Error("main.leaf has one byte too many")
	}
	if _, ok := b.FuncAt(0); ok {
		t.Error("there is a function at 0")
	}
}
