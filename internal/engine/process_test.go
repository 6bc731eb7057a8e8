package engine

import (
	"os"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/ftgo/ftgo/offsets"
	"github.com/ftgo/ftgo/testdata/fixture"
)

var sampled = uint64(42)

//go:noinline
func addSample() { sampled++ }

// TestProcess reads memory of this process, and finds a variable by the code of a function.
func TestProcess(t *testing.T) {
	exe, err := os.Executable()
	fixture.NoError(t, err)
	b, err := offsets.Open(exe)
	fixture.NoError(t, err)
	defer b.Close()
	p, err := OpenProcess(b, os.Getpid())
	fixture.NoError(t, err)
	defer p.Close()
	addSample()
	addr := uint64(uintptr(unsafe.Pointer(&sampled)))
	if got := p.Word(addr); got != 43 {
		t.Errorf("read %d, want 43", got)
	}
	const name = "github.com/ftgo/ftgo/internal/engine.addSample"
	if f, _ := b.Lookup(name); f.Addr+p.Bias != uint64(reflect.ValueOf(addSample).Pointer()) {
		t.Errorf("%s at %#x, bias %#x", name, f.Addr, p.Bias)
	}
	if got, err := p.Variables(name); err != nil || !slices.Contains(got, addr) {
		t.Errorf("%s refers to %#x, %v; want %#x", name, got, err, addr)
	}
	for _, wrong := range []uint64{0, 1<<64 - 4} {
		if p.Words(wrong, 1) != nil || p.Word(wrong) != 0 {
			t.Errorf("read a word at %#x", wrong)
		}
	}
	if _, err := p.Variables("main.none"); err == nil {
		t.Error("a function that does not exist refers to variables")
	}
	if _, err := OpenProcess(b, os.Getppid()); err == nil {
		t.Error("another process has the file's code")
	}
}
